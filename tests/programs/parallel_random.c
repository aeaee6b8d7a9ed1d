// Threads that use every kind of lock, at random as a seed says, and come and go, and fork; what they see goes into a number.
// e2e: varies parallel args=1
#include <pthread.h>
#include <semaphore.h>

#include "common.h"

enum { kThreads = 5, kMutexes = 6, kLocks = 3, kSemaphores = 2, kOnces = 40 };

static pthread_mutex_t mutexes[kMutexes];
static unsigned long guarded[kMutexes];
static pthread_rwlock_t locks[kLocks];
static unsigned long shared[kLocks];
static pthread_cond_t condition;
static pthread_mutex_t condition_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long signals_sent;
static sem_t semaphores[kSemaphores];
static pthread_barrier_t barrier;
static pthread_once_t onces[kOnces];
static pthread_spinlock_t spin;
static unsigned long spun;
static pthread_key_t key;
static pthread_mutex_t total_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long total;
static sem_t detached_done;
static int steps;

struct Random {
  unsigned long state;
  unsigned long seen;
};
static __thread struct Random r;

static unsigned next(unsigned below) {
  r.state = r.state * 6364136223846793005UL + 1442695040888963407UL;
  return (unsigned)(r.state >> 33) % below;
}
static void see(unsigned long what) { r.seen = r.seen * 31 + what; }
static void add_to_total(unsigned long what) {
  pthread_mutex_lock(&total_lock);
  total = total * 31 + what;
  pthread_mutex_unlock(&total_lock);
}

static struct timespec soon(clockid_t clock, long microseconds) {
  struct timespec t;
  clock_gettime(clock, &t);
  t.tv_nsec += microseconds * 1000;
  if (t.tv_nsec >= 1000000000) t.tv_sec++, t.tv_nsec -= 1000000000;
  return t;
}

static void use_mutex(void) {
  unsigned which = next(kMutexes);
  pthread_mutex_t* m = &mutexes[which];
  struct timespec until;
  int result = 0;
  switch (next(4)) {
    case 0:
      result = pthread_mutex_trylock(m);
      break;
    case 1:
      until = soon(CLOCK_REALTIME, next(300));
      result = pthread_mutex_timedlock(m, &until);
      break;
    default:
      result = pthread_mutex_lock(m);
  }
  see((unsigned long)result);
  if (result != 0) return;
  see(guarded[which]++);
  if (which == 1 && next(2)) {  // recursive
    CHECK(pthread_mutex_lock(m) == 0);
    see(guarded[which]++);
    CHECK(pthread_mutex_unlock(m) == 0);
  }
  if (next(50) == 0) sched_yield();
  CHECK(pthread_mutex_unlock(m) == 0);
}

static void use_lock(void) {
  unsigned which = next(kLocks);
  pthread_rwlock_t* l = &locks[which];
  struct timespec until = soon(CLOCK_REALTIME, 100);
  unsigned how = next(8);
  int result = how == 0   ? pthread_rwlock_trywrlock(l)
               : how == 1 ? pthread_rwlock_timedwrlock(l, &until)
               : how == 2 ? pthread_rwlock_wrlock(l)
               : how == 3 ? pthread_rwlock_tryrdlock(l)
               : how == 4 ? pthread_rwlock_timedrdlock(l, &until)
                          : pthread_rwlock_rdlock(l);
  see((unsigned long)result);
  if (result != 0) return;
  see(how < 3 ? shared[which]++ : shared[which]);
  CHECK(pthread_rwlock_unlock(l) == 0);
}

static void use_condition(void) {
  CHECK(pthread_mutex_lock(&condition_lock) == 0);
  if (next(2)) {
    signals_sent++;
    if (next(3)) pthread_cond_signal(&condition);
    else pthread_cond_broadcast(&condition);
  } else {
    unsigned long before = signals_sent;
    struct timespec until = soon(CLOCK_REALTIME, next(400));
    int result = 0;
    while (result == 0 && signals_sent == before) result = pthread_cond_timedwait(&condition, &condition_lock, &until);
    see((unsigned long)result);
    see(signals_sent);
  }
  CHECK(pthread_mutex_unlock(&condition_lock) == 0);
}

static void use_semaphore(void) {
  sem_t* s = &semaphores[next(kSemaphores)];
  struct timespec until = soon(CLOCK_REALTIME, next(300));
  unsigned how = next(3);
  int result = how == 0 ? sem_trywait(s) : how == 1 ? sem_timedwait(s, &until) : sem_post(s);
  see(result ? (unsigned long)errno : 0);
  int value;
  CHECK(sem_getvalue(s, &value) == 0);
  see((unsigned long)value);
}

static void first(void) { add_to_total(r.seen); }
static void use_once(void) { CHECK(pthread_once(&onces[next(kOnces)], first) == 0); }

