// Signals to threads: pthread_kill, masks per thread, a process-wide signal taken by the one that lets it in.
// e2e: stable
#include <pthread.h>
#include <semaphore.h>

#include "common.h"

static sem_t ready, taken;
static __thread int me;
static volatile sig_atomic_t by[3];

static void take(int sig) {
  (void)sig;
  by[me]++;
  sem_post(&taken);
}
static void* wait_for_it(void* arg) {
  me = (int)(long)arg;
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  if (me == 2) CHECK(pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0);
  sem_post(&ready);
  sigfillset(&set);
  sigdelset(&set, me == 1 ? SIGUSR2 : SIGUSR1);
  while (by[me] < 2) sigsuspend(&set);
  return NULL;
}
static void wait_taken(void) {
  while (sem_wait(&taken) != 0) CHECK(errno == EINTR);
}

int main(void) {
  CHECK(sem_init(&ready, 0, 0) == 0 && sem_init(&taken, 0, 0) == 0);
  on_signal_flags(SIGUSR1, take, 0);
  on_signal_flags(SIGUSR2, take, 0);
  sigset_t both;
  sigemptyset(&both);
  sigaddset(&both, SIGUSR1);
  sigaddset(&both, SIGUSR2);
  CHECK(pthread_sigmask(SIG_BLOCK, &both, NULL) == 0);
  pthread_t threads[3];
  for (long i = 1; i <= 2; i++) {
    CHECK(pthread_create(&threads[i], NULL, wait_for_it, (void*)i) == 0);
    CHECK(sem_wait(&ready) == 0);
  }
  for (int i = 0; i < 2; i++) {
    CHECK(pthread_kill(threads[1], SIGUSR2) == 0);
    wait_taken();
    CHECK(kill(getpid(), SIGUSR1) == 0);
    wait_taken();
  }
  for (int i = 1; i <= 2; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  say("taken: main %d, first %d, second %d\n", (int)by[0], (int)by[1], (int)by[2]);
  return 0;
}
