// Exceptions out of what is done once and out of initialisations, while others wait for it; pthread_exit from inside; destructors.
// e2e: varies parallel
#include <pthread.h>

#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "common.h"

namespace {

constexpr int kThreads = 4, kRounds = 50;

std::mutex output;
std::vector<int> order;
void note(int what) {
  std::lock_guard lock(output);
  order.push_back(what);
}

struct Noted {
  int what;
  ~Noted() { note(what); }
};

// The first attempts fail; who makes each is a race.
struct Round {
  std::once_flag flag;
  int attempts = 0;  // only one at a time
};
Round rounds[kRounds];

void call(int thread, int round) {
  Round& r = rounds[round];
  for (;;) {
    try {
      Noted left{1000 + thread};
      std::call_once(r.flag, [&] {
        Noted inner{2000 + thread};
        if (++r.attempts < 3) throw std::runtime_error("again");
        note(thread * 100 + r.attempts);
      });
      return;
    } catch (const std::runtime_error&) {
      note(3000 + thread);
    }
  }
}

std::mutex attempts_lock;
int attempts;
template <int N>
struct Fails {
  Fails() {
    std::lock_guard lock(attempts_lock);
    if (++attempts % 3) throw std::runtime_error("not yet");
  }
};
template <int N>
void initialise(int thread) {
  for (;;) {
    try {
      static Fails<N> once;
      return;
    } catch (const std::runtime_error&) {
      note(4000 + thread);
    }
  }
}

// Not for ever: nobody else is inside, and nobody comes later.
pthread_once_t left_by_exit[kThreads];
void leave_for_good(int thread) {
  static thread_local int me;
  me = thread;
  pthread_once(&left_by_exit[thread], [] {
    Noted inner{5000 + me};
    pthread_exit(nullptr);
  });
}

void* body(void* argument) {
  int thread = (int)(long)argument;
  for (int round = 0; round < kRounds; ++round) call(thread, round);
  initialise<0>(thread);
  initialise<1>(thread);
  initialise<2>(thread);
  Noted outer{6000 + thread};
  leave_for_good(thread);
  note(-1);
  return nullptr;
}

}  // namespace

int main() {
  pthread_t threads[kThreads];
  for (long i = 0; i < kThreads; ++i) CHECK(pthread_create(&threads[i], nullptr, body, (void*)i) == 0);
  for (pthread_t thread : threads) CHECK(pthread_join(thread, nullptr) == 0);
  int ends = 0;
  unsigned long hash = 0;
  for (int what : order) {
    CHECK(what >= 0);
    ends += what >= 5000;
    hash = hash * 31 + (unsigned)what;
  }
  CHECK(ends == 2 * kThreads);
  for (Round& r : rounds) CHECK(r.attempts == 3);
  int again = 0;
  for (pthread_once_t& once : left_by_exit) {
    static int* count;
    count = &again;
    CHECK(pthread_once(&once, [] { ++*count; }) == 0);
  }
  say("%zu notes, %lx, %d run again\n", order.size(), hash, again);
  return 0;
}
