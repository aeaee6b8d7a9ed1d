// Six senders to datagram sockets with a path and an abstract name, some saying the same at the same time.
// e2e: varies
//
// Connected or not, with and without a name of their own, more than the queues hold. Each message is printed.
#include "net.h"

enum { kSenders = 6, kMessages = 40 };

static void send_all(int number, struct Address* path, struct Address* abstract) {
  char name[20];
  snprintf(name, sizeof name, "sender%d", number);
  int fd = number % 2 ? bound(SOCK_DGRAM, unix_name(name)) : socket(AF_UNIX, SOCK_DGRAM, 0);
  struct Address* to = number % 3 ? path : abstract;
  if (number == 4) CHECK(connect(fd, addr(path), path->size) == 0);
  for (int i = 0; i < kMessages; i++) {
    char text[600] = "tick";
    size_t size = i % 4 == 0 ? 4 : (size_t)(number * 97 + i * 11) % sizeof text;
    if (i % 4 != 0) fill_random(text, size, (uint64_t)(number * 1000 + i));
    ssize_t n = number == 4 ? write(fd, text, size) : sendto(fd, text, size, 0, addr(to), to->size);
    CHECK(n == (ssize_t)size);
  }
  _exit(0);
}

int main(void) {
  struct Address path = unix_name("receiver"), abstract;
  char name[40];
  snprintf(name, sizeof name, "@pastcone-many-%d", (int)getpid());
  abstract = unix_name(name);
  // A second socket, so that both kinds of names are received by this process.
  int fds[2] = {bound(SOCK_DGRAM, path), bound(SOCK_DGRAM, abstract)};
  pid_t pids[kSenders];
  for (int i = 0; i < kSenders; i++) {
    pids[i] = fork_checked();
    if (pids[i] == 0) send_all(i, &path, &abstract);
  }
  uint32_t hash = HASH_START;
  int left[2] = {4 * kMessages, 2 * kMessages};
  for (int i = 0; left[0] + left[1] > 0; i++) {
    int which = left[i % 2] > 0 ? i % 2 : !(i % 2);
    char text[600];
    struct Address from = {.size = sizeof from.storage};
    ssize_t n = recvfrom(fds[which], text, sizeof text, 0, addr(&from), &from.size);
    CHECK(n >= 0);
    left[which]--;
    hash = hash_bytes(hash, text, (size_t)n);
    const char* sender = from.size > 2 ? ((struct sockaddr_un*)&from.storage)->sun_path : "nobody";
    say("%d: %zd bytes from %s, %08x\n", which, n, sender, hash);
  }
  for (int i = 0; i < kSenders; i++) CHECK(exit_status(pids[i]) == 0);
  return 0;
}
