// Threads that count, in memory that others can look at, their calls of getppid() and what they do with locks of every kind.
// e2e: varies
// Each time they take something or give it back counts; nothing else of theirs uses a lock.
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kThreads = 4, kRounds = 6 };

struct {
  volatile long calls[8], locks[8];  // by thread of the process
} counters;

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_barrier_t all;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t ready, room;
static long queue, table, sum, made;
static struct { pthread_mutex_t lock; long sum; }* shared;

static void step(int thread) {
  syscall(SYS_getppid);
  counters.calls[thread] = counters.calls[thread] + 1;
}

static void locked(int thread, int points) { counters.locks[thread] = counters.locks[thread] + points; }

static __thread int me;

static void make(void) {
  locked(me, 1);
  made = 1;
}

static void put(int t, int i) {
  pthread_mutex_lock(&queue_lock), locked(t, 1);
  ++queue;
  pthread_cond_signal(&filled), locked(t, 1);
  if (i % 2) step(t);
  pthread_mutex_unlock(&queue_lock), locked(t, 1);
}

static void get(int t) {
  pthread_mutex_lock(&queue_lock), locked(t, 1);
  while (!queue) pthread_cond_wait(&filled, &queue_lock), locked(t, 2);
  --queue;
  pthread_mutex_unlock(&queue_lock), locked(t, 1);
}

static void use_table(int t, int i) {
  if ((i + t) % 3) pthread_rwlock_rdlock(&table_lock), locked(t, 1);
  else pthread_rwlock_wrlock(&table_lock), locked(t, 1);
  long seen = table;
  if ((i + t) % 3 == 0) table = seen * 31 + t;
  step(t);
  pthread_rwlock_unlock(&table_lock), locked(t, 1);
}

static void add(int t, long number) {
  pthread_spin_lock(&spin), locked(t, 1);
  sum = sum * 31 + number;
  pthread_spin_unlock(&spin), locked(t, 1);
  pthread_mutex_lock(&shared->lock), locked(t, 1);
  shared->sum = shared->sum * 31 + number;
  pthread_mutex_unlock(&shared->lock), locked(t, 1);
}

static void* work(void* argument) {
  int t = (int)(intptr_t)argument;
  me = t;
  if (t == 2) usleep(200);
  pthread_once(&once, make), locked(t, 1);
  if (!made) _exit(9);
  for (int i = 0; i < kRounds; ++i) {
    step(t);
    if (t % 2) put(t, i);
    else get(t);
    sem_wait(&room), locked(t, 1);
    use_table(t, i);
    sem_post(&room), locked(t, 1);
    if (t == 1) sem_post(&ready), locked(t, 1);
    if (t == 2) sem_wait(&ready), locked(t, 1);
    add(t, i);
    if (i % 3 == 2) {
      step(t);
      pthread_barrier_wait(&all), locked(t, 2);
    }
  }
  step(t);
  return 0;
}

static int member(int number) {
  pthread_t threads[kThreads + 1];
  for (int i = 1; i <= kThreads; ++i) pthread_create(&threads[i], 0, work, (void*)(intptr_t)i);
  step(0);
  for (int i = 1; i <= kThreads; ++i) pthread_join(threads[i], 0);
  step(0);
  char line[200];
  int size = snprintf(line, sizeof line, "%d: %ld %ld %ld\n", number, table, sum, queue);
  return write(1, line, (size_t)size) != size;
}

int main(void) {
  shared = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pthread_mutexattr_t between;
  pthread_mutexattr_init(&between);
  pthread_mutexattr_setpshared(&between, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(&shared->lock, &between);
  pthread_spin_init(&spin, 0);
  pthread_barrier_init(&all, 0, kThreads);
  sem_init(&ready, 0, 0);
  sem_init(&room, 0, 2);
  printf("counters at %p\n", (void*)&counters);
  fflush(stdout);
  for (int i = 0; i < 2; ++i)
    if (!fork()) _exit(member(i));
  int failed = 0, status;
  while (wait(&status) > 0) failed |= status;
  printf("%ld\n", shared->sum);
  return failed != 0;
}
