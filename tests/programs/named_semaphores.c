// sem_open and shm_open between processes that do not descend from the one that made them; process-shared rwlock and condition.
// e2e: varies
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>

#include "common.h"

struct Shared {
  pthread_rwlock_t lock;
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  int value, turn;
  char text[400];
};

static char memory[40], semaphore[40];

static void work(int number) {
  int fd = shm_open(memory, O_RDWR, 0);
  CHECK(fd >= 0);
  struct Shared* shared = mmap(0, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  CHECK(shared != MAP_FAILED);
  sem_t* ready = sem_open(semaphore, 0);
  CHECK(ready != SEM_FAILED);
  for (int k = 0; k < 20; k++) {
    CHECK(sem_wait(ready) == 0);
    size_t n = strlen(shared->text);
    shared->text[n] = (char)('0' + number);
    CHECK(sem_post(ready) == 0);
    CHECK(pthread_rwlock_wrlock(&shared->lock) == 0);
    shared->value = shared->value * 3 + number;
    pthread_rwlock_unlock(&shared->lock);
    CHECK(pthread_rwlock_rdlock(&shared->lock) == 0);
    int seen = shared->value;
    pthread_rwlock_unlock(&shared->lock);
    if (k % 10 == 0) say("%d saw %d\n", number, seen);
  }
  pthread_mutex_lock(&shared->mutex);
  while (shared->turn != number) pthread_cond_wait(&shared->changed, &shared->mutex);
  shared->turn++;
  pthread_cond_broadcast(&shared->changed);
  pthread_mutex_unlock(&shared->mutex);
  sem_close(ready);
}

int main(void) {
  snprintf(memory, sizeof memory, "/pastcone-memory-%d", (int)getpid());
  snprintf(semaphore, sizeof semaphore, "/pastcone-semaphore-%d", (int)getpid());
  pid_t pids[3];
  int go[2];
  CHECK(pipe(go) == 0);
  for (int i = 0; i < 3; i++) {
    pids[i] = fork_checked();
    if (pids[i] == 0) {
      char byte;
      CHECK(read(go[0], &byte, 1) == 1);
      work(i);
      _exit(0);
    }
  }
  int fd = shm_open(memory, O_RDWR | O_CREAT | O_EXCL, 0600);
  CHECK(fd >= 0 && ftruncate(fd, sizeof(struct Shared)) == 0);
  struct Shared* shared = mmap(0, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  CHECK(shared != MAP_FAILED);
  pthread_rwlockattr_t lock;
  pthread_mutexattr_t mutex;
  pthread_condattr_t condition;
  pthread_rwlockattr_init(&lock);
  pthread_mutexattr_init(&mutex);
  pthread_condattr_init(&condition);
  CHECK(!pthread_rwlockattr_setpshared(&lock, 1) && !pthread_mutexattr_setpshared(&mutex, 1) &&
        !pthread_condattr_setpshared(&condition, 1));
  CHECK(!pthread_rwlock_init(&shared->lock, &lock) && !pthread_mutex_init(&shared->mutex, &mutex) &&
        !pthread_cond_init(&shared->changed, &condition));
  sem_t* ready = sem_open(semaphore, O_CREAT | O_EXCL, 0600, 1);
  CHECK(ready != SEM_FAILED);
  CHECK(write(go[1], "123", 3) == 3);
  for (int i = 0; i < 3; i++) CHECK(exit_status(pids[i]) == 0);
  say("%d %s\n", shared->value, shared->text);
  CHECK(shm_unlink(memory) == 0 && sem_unlink(semaphore) == 0);
  return 0;
}
