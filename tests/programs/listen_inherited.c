// A listening socket and a waiting connection handed through exec by number, as socket activation does.
// e2e: stable
#include "net.h"

int main(int argc, char** argv) {
  if (argc > 1) {
    int fd = accepted(atoi(argv[1]));
    char text[40] = "";
    read_all(fd, text, sizeof text - 1);
    dprintf(fd, "%s, served after exec", text);
    return 0;
  }
  int listener = listening(SOCK_STREAM, loopback(AF_INET, 0));
  int fd = connected(SOCK_STREAM, loopback(AF_INET, port_of(listener)));
  write_all(fd, "sent before exec", 16);
  CHECK(shutdown(fd, SHUT_WR) == 0);
  pid_t pid = fork_checked();
  if (pid == 0) {
    close(fd);
    char number[12];
    snprintf(number, sizeof number, "%d", listener);
    execl(argv[0], argv[0], number, (char*)NULL);
    _exit(127);
  }
  close(listener);
  char text[60] = "";
  read_all(fd, text, sizeof text - 1);
  say("%s\n", text);
  return exit_status(pid);
}
