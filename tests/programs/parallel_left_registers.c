// Calls that libc makes with registers as they are, right after locks: what is left in them is not compared.
// e2e: varies parallel
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>

#include "common.h"

enum { kThreads = 4, kTurns = 300 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static unsigned order, sum;

static void initialise(void) { order = 1; }

static void* body(void* arg) {
  for (int i = 0; i < kTurns; i++) {
    pthread_mutex_lock(&lock);
    int flags = fcntl(0, F_GETFL);
    order = order * 31 + *(unsigned*)arg;
    pthread_mutex_unlock(&lock);
    int kept = fcntl(2, F_GETFD);
    pthread_mutex_lock(&lock);
    int dumpable = prctl(PR_GET_DUMPABLE);
    sum += (unsigned)(flags & O_ACCMODE) + (unsigned)kept + (unsigned)dumpable;
    pthread_mutex_unlock(&lock);
    CHECK(ioctl(0, FIONCLEX) == 0);
  }
  return NULL;
}

int main(void) {
  CHECK(pthread_once(&once, initialise) == 0);
  pthread_t threads[kThreads];
  unsigned names[kThreads];
  for (unsigned i = 0; i < kThreads; i++) {
    names[i] = i + 1;
    CHECK(pthread_create(&threads[i], NULL, body, &names[i]) == 0);
  }
  for (int i = 0; i < kThreads; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  say("%x %u\n", order, sum);
  return 0;
}
