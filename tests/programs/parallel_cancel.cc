// Cancelling threads inside conditions, semaphores and joins, deferred and before they wait; handlers that unlock; destructors.
// e2e: varies parallel
#include <pthread.h>
#include <semaphore.h>

#include "common.h"

namespace {

constexpr int kRounds = 30;

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t never = PTHREAD_COND_INITIALIZER;
sem_t empty, full;
unsigned long hash;

void note(unsigned what) { hash = hash * 31 + what; }  // with the lock

struct Noted {
  unsigned what;
  ~Noted() {
    pthread_mutex_lock(&lock);
    note(what);
    pthread_mutex_unlock(&lock);
  }
};

void unlock(void* what) {
  note((unsigned)(long)what);
  pthread_mutex_unlock(&lock);
}

void* in_condition(void* argument) {
  Noted left{10};
  pthread_mutex_lock(&lock);
  pthread_cleanup_push(unlock, argument);
  for (;;) pthread_cond_wait(&never, &lock);
  pthread_cleanup_pop(0);
  return nullptr;
}

void* in_timed_condition(void* argument) {
  Noted left{11};
  pthread_mutex_lock(&lock);
  pthread_cleanup_push(unlock, argument);
  for (;;) {
    timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 300000;
    if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
    pthread_cond_timedwait(&never, &lock, &until);
    note(1);
  }
  pthread_cleanup_pop(0);
  return nullptr;
}

void* in_semaphore(void*) {
  Noted left{12};
  sem_wait(&empty);
  return nullptr;
}

void* in_full_semaphore(void*) {
  Noted left{13};
  for (;;) {
    sem_wait(&full);
    sem_post(&full);
  }
  return nullptr;
}

void* sleeper(void*) {
  sem_wait(&empty);
  return nullptr;
}
void* in_join(void* thread) {
  Noted left{14};
  pthread_join((pthread_t)thread, nullptr);
  return nullptr;
}

void* busy(void*) {
  for (int i = 0; i < 20000; ++i) {
    pthread_mutex_lock(&lock);
    note(7);
    pthread_mutex_unlock(&lock);
  }
  return nullptr;
}

void cancel(void* (*body)(void*), void* argument, int ms) {
  pthread_t thread;
  void* result;
  CHECK(pthread_create(&thread, nullptr, body, argument) == 0);
  if (ms) sleep_ms(ms);
  CHECK(pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0);
  CHECK(result == PTHREAD_CANCELED);
}

}  // namespace

int main() {
  CHECK(sem_init(&empty, 0, 0) == 0 && sem_init(&full, 0, 1) == 0);
  for (long round = 0; round < kRounds; ++round) {
    pthread_t other, waits;
    CHECK(pthread_create(&other, nullptr, busy, nullptr) == 0);
    cancel(in_condition, (void*)round, round % 3);
    cancel(in_timed_condition, (void*)round, round % 3);
    cancel(in_semaphore, nullptr, round % 2);
    cancel(in_full_semaphore, nullptr, round % 2);
    CHECK(pthread_create(&waits, nullptr, sleeper, nullptr) == 0);
    cancel(in_join, (void*)waits, round % 3);
    CHECK(sem_post(&empty) == 0 && pthread_join(waits, nullptr) == 0);
    CHECK(pthread_join(other, nullptr) == 0);
  }
  say("%lx\n", hash);
  return 0;
}
