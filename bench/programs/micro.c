// Prints what one call costs: per batch of calls one line "NAME CPU_NS WALL_NS", per call. The clocks are
// read outside the batches, so that recording them does not count.
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { kBatches = 100, kCalls = 5000 };

static int ends[2];

static void call_getppid(void) { getppid(); }

static void call_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
}

static void call_pipe(void) {
  char byte = 'x';
  if (write(ends[1], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1) abort();
}

static double wall_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double cpu_now(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e9 +
         (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e3;
}

static void measure(const char* name, void (*call)(void)) {
  static double cpu[kBatches], wall[kBatches];
  for (int i = 0; i < kCalls; ++i) call();
  for (int batch = 0; batch < kBatches; ++batch) {
    double wall_before = wall_now(), cpu_before = cpu_now();
    for (int i = 0; i < kCalls; ++i) call();
    cpu[batch] = (cpu_now() - cpu_before) / kCalls;
    wall[batch] = (wall_now() - wall_before) / kCalls;
  }
  for (int batch = 0; batch < kBatches; ++batch) printf("%s %.2f %.2f\n", name, cpu[batch], wall[batch]);
}

int main(void) {
  if (pipe(ends) != 0) return 1;
  measure("getppid", call_getppid);
  measure("clock_gettime", call_clock);
  measure("pipe", call_pipe);
  return 0;
}
