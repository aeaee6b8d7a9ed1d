// Robust mutexes and spinlocks in shared memory, at other addresses in each process: the order of their owners, who end in every way.
// e2e: varies helper parallel
#include <pthread.h>
#include <sys/mman.h>

#include "common.h"

enum { kWorkers = 4, kTurns = 150, kKinds = 4 };
enum Way { kExit, kExec, kFault, kKilled, kThreadEnds, kOtherThread, kWays };
static const char* const ways[kWays] = {"exit", "exec", "fault", "killed", "thread ends", "other thread"};

struct Shared {
  char filler[100];
  pthread_mutex_t lock[kKinds];
  pthread_spinlock_t spin;
  unsigned order[kKinds], spins, spun;
};
static struct Shared* s;
static int memory;

static void map_shared(void) {
  s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  CHECK(s != MAP_FAILED);
}

static void make(pthread_mutex_t* lock, int type, int protocol) {
  pthread_mutexattr_t a;
  CHECK(pthread_mutexattr_init(&a) == 0 && pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED) == 0);
  CHECK(pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST) == 0 && pthread_mutexattr_setprotocol(&a, protocol) == 0);
  CHECK(pthread_mutexattr_settype(&a, type) == 0 && pthread_mutex_init(lock, &a) == 0);
}

// Returns whether the last owner died.
static int lock(int kind) {
  int result = pthread_mutex_lock(&s->lock[kind]);
  CHECK(result == 0 || result == EOWNERDEAD);
  if (result) CHECK(pthread_mutex_consistent(&s->lock[kind]) == 0);
  return result != 0;
}

static void work(unsigned me, int dies) {
  for (unsigned i = 0; i < kTurns; i++) {
    int kind = (int)((i + me) % kKinds);
    unsigned died = (unsigned)lock(kind);
    s->order[kind] = s->order[kind] * 31 + me * 7 + i + died;
    if (dies && i == kTurns / 2) {
      if (me % 2) kill(getpid(), SIGKILL);
      _exit(7);
    }
    CHECK(pthread_mutex_unlock(&s->lock[kind]) == 0);
    if (i % 3 == 0) {
      pthread_spin_lock(&s->spin);
      s->spins = s->spins * 31 + me;
      pthread_spin_unlock(&s->spin);
    } else if (pthread_spin_trylock(&s->spin) == 0) {
      s->spun = s->spun * 31 + me;
      pthread_spin_unlock(&s->spin);
    }
  }
}

static void contend(void) {
  pid_t pids[kWorkers];
  for (unsigned i = 0; i < kWorkers; i++) {
    if ((pids[i] = fork_checked()) != 0) continue;
    // Each has it somewhere else.
    CHECK(mmap(NULL, (i + 1) * 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
    map_shared();
    work(i, i >= 2);
    _exit(0);
  }
  for (int i = 0; i < kWorkers; i++) CHECK(wait(NULL) > 0);
  for (int i = 0; i < kKinds; i++) {
    say("order %u, died %d\n", s->order[i], lock(i));
    CHECK(pthread_mutex_unlock(&s->lock[i]) == 0);
  }
  say("spins %u %u\n", s->spins, s->spun);
}

static int ready[2], held[2];
static void tell(int pipe[2]) { write_all(pipe[1], "x", 1); }
static void await(int pipe[2]) {
  char c;
  CHECK(read_all(pipe[0], &c, 1) == 1);
}
static void* hold(void* arg) {
  lock(*(int*)arg);
  return NULL;
}
static void* hold_for_ever(void* arg) {
  hold(arg);
  tell(held);
  for (;;) pause();
  return NULL;
}

static void end(enum Way way, int kind) {
  pthread_t thread;
  if (way == kOtherThread) {
    CHECK(pthread_create(&thread, NULL, hold_for_ever, &kind) == 0);
    await(held);
    tell(ready);
    _exit(0);
  }
  if (way == kThreadEnds) {
    CHECK(pthread_create(&thread, NULL, hold, &kind) == 0 && pthread_join(thread, NULL) == 0);
    CHECK(lock(kind) == 1 && pthread_mutex_unlock(&s->lock[kind]) == 0);
    tell(ready);
    _exit(0);
  }
  lock(kind);
  tell(ready);
  if (way == kExec) execl("/bin/true", "true", (char*)NULL);
  if (way == kFault) *(volatile int*)1 = 1;
  if (way == kKilled) kill(getpid(), SIGKILL);
  _exit(0);
}

static void try_all(int kind) {
  for (int way = 0; way < kWays; way++) {
    if (fork_checked() == 0) end((enum Way)way, kind);
    await(ready);
    int died = lock(kind);
    say("%d, %s: %d\n", kind, ways[way], died);
    CHECK(pthread_mutex_unlock(&s->lock[kind]) == 0 && pthread_mutex_consistent(&s->lock[kind]) == EINVAL);
    CHECK(wait(NULL) > 0);
  }
  // Nobody waits for it; and nobody mends it.
  if (fork_checked() == 0) {
    lock(kind);
    kill(getpid(), SIGKILL);
  }
  CHECK(wait(NULL) > 0);
  CHECK(pthread_mutex_trylock(&s->lock[kind]) == EOWNERDEAD && pthread_mutex_unlock(&s->lock[kind]) == 0);
  CHECK(pthread_mutex_lock(&s->lock[kind]) == ENOTRECOVERABLE);
}

int main(void) {
  memory = memfd_create("shared", 0);
  CHECK(memory >= 0 && ftruncate(memory, sizeof *s) == 0 && pipe(ready) == 0 && pipe(held) == 0);
  map_shared();
  for (int i = 0; i < kKinds; i++)
    make(&s->lock[i], i % 2 ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_NORMAL, i < 2 ? PTHREAD_PRIO_NONE : PTHREAD_PRIO_INHERIT);
  CHECK(pthread_spin_init(&s->spin, PTHREAD_PROCESS_SHARED) == 0);
  contend();
  for (int i = 0; i < kKinds; i++) try_all(i);
  return 0;
}
