// A TCP client and server that exchange blocks of growing size; used for IPv4 and IPv6.
#include "net.h"

static int tcp_exchange(int family) {
  int listener = listening(SOCK_STREAM, loopback(family, 0));
  int port = port_of(listener);
  static char block[60000];
  pid_t pid = fork_checked();
  if (pid == 0) {
    close(listener);
    int fd = connected(SOCK_STREAM, loopback(family, port));
    for (uint32_t size = 1; size <= sizeof block; size = size * 5 + 1) {
      fill_random(block, size, size);
      write_all(fd, &size, sizeof size);
      write_all(fd, block, size);
      uint32_t hash;
      CHECK(read_all(fd, &hash, sizeof hash) == sizeof hash);
      CHECK(hash == hash_bytes(HASH_START, block, size));
      say("%u bytes: %08x\n", size, hash);
    }
    _exit(0);
  }
  struct Address peer = {.size = sizeof peer.storage};
  int fd = accept(listener, addr(&peer), &peer.size);
  CHECK(fd >= 0);
  char text[INET6_ADDRSTRLEN];
  const void* ip = family == AF_INET ? (void*)&((struct sockaddr_in*)&peer.storage)->sin_addr
                                     : (void*)&((struct sockaddr_in6*)&peer.storage)->sin6_addr;
  say("peer %s port %d\n", inet_ntop(family, ip, text, sizeof text),
      ntohs(((struct sockaddr_in*)&peer.storage)->sin_port));
  uint32_t size;
  while (read_all(fd, &size, sizeof size) == sizeof size) {
    CHECK(size <= sizeof block && read_all(fd, block, size) == size);
    uint32_t hash = hash_bytes(HASH_START, block, size);
    write_all(fd, &hash, sizeof hash);
  }
  return exit_status(pid);
}
