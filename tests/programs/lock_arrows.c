// Two threads at a time that meet at one thing only: what the first did (getuid) comes before what the second does (getgid).
// e2e: stable parallel
#include <pthread.h>
#include <semaphore.h>
#include <sys/eventfd.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/syscall.h>

#include "common.h"
#include "pastcone/object.h"

static struct Things {
  pthread_mutex_t mutex;
  pthread_rwlock_t rwlock;
  pthread_spinlock_t spin;
  sem_t posted, kept;
  pthread_barrier_t barrier;
  struct pastcone_object object;
  int passed;  ///< the first of a pair has done it: an atomic variable, which leaves no arrow
} own, *s = &own;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static FILE* stream;
static int semaphore, queue, event;

static void first_did(void) { syscall(SYS_getuid); }
static void second_does(void) { syscall(SYS_getgid); }

static void change(short by) {
  struct sembuf operation = {.sem_op = by};
  CHECK(semop(semaphore, &operation, 1) == 0);
}

// Each thing is used by the first as given here, with what it did inside; then by the second.
#define THING(name, take, give, take_second, give_second) \
  static void name##_first(void) { take; first_did(); give; } \
  static void name##_second(void) { take_second; second_does(); give_second; }

#define MUTEX(word) pthread_mutex_##word(&s->mutex)
THING(mutex, MUTEX(lock), MUTEX(unlock), MUTEX(lock), MUTEX(unlock))
THING(trylock, MUTEX(trylock), MUTEX(unlock), CHECK(MUTEX(trylock) == 0), MUTEX(unlock))
#define RWLOCK(word) pthread_rwlock_##word(&s->rwlock)
THING(write_write, RWLOCK(wrlock), RWLOCK(unlock), RWLOCK(wrlock), RWLOCK(unlock))
THING(write_read, RWLOCK(wrlock), RWLOCK(unlock), RWLOCK(rdlock), RWLOCK(unlock))
THING(read_write, RWLOCK(rdlock), RWLOCK(unlock), RWLOCK(wrlock), RWLOCK(unlock))
THING(read_read, RWLOCK(rdlock), RWLOCK(unlock), RWLOCK(rdlock), RWLOCK(unlock))
THING(spin, pthread_spin_lock(&s->spin), pthread_spin_unlock(&s->spin), pthread_spin_lock(&s->spin), pthread_spin_unlock(&s->spin))
THING(posted, , sem_post(&s->posted), sem_wait(&s->posted), )
THING(kept, sem_wait(&s->kept), sem_post(&s->kept), sem_wait(&s->kept), sem_post(&s->kept))
THING(once, , pthread_once(&once, first_did), pthread_once(&once, first_did), )
THING(named_write_write, pastcone_write_begin(&s->object), pastcone_write_end(&s->object), pastcone_write_begin(&s->object), pastcone_write_end(&s->object))
THING(named_write_read, pastcone_write_begin(&s->object), pastcone_write_end(&s->object), pastcone_read_begin(&s->object), pastcone_read_end(&s->object))
THING(named_read_write, pastcone_read_begin(&s->object), pastcone_read_end(&s->object), pastcone_write_begin(&s->object), pastcone_write_end(&s->object))
THING(stream, flockfile(stream), funlockfile(stream), flockfile(stream), funlockfile(stream))
THING(nothing, , , , )
// Between processes:
THING(sysv_semaphore, , change(1), change(-1), )
struct Message { long type; char text[8]; } message = {1, "text"};
THING(sysv_queue, , msgsnd(queue, &message, 8, 0), msgrcv(queue, &message, 8, 0, 0), )
THING(event, , eventfd_write(event, 1), eventfd_t value; eventfd_read(event, &value), )

struct Pair {
  const char* name;
  void (*first)(void);
  void (*second)(void);
};
#define PAIR(name) {#name, name##_first, name##_second}
static const struct Pair by_threads[] = {
    PAIR(mutex), PAIR(trylock), PAIR(write_write), PAIR(write_read), PAIR(read_write), PAIR(read_read), PAIR(spin), PAIR(posted), PAIR(kept),
    PAIR(once), PAIR(named_write_write), PAIR(named_write_read), PAIR(named_read_write), PAIR(stream), PAIR(nothing)};