static void use_spin(void) {
  CHECK(pthread_spin_lock(&spin) == 0);
  see(spun++);
  CHECK(pthread_spin_unlock(&spin) == 0);
}

static void forget(void* value) { add_to_total((unsigned long)value); }
static void use_key(void) {
  see((unsigned long)pthread_getspecific(key));
  CHECK(pthread_setspecific(key, (void*)(r.seen | 1)) == 0);
}

static void* short_life(void* arg) {
  r.state = (unsigned long)arg;
  for (int i = 0; i < 5; i++) use_mutex(), use_lock(), use_key();
  add_to_total(r.seen);
  return NULL;
}
static void* detached_life(void* arg) {
  short_life(arg);
  sem_post(&detached_done);
  return NULL;
}
static int detached_count;
static void use_thread(void) {
  pthread_t thread;
  void* argument = (void*)(unsigned long)next(1000000);
  if (next(2)) {
    CHECK(pthread_create(&thread, NULL, short_life, argument) == 0 && pthread_join(thread, NULL) == 0);
  } else {
    __atomic_add_fetch(&detached_count, 1, __ATOMIC_SEQ_CST);
    CHECK(pthread_create(&thread, NULL, detached_life, argument) == 0 && pthread_detach(thread) == 0);
  }
}

// The child has its own copies; those that another thread had are not to be waited for.
static void use_fork(void) {
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    for (int i = 0; i < 20; i++) {
      unsigned which = next(kMutexes);
      struct timespec until = soon(CLOCK_REALTIME, 100);
      if (pthread_mutex_trylock(&mutexes[which]) == 0) {
        guarded[which]++;
        pthread_mutex_unlock(&mutexes[which]);
      }
      which = next(kLocks);
      if (next(2) ? pthread_rwlock_tryrdlock(&locks[which]) == 0 : pthread_rwlock_timedwrlock(&locks[which], &until) == 0)
        pthread_rwlock_unlock(&locks[which]);
    }
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, (void* (*)(void*))use_key, NULL) == 0 && pthread_join(thread, NULL) == 0);
    _exit((int)(r.seen & 63));
  }
  int status;
  CHECK(waitpid(child, &status, 0) == child);
  see((unsigned long)status);
}

static void* body(void* arg) {
  r.state = (unsigned long)arg;
  for (int i = 0; i < steps; i++) {
    switch (next(32)) {
      case 0: if (next(8) == 0) use_thread(); break;
      case 1: if (next(16) == 0) use_fork(); break;
      case 2: case 3: use_once(); break;
      case 4: case 5: case 6: use_condition(); break;
      case 7: case 8: case 9: case 10: use_semaphore(); break;
      case 11: case 12: use_spin(); break;
      case 13: use_key(); break;
      case 14: case 15: case 16: case 17: case 18: case 19: case 20: use_lock(); break;
      default: use_mutex();
    }
    if (i % (steps / 4) == 0) see((unsigned long)pthread_barrier_wait(&barrier));
  }
  add_to_total(r.seen);
  return NULL;
}

int main(int argc, char** argv) {
  unsigned long seed = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
  steps = argc > 2 ? atoi(argv[2]) : 400;
  const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_ADAPTIVE_NP};
  for (int i = 0; i < kMutexes; i++) {
    pthread_mutexattr_t attributes;
    CHECK(pthread_mutexattr_init(&attributes) == 0 && pthread_mutexattr_settype(&attributes, types[i % 4]) == 0);
    if (i == 4) CHECK(pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST) == 0);
    if (i == 5) CHECK(pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT) == 0);
    CHECK(pthread_mutex_init(&mutexes[i], &attributes) == 0);
  }
  for (int i = 0; i < kLocks; i++) CHECK(pthread_rwlock_init(&locks[i], NULL) == 0);
  for (int i = 0; i < kSemaphores; i++) CHECK(sem_init(&semaphores[i], 0, 1) == 0);
  CHECK(pthread_cond_init(&condition, NULL) == 0 && pthread_barrier_init(&barrier, NULL, kThreads) == 0);
  CHECK(pthread_spin_init(&spin, 0) == 0 && pthread_key_create(&key, forget) == 0 && sem_init(&detached_done, 0, 0) == 0);
  pthread_t threads[kThreads];
  for (unsigned long i = 0; i < kThreads; i++) CHECK(pthread_create(&threads[i], NULL, body, (void*)(seed * 1000 + i)) == 0);
  for (int i = 0; i < kThreads; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  for (int i = 0; i < detached_count; i++) CHECK(sem_wait(&detached_done) == 0);
  pthread_mutex_lock(&total_lock);
  say("%lx\n", total);
  return 0;
}
