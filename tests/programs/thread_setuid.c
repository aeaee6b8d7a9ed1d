// setuid across threads: as root all threads change together; as an ordinary user the attempt fails.
// e2e: stable parallel
#include <pthread.h>
#include <semaphore.h>

#include "common.h"

static sem_t go[3], ready;

static void* show(void* arg) {
  sem_post(&ready);
  while (sem_wait(&go[(long)arg]) != 0) CHECK(errno == EINTR);
  say("thread %ld: uid %u\n", (long)arg, geteuid());
  return NULL;
}

int main(void) {
  CHECK(sem_init(&ready, 0, 0) == 0);
  pthread_t threads[3];
  for (long i = 0; i < 3; i++) {
    CHECK(sem_init(&go[i], 0, 0) == 0 && pthread_create(&threads[i], NULL, show, (void*)i) == 0);
    CHECK(sem_wait(&ready) == 0);
  }
  if (geteuid() == 0) {
    CHECK(setgid(65534) == 0 && setuid(65534) == 0);
    say("back: %s\n", setuid(0) < 0 ? strerror(errno) : "allowed");
  } else {
    say("not root: %s\n", setuid(0) < 0 ? strerror(errno) : "allowed");
  }
  for (int i = 0; i < 3; i++) {
    CHECK(sem_post(&go[i]) == 0 && pthread_join(threads[i], NULL) == 0);
  }
  return 0;
}