static const struct Pair by_processes[] = {PAIR(mutex), PAIR(write_write), PAIR(write_read), PAIR(read_write), PAIR(posted), PAIR(named_write_write),
                                           PAIR(sysv_semaphore), PAIR(sysv_queue), PAIR(event), PAIR(nothing)};

static void pass(void) { __atomic_store_n(&s->passed, 1, __ATOMIC_RELEASE); }
static void await(void) {
  while (!__atomic_load_n(&s->passed, __ATOMIC_ACQUIRE)) __builtin_ia32_pause();
}

static void* run_first(void* pair) {
  ((const struct Pair*)pair)->first();
  pass();
  return NULL;
}
static void* run_second(void* pair) {
  await();
  ((const struct Pair*)pair)->second();
  return NULL;
}

static void prepare(int shared) {
  pthread_mutexattr_t mutex;
  pthread_rwlockattr_t rwlock;
  pthread_mutexattr_init(&mutex);
  pthread_rwlockattr_init(&rwlock);
  CHECK(pthread_mutexattr_setpshared(&mutex, shared) == 0 && pthread_rwlockattr_setpshared(&rwlock, shared) == 0);
  memset(s, 0, sizeof *s);
  pthread_mutex_init(&s->mutex, &mutex);
  pthread_rwlock_init(&s->rwlock, &rwlock);
  pthread_spin_init(&s->spin, shared);
  sem_init(&s->posted, shared, 0);
  sem_init(&s->kept, shared, 1);
  pastcone_object_init(&s->object, "thing");
}

// The threads of each pair are the next two.
static void with_threads(const struct Pair* pair) {
  pthread_t first, second;
  prepare(PTHREAD_PROCESS_PRIVATE);
  CHECK(pthread_create(&first, NULL, run_first, (void*)pair) == 0 && pthread_create(&second, NULL, run_second, (void*)pair) == 0);
  CHECK(pthread_join(first, NULL) == 0 && pthread_join(second, NULL) == 0);
  say("%s\n", pair->name);
}

static void with_processes(const struct Pair* pair) {
  prepare(PTHREAD_PROCESS_SHARED);
  pid_t first = fork(), second;
  if (first == 0) run_first((void*)pair), _exit(0);
  second = fork();
  if (second == 0) run_second((void*)pair), _exit(0);
  CHECK(waitpid(first, NULL, 0) == first && waitpid(second, NULL, 0) == second);
  say("%s, shared\n", pair->name);
}

static void* meet(void* unused) {
  (void)unused;
  first_did();
  pthread_barrier_wait(&s->barrier);
  second_does();
  return NULL;
}

int main(void) {
  stream = fopen("/dev/null", "w");
  for (size_t i = 0; i < sizeof by_threads / sizeof *by_threads; i++) with_threads(&by_threads[i]);
  // The last three: two who meet, and one between its creation and its end.
  pthread_t threads[2];
  pthread_barrier_init(&s->barrier, NULL, 2);
  for (int i = 0; i < 2; i++) CHECK(pthread_create(&threads[i], NULL, meet, NULL) == 0);
  for (int i = 0; i < 2; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  s->passed = 1;
  syscall(SYS_getpgid, 0);
  CHECK(pthread_create(&threads[0], NULL, run_second, (void*)&by_threads[0]) == 0);
  CHECK(pthread_join(threads[0], NULL) == 0);
  syscall(SYS_getsid, 0);
  CHECK((semaphore = semget(IPC_PRIVATE, 1, 0600)) >= 0 && (queue = msgget(IPC_PRIVATE, 0600)) >= 0 && (event = eventfd(0, 0)) >= 0);
  s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(s != MAP_FAILED);
  for (size_t i = 0; i < sizeof by_processes / sizeof *by_processes; i++) with_processes(&by_processes[i]);
  semctl(semaphore, 0, IPC_RMID);
  msgctl(queue, IPC_RMID, NULL);
  return 0;
}
