// Recursive, error-checking, robust and priority-inheriting mutexes.
// e2e: stable parallel
#include <pthread.h>

#include "common.h"

static pthread_mutex_t make(int type, int robust, int protocol) {
  pthread_mutexattr_t a;
  pthread_mutex_t m;
  CHECK(pthread_mutexattr_init(&a) == 0 && pthread_mutexattr_settype(&a, type) == 0);
  CHECK(pthread_mutexattr_setrobust(&a, robust) == 0 && pthread_mutexattr_setprotocol(&a, protocol) == 0);
  CHECK(pthread_mutex_init(&m, &a) == 0);
  return m;
}
static void* die_holding(void* mutex) {
  CHECK(pthread_mutex_lock(mutex) == 0);
  return NULL;
}

int main(void) {
  pthread_mutex_t recursive = make(PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
  CHECK(pthread_mutex_lock(&recursive) == 0 && pthread_mutex_lock(&recursive) == 0);
  CHECK(pthread_mutex_unlock(&recursive) == 0 && pthread_mutex_unlock(&recursive) == 0);
  say("recursive: third unlock %s\n", strerror(pthread_mutex_unlock(&recursive)));
  pthread_mutex_t checking = make(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
  CHECK(pthread_mutex_lock(&checking) == 0);
  say("checking: second lock %s\n", strerror(pthread_mutex_lock(&checking)));
  static pthread_mutex_t robust, inheriting;
  robust = make(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_NONE);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, die_holding, &robust) == 0 && pthread_join(thread, NULL) == 0);
  say("robust: owner gone %s\n", strerror(pthread_mutex_lock(&robust)));
  CHECK(pthread_mutex_consistent(&robust) == 0 && pthread_mutex_unlock(&robust) == 0);
  say("robust: then %s\n", strerror(pthread_mutex_lock(&robust)));
  inheriting = make(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_INHERIT);
  for (int i = 0; i < 3; i++)
    CHECK(pthread_mutex_lock(&inheriting) == 0 && pthread_mutex_unlock(&inheriting) == 0);
  say("inheriting: fine\n");
  return 0;
}
