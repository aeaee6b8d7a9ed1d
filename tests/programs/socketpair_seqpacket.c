// A seqpacket socketpair: records with boundaries, MSG_TRUNC for the real size, then end of file.
// e2e: stable
#include "net.h"

int main(void) {
  int s[2];
  CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, s) == 0);
  pid_t pid = fork_checked();
  if (pid == 0) {
    close(s[0]);
    for (int i = 1; i <= 4; i++) {
      char record[40];
      memset(record, 'a' + i, sizeof record);
      CHECK(send(s[1], record, (size_t)i * 8, MSG_EOR) == i * 8);
    }
    _exit(0);
  }
  close(s[1]);
  char text[17] = "";
  ssize_t n;
  while ((n = recv(s[0], text, 16, MSG_TRUNC)) > 0) {
    text[n < 16 ? n : 16] = 0;
    say("record of %zd: %s\n", n, text);
  }
  say("end: %zd\n", n);
  return exit_status(pid);
}
