// A program whose file is deleted while it runs: it goes on, forks, and knows that it is gone.
// e2e: stable
#include "common.h"

static void copy_self(const char* to) {
  int in = open("/proc/self/exe", O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0755);
  CHECK(in >= 0 && out >= 0);
  char block[65536];
  ssize_t n;
  while ((n = read(in, block, sizeof block)) > 0) write_all(out, block, (size_t)n);
  close(in);
  close(out);
}

int main(int argc, char** argv) {
  if (argc == 1) {
    copy_self("./copy");
    pid_t pid = fork_checked();
    if (pid == 0) {
      execl("./copy", "./copy", "child", (char*)NULL);
      _exit(127);
    }
    say("status %d\n", exit_status(pid));
    say("the copy: %s\n", access("./copy", F_OK) < 0 ? strerror(errno) : "there");
    return 0;
  }
  CHECK(unlink(argv[0]) == 0);
  char path[4096] = "";
  CHECK(readlink("/proc/self/exe", path, sizeof path - 1) > 0);
  say("I am %s\n", strrchr(path, '/'));
  pid_t pid = fork_checked();
  if (pid == 0) {
    say("and I have a child\n");
    _exit(0);
  }
  return exit_status(pid) + 12;
}
