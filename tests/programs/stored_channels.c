// Channels whose contents are stored: an enlarged FIFO, a pipe turned to packets, recvmmsg with a time limit, peeks at an offset.
// e2e: varies
#include <sys/socket.h>
#include <sys/un.h>

#include "common.h"

static void enlarged_fifo(void) {
  CHECK(mkfifo("fifo", 0600) == 0);
  int fd = open("fifo", O_RDWR);
  CHECK(fd >= 0 && fcntl(fd, F_SETPIPE_SZ, 1 << 18) >= 1 << 18);
  pid_t pids[2];
  for (int i = 0; i < 2; i++) {
    pids[i] = fork_checked();
    if (pids[i]) continue;
    for (int k = 0; k < 20; k++) {
      char line[16];
      int n = snprintf(line, sizeof line, "%c%02d ", 'a' + i, k);
      CHECK(write(fd, line, (size_t)n) == n);
    }
    _exit(0);
  }
  char text[161] = "";
  CHECK(read_all(fd, text, 160) == 160);
  for (int i = 0; i < 2; i++) CHECK(exit_status(pids[i]) == 0);
  say("fifo: %s\n", text);
  close(fd);
}

static void turned_pipe(void) {
  int ends[2];
  CHECK(pipe(ends) == 0 && fcntl(ends[1], F_SETFL, O_DIRECT) == 0);
  pid_t pid = fork_checked();
  if (pid == 0) {
    CHECK(write(ends[1], "first packet", 12) == 12 && write(ends[1], "second", 6) == 6);
    _exit(0);
  }
  CHECK(exit_status(pid) == 0);
  char text[20];
  for (int i = 0; i < 2; i++) {
    ssize_t n = read(ends[0], text, i == 0 ? 5 : sizeof text);  // the rest of a packet is lost
    say("packet: %.*s\n", (int)n, text);
  }
}

static void timed_messages(void) {
  int ends[2];
  CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
  pid_t pid = fork_checked();
  if (pid == 0) {
    for (int i = 0; i < 5; i++) {
      char text[16];
      int n = snprintf(text, sizeof text, "message %d", i);
      CHECK(send(ends[1], text, (size_t)n, 0) == n);
    }
    _exit(0);
  }
  int all = 0;
  while (all < 5) {
    char texts[5][16];
    struct iovec parts[5];
    struct mmsghdr messages[5] = {0};
    for (int i = 0; i < 5; i++) {
      parts[i] = (struct iovec){texts[i], sizeof texts[i]};
      messages[i].msg_hdr.msg_iov = &parts[i];
      messages[i].msg_hdr.msg_iovlen = 1;
    }
    struct timespec limit = {10, 0};
    int n = recvmmsg(ends[0], messages, (unsigned)(5 - all), MSG_WAITFORONE, &limit);
    CHECK(n > 0);
    for (int i = 0; i < n; i++) say("timed: %.*s\n", (int)messages[i].msg_len, texts[i]);
    all += n;
  }
  CHECK(exit_status(pid) == 0);
}

static void peeks(int type) {
  int ends[2], offset = 0;
  CHECK(socketpair(AF_UNIX, type, 0, ends) == 0);
  CHECK(setsockopt(ends[0], SOL_SOCKET, SO_PEEK_OFF, &offset, sizeof offset) == 0);
  pid_t pid = fork_checked();
  if (pid == 0) {
    CHECK(send(ends[1], "abcdefgh", 8, 0) == 8);
    _exit(0);
  }
  char text[20];
  for (int i = 0; i < 2; i++) {
    ssize_t n = recv(ends[0], text, 3, MSG_PEEK);
    say("peeked: %.*s\n", (int)n, text);
  }
  ssize_t n = recv(ends[0], text, sizeof text, 0);
  say("received: %.*s\n", (int)n, text);
  CHECK(exit_status(pid) == 0);
}

int main(void) {
  enlarged_fifo();
  turned_pipe();
  timed_messages();
  peeks(SOCK_SEQPACKET);
  peeks(SOCK_STREAM);
  return 0;
}
