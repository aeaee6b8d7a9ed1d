// Cancelling a thread in fgets: destructors run, the stream is unlocked; and a handler can walk the stack from a call.
// e2e: stable parallel
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

#include "common.h"

namespace {

FILE* input;

struct Noisy {
  const char* name;
  ~Noisy() { say("  %s is destroyed\n", name); }
};

[[gnu::noinline]] void read_line() {
  Noisy inner{"inner"};
  char line[16];
  CHECK(fgets(line, sizeof line, input) != nullptr);
}

void* wait_for_line(void*) {
  Noisy outer{"outer"};
  read_line();
  return nullptr;
}

volatile int frames;
void count_frames(int) {
  void* addresses[64];
  frames = backtrace(addresses, 64);
}

[[gnu::noinline]] void deeper(int depth) {
  if (depth > 0) {
    deeper(depth - 1);
  } else {
    pause();
  }
  __asm__ volatile("" ::: "memory");
}

}  // namespace

int main() {
  int ends[2];
  CHECK(pipe(ends) == 0);
  input = fdopen(ends[0], "r");
  pthread_t thread;
  void* result;
  CHECK(pthread_create(&thread, nullptr, wait_for_line, nullptr) == 0);
  sleep_ms(5);
  CHECK(pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0);
  say("cancelled %d, the stream is %s\n", result == PTHREAD_CANCELED, ftrylockfile(input) == 0 ? "free" : "locked");

  void* once[4];
  backtrace(once, 4);  // loads what it needs
  struct sigaction action = {};
  action.sa_handler = count_frames;
  CHECK(sigaction(SIGALRM, &action, nullptr) == 0);
  itimerval soon = {{0, 0}, {0, 5000}};
  CHECK(setitimer(ITIMER_REAL, &soon, nullptr) == 0);
  deeper(10);
  say("at least %d frames\n", frames > 12 ? 12 : frames);
  return 0;
}
