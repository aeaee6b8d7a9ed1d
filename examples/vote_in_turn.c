// vote-in-turn: the same as vote, but its result is always the same.
//
// The collector waits for each sender to connect before it starts the next, and takes one vote of each in
// turn. The senders are as hasty as those of vote; what they send may come in any order, and it makes no
// difference.
#include <arpa/inet.h>
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

static uint32_t collect(const int* senders) {
  uint32_t result = 0;
  for (int n = 0; n < kVotes; n++) {
    for (int i = 0; i < kSenders; i++) {
      struct Vote vote;
      if (recv(senders[i], &vote, sizeof vote, MSG_WAITALL) != sizeof vote) fail("recv");
      result = fold(result, vote);
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
  int senders[kSenders];
  for (uint32_t i = 0; i < kSenders; i++) {
    pid_t pid = fork();
    if (pid < 0) fail("fork");
    if (pid == 0) send_votes(i, &address);
    senders[i] = accept(listener, NULL, NULL);
    if (senders[i] < 0) fail("accept");
  }
  printf("result: %08x\n", collect(senders));
  while (wait(NULL) > 0) {
  }
  return 0;
}
