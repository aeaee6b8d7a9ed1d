// stream pipe|unix|tcp BYTES: one process sends that many pseudo-random bytes to another, which prints their
// sum.
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kWords = 8192 };  // 64 KiB at a time
static uint64_t buffer[kWords];

static void check(int good, const char* what) {
  if (good) return;
  perror(what);
  exit(1);
}

// Connected ends for reading [0] and writing [1].
static void connect_ends(const char* kind, int ends[2]) {
  if (strcmp(kind, "pipe") == 0) {
    check(pipe(ends) == 0, "pipe");
  } else if (strcmp(kind, "unix") == 0) {
    check(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
  } else {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    check(bind(listener, (struct sockaddr*)&address, size) == 0 && listen(listener, 1) == 0, "listen");
    check(getsockname(listener, (struct sockaddr*)&address, &size) == 0, "getsockname");
    ends[1] = socket(AF_INET, SOCK_STREAM, 0);
    check(connect(ends[1], (struct sockaddr*)&address, size) == 0, "connect");
    ends[0] = accept(listener, NULL, NULL);
    check(ends[0] >= 0, "accept");
    close(listener);
  }
}

static void send_bytes(int fd, uint64_t left) {
  uint64_t state = 88172645463325252u;  // Marsaglia's xorshift64
  while (left > 0) {
    for (int i = 0; i < kWords; ++i) {
      state ^= state << 13, state ^= state >> 7, state ^= state << 17;
      buffer[i] = state;
    }
    size_t size = left < sizeof buffer ? left : sizeof buffer;
    for (size_t sent = 0; sent < size;) {
      ssize_t count = write(fd, (char*)buffer + sent, size - sent);
      check(count > 0, "write");
      sent += (size_t)count;
    }
    left -= size;
  }
}

static void sum_bytes(int fd, uint64_t expected) {
  uint64_t sum = 0, total = 0;
  ssize_t count;
  while ((count = read(fd, buffer, sizeof buffer)) > 0) {
    const unsigned char* bytes = (const unsigned char*)buffer;
    for (ssize_t i = 0; i < count; ++i) sum += bytes[i];
    total += (uint64_t)count;
  }
  check(count == 0, "read");
  printf("%llu bytes, sum %llu\n", (unsigned long long)total, (unsigned long long)sum);
  if (total != expected) exit(1);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  uint64_t size = strtoull(argv[2], NULL, 10);
  int ends[2], status;
  connect_ends(argv[1], ends);
  pid_t writer = fork();
  check(writer >= 0, "fork");
  if (writer == 0) {
    close(ends[0]);
    send_bytes(ends[1], size);
    return 0;
  }
  close(ends[1]);
  sum_bytes(ends[0], size);
  check(waitpid(writer, &status, 0) == writer && status == 0, "the writer");
  return 0;
}
