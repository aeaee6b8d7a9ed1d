// Robust mutexes in shared memory, plain and with priority inheritance, whose owners end in every way: the next one is told.
// e2e: stable
#include <pthread.h>
#include <sys/mman.h>

#include "common.h"

enum Way { kExitOfAnother, kExec, kFault, kKilled, kWays };
static const char* const names[kWays] = {"exit of another thread", "exec", "fault", "killed"};

struct Shared {
  pthread_mutex_t lock;
  volatile int held;
};
static struct Shared* s;

static void hold(void) {
  CHECK(pthread_mutex_lock(&s->lock) == 0);
  s->held = 1;
}

static void* hold_for_ever(void* arg) {
  hold();
  for (;;) pause();
  return arg;
}

static void await_waiter(void) {
  while (!((unsigned)s->lock.__data.__lock & 0x80000000)) usleep(1000);
}

static void end(enum Way way) {
  if (way == kExitOfAnother) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, hold_for_ever, NULL) == 0);
    while (!s->held) usleep(1000);
  } else {
    hold();
  }
  await_waiter();
  if (way == kExec) execl("/bin/true", "true", (char*)NULL);
  if (way == kFault) *(volatile int*)1 = 1;
  if (way == kKilled) kill(getpid(), SIGKILL);
  _exit(0);
}

static void try_all(int protocol) {
  pthread_mutexattr_t a;
  CHECK(pthread_mutexattr_init(&a) == 0 && pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED) == 0);
  CHECK(pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST) == 0 && pthread_mutexattr_setprotocol(&a, protocol) == 0);
  CHECK(pthread_mutex_init(&s->lock, &a) == 0);
  for (int way = 0; way < kWays; way++) {
    s->held = 0;
    if (fork_checked() == 0) end((enum Way)way);
    while (!s->held) usleep(1000);
    say("%s: %s\n", names[way], strerror(pthread_mutex_lock(&s->lock)));
    CHECK(pthread_mutex_consistent(&s->lock) == 0 && pthread_mutex_unlock(&s->lock) == 0);
    int status;
    CHECK(wait(&status) > 0);
    say("status %x\n", status & 0x7f);
  }
}

int main(void) {
  s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(s != MAP_FAILED);
  try_all(PTHREAD_PRIO_NONE);
  try_all(PTHREAD_PRIO_INHERIT);
  return 0;
}
