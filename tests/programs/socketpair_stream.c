// A stream socketpair: both directions at once, shutdown of one, end of file.
// e2e: stable
#include "net.h"

int main(void) {
  int s[2];
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0);
  pid_t pid = fork_checked();
  if (pid == 0) {
    close(s[0]);
    char text[100] = "";
    size_t n = read_all(s[1], text, sizeof text);
    for (size_t i = 0; i < n; i++) text[i] = (char)(text[i] - 'a' + 'A');
    write_all(s[1], text, n);
    _exit(0);
  }
  close(s[1]);
  write_all(s[0], "abc", 3);
  CHECK(send(s[0], "defgh", 5, MSG_NOSIGNAL) == 5);
  CHECK(shutdown(s[0], SHUT_WR) == 0);
  char text[100] = "";
  size_t n = read_all(s[0], text, sizeof text - 1);
  say("%zu bytes back: %s\n", n, text);
  signal(SIGPIPE, SIG_IGN);
  CHECK(write(s[0], "x", 1) < 0);
  say("after shutdown: %s\n", strerror(errno));
  return exit_status(pid);
}
