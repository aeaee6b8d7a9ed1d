// timer_create: by signal with a value, by thread, and one that only counts; overruns as they come.
// e2e: varies
#include <pthread.h>
#include <semaphore.h>

#include "common.h"

static sem_t rang;
static volatile sig_atomic_t value;

static void by_signal(int sig, siginfo_t* info, void* context) {
  (void)sig;
  (void)context;
  value = info->si_value.sival_int + (info->si_code == SI_TIMER ? 0 : 1000);
}
static void by_thread(union sigval v) {
  say("in a thread: %d\n", v.sival_int);
  sem_post(&rang);
}

int main(void) {
  struct sigaction action = {.sa_sigaction = by_signal, .sa_flags = SA_SIGINFO};
  CHECK(sigaction(SIGRTMIN, &action, NULL) == 0);
  struct itimerspec once = {{0, 0}, {0, 3000000}}, often = {{0, 2000000}, {0, 1000000}}, left;
  struct sigevent event = {
      .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN, .sigev_value.sival_int = 42};
  timer_t timer;
  sigset_t block, before;
  sigemptyset(&block);
  sigaddset(&block, SIGRTMIN);
  CHECK(sigprocmask(SIG_BLOCK, &block, &before) == 0);
  CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 && timer_settime(timer, 0, &often, NULL) == 0);
  sleep_ms(9);
  sigsuspend(&before);
  say("by signal: %d, overrun %d\n", (int)value, timer_getoverrun(timer));
  CHECK(timer_gettime(timer, &left) == 0 && timer_delete(timer) == 0);
  say("left %ld ns\n", left.it_value.tv_nsec);

  CHECK(sem_init(&rang, 0, 0) == 0);
  struct sigevent thread = {.sigev_notify = SIGEV_THREAD, .sigev_value.sival_int = 43};
  thread.sigev_notify_function = by_thread;
  CHECK(timer_create(CLOCK_MONOTONIC, &thread, &timer) == 0 && timer_settime(timer, 0, &once, NULL) == 0);
  while (sem_wait(&rang) != 0) CHECK(errno == EINTR);
  CHECK(timer_delete(timer) == 0);

  struct sigevent none = {.sigev_notify = SIGEV_NONE};
  CHECK(timer_create(CLOCK_REALTIME, &none, &timer) == 0 && timer_settime(timer, 0, &once, NULL) == 0);
  do CHECK(timer_gettime(timer, &left) == 0);
  while (left.it_value.tv_nsec != 0);
  say("counted down\n");
  return 0;
}
