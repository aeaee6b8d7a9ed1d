// exec from a thread that is not the first, while others run: one process with the same id remains, and libc knows its thread's.
// e2e: stable
#include <pthread.h>

#include "common.h"

static char** arguments;

static void* run_on(void* arg) {
  (void)arg;
  for (;;) usleep(100);
  return NULL;
}
static void* replace(void* arg) {
  (void)arg;
  char id[12];
  snprintf(id, sizeof id, "%d", getpid());
  execl(arguments[0], arguments[0], id, (char*)NULL);
  _exit(127);
}

int main(int argc, char** argv) {
  if (argc > 1) {
    say("after exec: same process %d, first thread %d\n", getpid() == atoi(argv[1]), getpid() == gettid());
    int policy;
    struct sched_param parameters;
    CHECK(pthread_getschedparam(pthread_self(), &policy, &parameters) == 0);
    return 0;
  }
  arguments = argv;
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, run_on, NULL) == 0);
  CHECK(pthread_create(&thread, NULL, replace, NULL) == 0);
  pthread_join(thread, NULL);
  return 1;
}
