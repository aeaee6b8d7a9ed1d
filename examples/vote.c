// vote: a program whose result depends on the order of messages between its processes.
//
// A collector and two senders. Each sender connects to the collector and casts a hundred votes, thinking a
// little before each. The collector takes them as they come and folds them into one number by an operation
// that does not commute, so every interleaving gives another result. Natively two runs hardly ever agree;
// replays of one recording always do.
#include <arpa/inet.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kSenders = 2, kVotes = 100 };

struct Vote {
  uint32_t sender;
  uint32_t number;
};

static void fail(const char* what) {
  perror(what);
  exit(1);
}

static void send_votes(uint32_t me, const struct sockaddr_in* collector) {
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (fd < 0 || connect(fd, (const struct sockaddr*)collector, sizeof *collector) != 0) fail("connect");
  for (uint32_t i = 0; i < kVotes; i++) {
    usleep(20 + (i * 37 + me * 11) % 60);
    struct Vote vote = {me, i};
    if (send(fd, &vote, sizeof vote, 0) != sizeof vote) fail("send");
  }
  close(fd);
  exit(0);
}

// Not commutative: a vote that comes earlier is rotated further.
static uint32_t fold(uint32_t result, struct Vote vote) {
  return (result << 5 | result >> 27) ^ ((vote.sender * kVotes + vote.number + 1) * 2654435761u);
}

static uint32_t collect(int listener) {
  struct pollfd senders[kSenders];
  for (int i = 0; i < kSenders; i++) {
    int fd = accept(listener, NULL, NULL);
    if (fd < 0) fail("accept");
    senders[i] = (struct pollfd){fd, POLLIN, 0};
  }
  uint32_t result = 0;
  for (int open = kSenders; open > 0;) {
    if (poll(senders, kSenders, -1) < 0) fail("poll");
    for (int i = 0; i < kSenders; i++) {
      if (senders[i].revents == 0) continue;
      struct Vote vote;
      ssize_t n = recv(senders[i].fd, &vote, sizeof vote, MSG_WAITALL);
      if (n == sizeof vote) {
        result = fold(result, vote);
      } else {
        close(senders[i].fd);
        senders[i].fd = -1;
        open--;
      }
    }
  }
  return result;
}

int main(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  if (listener < 0 || bind(listener, (struct sockaddr*)&address, size) != 0 ||
      listen(listener, kSenders) != 0 || getsockname(listener, (struct sockaddr*)&address, &size) != 0)
    fail("listen");
  for (uint32_t i = 0; i < kSenders; i++) {
    pid_t pid = fork();
    if (pid < 0) fail("fork");
    if (pid == 0) send_votes(i, &address);
  }
  printf("result: %08x\n", collect(listener));
  while (wait(NULL) > 0) {
  }
  return 0;
}
