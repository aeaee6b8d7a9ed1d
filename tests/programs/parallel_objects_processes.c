// Processes share memory in three ways, each at another address, with an object and locks in it; one is killed while it writes.
// e2e: varies parallel
#include <pastcone/object.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/shm.h>

#include "common.h"

enum { kProcesses = 3, kRounds = 3000, kFileSize = 3 * 4096 };

struct Shared {
  struct pastcone_object object;
  pthread_mutex_t mutex;
  pthread_rwlock_t lock;
  sem_t semaphore;
  unsigned by_object, by_mutex, by_lock, by_semaphore, seen[kProcesses];
};

static void set_up(struct Shared* s, const char* name) {
  pastcone_object_init(&s->object, name);
  pthread_mutexattr_t mutex_kind;
  pthread_mutexattr_init(&mutex_kind);
  pthread_mutexattr_setpshared(&mutex_kind, PTHREAD_PROCESS_SHARED);
  CHECK(pthread_mutex_init(&s->mutex, &mutex_kind) == 0);
  pthread_rwlockattr_t lock_kind;
  pthread_rwlockattr_init(&lock_kind);
  pthread_rwlockattr_setpshared(&lock_kind, PTHREAD_PROCESS_SHARED);
  CHECK(pthread_rwlock_init(&s->lock, &lock_kind) == 0);
  CHECK(sem_init(&s->semaphore, 1, 1) == 0);
}

static void work(struct Shared* s, unsigned me) {
  for (unsigned i = 0; i < kRounds; i++) {
    pastcone_write_begin(&s->object);
    unsigned old = __atomic_load_n(&s->by_object, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&s->by_object, &old, old * 31 + me, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    pastcone_write_end(&s->object);
    CHECK(pthread_mutex_lock(&s->mutex) == 0);
    s->by_mutex = s->by_mutex * 33 + me;
    CHECK(pthread_mutex_unlock(&s->mutex) == 0);
    if (i % 3 == me) {
      CHECK(pthread_rwlock_wrlock(&s->lock) == 0);
      s->by_lock = s->by_lock * 35 + me;
    } else {
      CHECK(pthread_rwlock_rdlock(&s->lock) == 0);
      s->seen[me] = s->seen[me] * 37 + s->by_lock;
    }
    CHECK(pthread_rwlock_unlock(&s->lock) == 0);
    CHECK(sem_wait(&s->semaphore) == 0);
    s->by_semaphore = s->by_semaphore * 39 + me;
    CHECK(sem_post(&s->semaphore) == 0);
  }
}

static void show(const char* what, const struct Shared* s) {
  say("%s: %08x %08x %08x %08x", what, s->by_object, s->by_mutex, s->by_lock, s->by_semaphore);
  for (int i = 0; i < kProcesses; i++) say(" %08x", s->seen[i]);
  say("\n");
}

static void* map_file(int pages_before) {
  // Another address in each process.
  if (pages_before) CHECK(mmap(NULL, (size_t)pages_before * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
  int fd = open("shared", O_RDWR);
  CHECK(fd >= 0);
  void* at = mmap(NULL, kFileSize, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  CHECK(at != MAP_FAILED && close(fd) == 0);
  return at;
}

int main(void) {
  struct Shared* inherited = mmap(NULL, sizeof *inherited, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(inherited != MAP_FAILED);
  set_up(inherited, "inherited");
  int fd = open("shared", O_RDWR | O_CREAT | O_TRUNC, 0600);
  CHECK(fd >= 0 && ftruncate(fd, kFileSize) == 0 && pwrite(fd, "x", 1, kFileSize - 1) == 1 && close(fd) == 0);
  struct Shared* mapped = map_file(0);
  set_up(mapped, "mapped");
  int segment = shmget(IPC_PRIVATE, sizeof(struct Shared), IPC_CREAT | 0600);
  CHECK(segment >= 0);
  struct Shared* attached = shmat(segment, NULL, 0);
  CHECK(attached != (void*)-1);
  set_up(attached, "attached");
  pid_t pids[kProcesses];
  for (unsigned i = 0; i < kProcesses; i++) {
    if ((pids[i] = fork_checked()) != 0) continue;
    struct Shared* mine = map_file(1 + (int)i);
    CHECK(((char*)mine)[kFileSize - 1] == 'x');
    struct Shared* segment_here = shmat(segment, NULL, 0);
    CHECK(segment_here != (void*)-1);
    work(inherited, i);
    work(mine, i);
    work(segment_here, i);
    _exit(0);
  }
  for (int i = 0; i < kProcesses; i++) CHECK(exit_status(pids[i]) == 0);
  CHECK(shmctl(segment, IPC_RMID, NULL) == 0);
  show("inherited", inherited);
  show("mapped", mapped);
  show("attached", attached);

  int ready[2];
  CHECK(pipe(ready) == 0);
  pid_t victim = fork_checked();
  if (!victim) {
    pastcone_write_begin(&inherited->object);
    write_all(ready[1], "r", 1);
    pause();
  }
  char c;
  CHECK(read(ready[0], &c, 1) == 1);
  CHECK(kill(victim, SIGKILL) == 0 && waitpid(victim, NULL, 0) == victim);
  pastcone_write_begin(&inherited->object);
  say("after the one that was killed\n");
  pastcone_write_end(&inherited->object);
  return 0;
}
