// RLIMIT_AS: memory ends where the limit says; children, programs they execute and new threads have it too.
// e2e: stable parallel
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "common.h"

enum { kMegabyte = 1 << 20, kBlock = 32 * kMegabyte, kMost = 100 };

static int count_blocks(void) {
  void* blocks[kMost];
  int count = 0;
  while (count < kMost) {
    void* block = mmap(NULL, kBlock, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (block == MAP_FAILED) break;
    blocks[count++] = block;
  }
  int error = count < kMost ? errno : 0;
  for (int i = 0; i < count; i++) munmap(blocks[i], kBlock);
  CHECK(!error || error == ENOMEM);
  return count;
}

static void report(const char* who) {
  struct rlimit limit;
  CHECK(getrlimit(RLIMIT_AS, &limit) == 0);
  char hard[32] = "any";
  if (limit.rlim_max != RLIM_INFINITY) snprintf(hard, sizeof hard, "%lu MB", (unsigned long)limit.rlim_max / kMegabyte);
  say("%s: %lu MB of %s, %d blocks\n", who, (unsigned long)limit.rlim_cur / kMegabyte, hard, count_blocks());
}

static void* run(void* unused) {
  report("thread");
  return unused;
}

static void start_threads(int count) {
  pthread_attr_t small;
  pthread_attr_init(&small);
  CHECK(pthread_attr_setstacksize(&small, 64 << 10) == 0);
  for (int i = 0; i < count; i++) {
    pthread_t thread;
    CHECK(pthread_create(&thread, &small, run, NULL) == 0 && pthread_join(thread, NULL) == 0);
  }
}

static void limit_to(rlim_t soft, rlim_t hard) {
  struct rlimit limit = {soft, hard};
  CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
}

int main(int argc, char** argv) {
  if (argc > 1) {
    report("executed");
    return 0;
  }
  mallopt(M_ARENA_MAX, 1);  // each would reserve memory
  limit_to(RLIM_INFINITY, RLIM_INFINITY);
  CHECK(count_blocks() == kMost);
  limit_to(240 * (rlim_t)kMegabyte, RLIM_INFINITY);
  report("first");
  char bytes[65536];
  int zero = open("/dev/zero", O_RDONLY);
  for (int i = 0; i < 1000; i++) CHECK(read(zero, bytes, sizeof bytes) == sizeof bytes);  // 64 MB of input
  report("later");
  start_threads(3);
  pid_t child = fork_checked();
  if (child == 0) {
    report("child");
    limit_to(150 * (rlim_t)kMegabyte, 400 * (rlim_t)kMegabyte);
    struct rlimit wrong = {500, 400};
    CHECK(setrlimit(RLIMIT_AS, &wrong) == -1 && errno == EINVAL);
    execl("/proc/self/exe", argv[0], "executed", (char*)NULL);
    _exit(1);
  }
  CHECK(exit_status(child) == 0);
  struct rlimit old, more = {RLIM_INFINITY, RLIM_INFINITY};
  CHECK(prlimit(getpid(), RLIMIT_AS, &more, &old) == 0 && old.rlim_cur == 240 * (rlim_t)kMegabyte);
  say("lifted: %d blocks\n", count_blocks());
  return 0;
}
