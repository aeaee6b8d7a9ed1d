// A server that forks for each connection and eight clients at once; used over TCP and over Unix sockets.
#include "net.h"

static void talk(int fd, int me) {
  uint32_t all = HASH_START;
  for (int i = 0; i < 20; i++) {
    char line[100], back[100];
    int n = snprintf(line, sizeof line, "client %d line %d %.*s\n", me, i, i * 3,
                     "----------------------------------------------------------");
    write_all(fd, line, (size_t)n);
    CHECK(read_all(fd, back, (size_t)n) == (size_t)n && memcmp(line, back, (size_t)n) == 0);
    all = hash_bytes(all, back, (size_t)n);
  }
  say("client %d done: %08x\n", me, all);
  _exit(0);
}

static int echo_server(struct Address at) {
  int listener = listening(SOCK_STREAM, at);
  if (at.storage.ss_family != AF_UNIX) at = loopback(AF_INET, port_of(listener));
  enum { kClients = 8 };
  pid_t clients[kClients], servers[kClients];
  for (int i = 0; i < kClients; i++) {
    if ((clients[i] = fork_checked()) == 0) {
      close(listener);
      talk(connected(SOCK_STREAM, at), i);
    }
  }
  for (int i = 0; i < kClients; i++) {
    int fd = accepted(listener);
    if ((servers[i] = fork_checked()) == 0) {
      char block[64];
      ssize_t n;
      long bytes = 0;
      while ((n = read(fd, block, sizeof block)) > 0) {
        write_all(fd, block, (size_t)n);
        bytes += n;
      }
      say("connection %d: %ld bytes\n", i, bytes);
      _exit(0);
    }
    close(fd);
  }
  for (int i = 0; i < kClients; i++) CHECK(exit_status(clients[i]) == 0 && exit_status(servers[i]) == 0);
  return 0;
}
