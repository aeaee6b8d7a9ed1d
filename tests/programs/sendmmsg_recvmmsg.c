// Several messages per call: sendmmsg and recvmmsg over Unix datagrams and over UDP.
// e2e: varies
#include "net.h"

enum { kCount = 12 };

static void run(const char* what, int from, int to) {
  pid_t pid = fork_checked();
  if (pid == 0) {
    char texts[kCount][20];
    struct iovec parts[kCount];
    struct mmsghdr messages[kCount];
    memset(messages, 0, sizeof messages);
    for (int i = 0; i < kCount; i++) {
      parts[i].iov_base = texts[i];
      parts[i].iov_len = (size_t)snprintf(texts[i], sizeof texts[i], "message %d", i * i);
      messages[i].msg_hdr.msg_iov = &parts[i];
      messages[i].msg_hdr.msg_iovlen = 1;
    }
    for (int sent = 0; sent < kCount;) {
      int n = sendmmsg(from, messages + sent, (unsigned)(kCount - sent), 0);
      CHECK(n > 0);
      sent += n;
    }
    _exit(0);
  }
  for (int got = 0; got < kCount;) {
    char texts[kCount][20];
    struct iovec parts[kCount];
    struct mmsghdr messages[kCount];
    memset(messages, 0, sizeof messages);
    for (int i = 0; i < kCount; i++) {
      parts[i] = (struct iovec){texts[i], sizeof texts[i]};
      messages[i].msg_hdr.msg_iov = &parts[i];
      messages[i].msg_hdr.msg_iovlen = 1;
    }
    int n = recvmmsg(to, messages, kCount, MSG_WAITFORONE, NULL);
    CHECK(n > 0);
    for (int i = 0; i < n; i++)
      say("%s: %.*s (%d of %d)\n", what, (int)messages[i].msg_len, texts[i], i + 1, n);
    got += n;
  }
  CHECK(exit_status(pid) == 0);
}

int main(void) {
  int s[2];
  CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, s) == 0);
  run("unix", s[0], s[1]);
  int receiver = bound(SOCK_DGRAM, loopback(AF_INET, 0));
  run("udp", connected(SOCK_DGRAM, loopback(AF_INET, port_of(receiver))), receiver);
  return 0;
}
