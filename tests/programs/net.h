// Loopback sockets for the test programs. Ports are the kernel's choice, handed on by number.
#ifndef PASTCONE_TESTS_NET_H
#define PASTCONE_TESTS_NET_H
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "common.h"

struct Address {
  struct sockaddr_storage storage;
  socklen_t size;
};

static inline struct sockaddr* addr(struct Address* a) { return (struct sockaddr*)&a->storage; }

static inline struct Address loopback(int family, int port) {
  struct Address a;
  memset(&a, 0, sizeof a);
  if (family == AF_INET) {
    struct sockaddr_in* in = (struct sockaddr_in*)&a.storage;
    in->sin_family = AF_INET;
    in->sin_port = htons((uint16_t)port);
    in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    a.size = sizeof *in;
  } else {
    struct sockaddr_in6* in = (struct sockaddr_in6*)&a.storage;
    in->sin6_family = AF_INET6;
    in->sin6_port = htons((uint16_t)port);
    in->sin6_addr = in6addr_loopback;
    a.size = sizeof *in;
  }
  return a;
}

// A Unix name; a leading '@' stands for the abstract namespace.
static inline struct Address unix_name(const char* name) {
  struct Address a;
  memset(&a, 0, sizeof a);
  struct sockaddr_un* un = (struct sockaddr_un*)&a.storage;
  un->sun_family = AF_UNIX;
  CHECK(strlen(name) < sizeof un->sun_path);
  strcpy(un->sun_path, name);
  a.size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name) + 1);
  if (name[0] == '@') {
    un->sun_path[0] = 0;
    a.size -= 1;
  }
  return a;
}

static inline int port_of(int fd) {
  struct Address a;
  a.size = sizeof a.storage;
  CHECK(getsockname(fd, addr(&a), &a.size) == 0);
  return ntohs(a.storage.ss_family == AF_INET ? ((struct sockaddr_in*)&a.storage)->sin_port
                                              : ((struct sockaddr_in6*)&a.storage)->sin6_port);
}

static inline int bound(int type, struct Address a) {
  int fd = socket(a.storage.ss_family, type, 0);
  CHECK(fd >= 0);
  CHECK(bind(fd, addr(&a), a.size) == 0);
  return fd;
}

static inline int listening(int type, struct Address a) {
  int fd = bound(type, a);
  CHECK(listen(fd, 64) == 0);
  return fd;
}

static inline int connected(int type, struct Address a) {
  int fd = socket(a.storage.ss_family, type, 0);
  CHECK(fd >= 0);
  CHECK(connect(fd, addr(&a), a.size) == 0);
  return fd;
}

static inline int accepted(int listener) {
  int fd = accept(listener, NULL, NULL);
  CHECK(fd >= 0);
  return fd;
}
#endif
