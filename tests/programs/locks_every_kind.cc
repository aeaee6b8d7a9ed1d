// Mutexes, shared mutexes, conditions, semaphores, barriers, spinlocks and what is done once, by C, C++ and C11, in threads that race.
// e2e: varies parallel
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>

#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <thread>

#include "common.h"

namespace {

constexpr int kThreads = 6, kRounds = 300;

std::mutex plain;
std::recursive_mutex recursive;
std::timed_mutex timed;
std::shared_mutex shared;
std::condition_variable changed;
std::once_flag once;
sem_t slots;
pthread_barrier_t barrier;
pthread_spinlock_t spin;
mtx_t c11;

unsigned long state[8];
int queued, initialised_by = -1;

void mix(int which, unsigned long what) { state[which] = state[which] * 31 + what; }

/// Who makes it is seen in its value.
int& made_once(int me) {
  static int maker = me;
  return maker;
}

void work(int me) {
  unsigned long seen = 0;
  std::call_once(once, [me] { initialised_by = me; });
  seen += static_cast<unsigned long>(made_once(me)) * 1000 + static_cast<unsigned long>(initialised_by);
  for (int i = 0; i < kRounds; ++i) {
    {
      std::lock_guard guard(plain);
      mix(0, static_cast<unsigned long>(me));
      ++queued;
      changed.notify_one();
    }
    if (recursive.try_lock()) {
      std::lock_guard again(recursive);
      mix(1, static_cast<unsigned long>(me));
      recursive.unlock();
    } else {
      seen += 7;
    }
    if (timed.try_lock_for(std::chrono::microseconds(i % 3 * 20))) {
      mix(2, static_cast<unsigned long>(me));
      timed.unlock();
    } else {
      seen += 11;
    }
    if (i % 8 == me % 8) {
      std::unique_lock guard(shared);
      mix(3, static_cast<unsigned long>(me));
    } else {
      std::shared_lock guard(shared);
      seen += state[3];
    }
    {
      std::unique_lock guard(plain);
      bool came = changed.wait_for(guard, std::chrono::microseconds(50), [] { return queued > 0; });
      if (came) --queued;
      seen = seen * 3 + came;
    }
    if (sem_trywait(&slots) == 0) {
      seen += 13;
      sem_post(&slots);
    } else {
      sem_wait(&slots);
      sem_post(&slots);
    }
    pthread_spin_lock(&spin);
    mix(4, static_cast<unsigned long>(me));
    pthread_spin_unlock(&spin);
    mtx_lock(&c11);
    mix(5, seen);
    mtx_unlock(&c11);
    if (i % 50 == 0 && pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) mix(6, static_cast<unsigned long>(me));
  }
  std::lock_guard guard(plain);
  mix(7, seen);
}

}  // namespace

int main() {
  sem_init(&slots, 0, 2);
  pthread_barrier_init(&barrier, nullptr, kThreads);
  pthread_spin_init(&spin, 0);
  mtx_init(&c11, mtx_plain);
  std::thread threads[kThreads];
  for (int i = 0; i < kThreads; ++i) threads[i] = std::thread(work, i);
  for (std::thread& thread : threads) thread.join();
  for (unsigned long s : state) say("%016lx\n", s);
  return 0;
}
