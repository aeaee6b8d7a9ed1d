// Objects and locks that are made again at the same place are new ones; a child of fork has copies of its own.
// e2e: stable parallel
#include <pastcone/object.h>
#include <pthread.h>

#include "common.h"

static pthread_mutex_t mutex;
static struct pastcone_object object;

static void* once(void* name) {
  pastcone_write_begin(&object);
  pastcone_write_end(&object);
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  return name;
}

static void run_thread(void) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, once, NULL) == 0 && pthread_join(thread, NULL) == 0);
}

int main(void) {
  const char* names[] = {"first", "second"};
  for (int i = 0; i < 2; i++) {
    pastcone_object_init(&object, names[i]);
    CHECK(pthread_mutex_init(&mutex, NULL) == 0);
    run_thread();
    run_thread();
    CHECK(pthread_mutex_destroy(&mutex) == 0);
  }
  pid_t child = fork_checked();
  pastcone_read_begin(&object);
  pastcone_read_end(&object);
  if (!child) _exit(3);
  CHECK(exit_status(child) == 3);
  say("done\n");
  return 0;
}
