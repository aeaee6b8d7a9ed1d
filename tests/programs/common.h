// What most test programs need: a check that names its line, output that is one write per line, and whole
// reads and writes. A failed check ends the program with status 99, so a wrong answer is never taken for a
// result.
#ifndef PASTCONE_TESTS_COMMON_H
#define PASTCONE_TESTS_COMMON_H
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK(condition)                                                              \
  do {                                                                                \
    if (!(condition)) {                                                               \
      dprintf(2, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, strerror(errno)); \
      _exit(99);                                                                      \
    }                                                                                 \
  } while (0)

// Unbuffered on purpose: what several processes print shows their order.
#define say(...) CHECK(dprintf(1, __VA_ARGS__) >= 0)

static inline void sleep_ms(long ms) {
  struct timespec t = {ms / 1000, ms % 1000 * 1000000};
  while (nanosleep(&t, &t) != 0 && errno == EINTR) {
  }
}

static inline void write_all(int fd, const void* data, size_t size) {
  const char* p = (const char*)data;
  while (size > 0) {
    ssize_t n = write(fd, p, size);
    if (n < 0 && errno == EINTR) continue;
    CHECK(n > 0);
    p += n;
    size -= (size_t)n;
  }
}

// Reads until `size` bytes or the end; returns how many came.
static inline size_t read_all(int fd, void* data, size_t size) {
  char* p = (char*)data;
  size_t done = 0;
  while (done < size) {
    ssize_t n = read(fd, p + done, size - done);
    if (n < 0 && errno == EINTR) continue;
    CHECK(n >= 0);
    if (n == 0) break;
    done += (size_t)n;
  }
  return done;
}

static inline pid_t fork_checked(void) {
  pid_t pid = fork();
  CHECK(pid >= 0);
  return pid;
}

// Waits for a child that must end by exit, and returns its status.
static inline int exit_status(pid_t pid) {
  int status = 0;
  pid_t got;
  while ((got = waitpid(pid, &status, 0)) < 0 && errno == EINTR) {
  }
  CHECK(got == pid);
  CHECK(WIFEXITED(status));
  return WEXITSTATUS(status);
}

// FNV-1a; chain by passing the previous result.
static inline uint32_t hash_bytes(uint32_t h, const void* data, size_t size) {
  const unsigned char* p = (const unsigned char*)data;
  for (size_t i = 0; i < size; i++) h = (h ^ p[i]) * 16777619u;
  return h;
}
#define HASH_START 2166136261u

// Bytes that no compressor can shrink, the same for the same seed.
static inline void fill_random(void* data, size_t size, uint64_t seed) {
  unsigned char* p = (unsigned char*)data;
  uint64_t x = seed * 0x9e3779b97f4a7c15u + 1;
  for (size_t i = 0; i < size; i++) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    p[i] = (unsigned char)(x >> 32);
  }
}

static inline void write_file(const char* path, const char* text, mode_t mode) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);
  CHECK(fd >= 0);
  write_all(fd, text, strlen(text));
  CHECK(close(fd) == 0);
}

static inline void on_signal_flags(int sig, void (*handler)(int), int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = flags;
  CHECK(sigaction(sig, &action, NULL) == 0);
}
#endif
