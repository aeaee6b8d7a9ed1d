// What exec keeps and closes: pipe ends, ignored and blocked signals, the directory.
// e2e: stable
#include "common.h"

int main(int argc, char** argv) {
  if (argc == 1) {
    int kept[2], closed[2];
    CHECK(pipe(kept) == 0 && pipe2(closed, O_CLOEXEC) == 0);
    write_all(kept[1], "through exec", 12);
    write_all(closed[1], "lost", 4);
    signal(SIGUSR2, SIG_IGN);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
    raise(SIGUSR1);
    CHECK(mkdir("inner", 0755) == 0 && chdir("inner") == 0);
    char a[12], b[12];
    snprintf(a, sizeof a, "%d", kept[0]);
    snprintf(b, sizeof b, "%d", closed[0]);
    execl(argv[0], argv[0], a, b, (char*)NULL);
    CHECK(!"exec came back");
  }
  char text[20] = "";
  CHECK(read(atoi(argv[1]), text, 12) == 12);
  say("kept: %s\n", text);
  say("closed: %s\n", read(atoi(argv[2]), text, 4) < 0 ? strerror(errno) : "open");
  raise(SIGUSR2);
  sigset_t pending;
  CHECK(sigpending(&pending) == 0);
  say("ignored stays ignored; pending USR1: %d\n", sigismember(&pending, SIGUSR1));
  char* directory = getcwd(NULL, 0);
  say("directory: %s\n", strrchr(directory, '/'));
  free(directory);
  return 0;
}
