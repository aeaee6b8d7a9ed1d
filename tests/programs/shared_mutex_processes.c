// Process-shared mutex, condition and semaphore in shared memory; the order of entry is shown.
// e2e: varies
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>

#include "common.h"

struct Shared {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  sem_t slots;
  int length, finished;
  char order[200];
};

int main(void) {
  struct Shared* s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(s != MAP_FAILED);
  pthread_mutexattr_t for_lock;
  pthread_condattr_t for_changed;
  pthread_mutexattr_init(&for_lock);
  pthread_condattr_init(&for_changed);
  CHECK(pthread_mutexattr_setpshared(&for_lock, PTHREAD_PROCESS_SHARED) == 0);
  CHECK(pthread_condattr_setpshared(&for_changed, PTHREAD_PROCESS_SHARED) == 0);
  CHECK(pthread_mutex_init(&s->lock, &for_lock) == 0 && pthread_cond_init(&s->changed, &for_changed) == 0);
  CHECK(sem_init(&s->slots, 1, 2) == 0);
  for (int i = 0; i < 3; i++) {
    if (fork_checked() != 0) continue;
    for (int k = 0; k < 20; k++) {
      CHECK(sem_wait(&s->slots) == 0);
      pthread_mutex_lock(&s->lock);
      s->order[s->length++] = (char)('a' + i);
      pthread_mutex_unlock(&s->lock);
      CHECK(sem_post(&s->slots) == 0);
      if (k % 5 == 0) usleep(50);
    }
    pthread_mutex_lock(&s->lock);
    s->finished++;
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
    _exit(0);
  }
  pthread_mutex_lock(&s->lock);
  while (s->finished < 3) pthread_cond_wait(&s->changed, &s->lock);
  pthread_mutex_unlock(&s->lock);
  say("%s\n", s->order);
  CHECK(strlen(s->order) == 60);
  for (int i = 0; i < 3; i++) CHECK(wait(NULL) > 0);
  return 0;
}
