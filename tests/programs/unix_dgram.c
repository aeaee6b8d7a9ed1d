// Unix datagrams by name: answers to the sender's address, a connected socket, and a missing receiver.
// e2e: stable
#include "net.h"

int main(void) {
  struct Address server = unix_name("server"), client = unix_name("client");
  int fd = bound(SOCK_DGRAM, server);
  pid_t pid = fork_checked();
  if (pid == 0) {
    int mine = bound(SOCK_DGRAM, client);
    char text[40] = "";
    for (int i = 0; i < 3; i++) {
      snprintf(text, sizeof text, "question %d", i);
      CHECK(sendto(mine, text, strlen(text), 0, addr(&server), server.size) > 0);
      memset(text, 0, sizeof text);
      CHECK(recv(mine, text, sizeof text - 1, 0) > 0);
      say("client: %s\n", text);
    }
    CHECK(connect(mine, addr(&server), server.size) == 0);
    CHECK(send(mine, "bye", 3, 0) == 3);
    _exit(0);
  }
  for (;;) {
    char text[40] = "", answer[60];
    struct Address from = {.size = sizeof from.storage};
    CHECK(recvfrom(fd, text, sizeof text - 1, 0, addr(&from), &from.size) > 0);
    say("server: %s from %s\n", text, ((struct sockaddr_un*)&from.storage)->sun_path);
    if (strcmp(text, "bye") == 0) break;
    snprintf(answer, sizeof answer, "answer to %s", text);
    CHECK(sendto(fd, answer, strlen(answer), 0, addr(&from), from.size) > 0);
  }
  CHECK(exit_status(pid) == 0);
  CHECK(sendto(fd, "x", 1, 0, addr(&client), client.size) < 0);
  say("receiver gone: %s\n", strerror(errno));
  return 0;
}
