// locks THREADS LOCKS PAIRS WORK: that many pairs of lock and unlock in each thread, of one of so many mutexes, with a short loop
// in between. Prints ns of wall time per pair, and how many pairs went to another thread than the one before.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int threads, locks, pairs, work;
static struct {
  pthread_mutex_t mutex;
  int last;
  char fill[20];
} *all;
static pthread_barrier_t ready;
static long handed_over[64];

static void* run(void* arg) {
  int me = (int)(long)arg;
  unsigned long random = (unsigned long)me * 7919;
  long changes = 0;
  pthread_barrier_wait(&ready);
  for (int i = 0; i < pairs; i++) {
    random = random * 6364136223846793005ul + 1442695040888963407ul;
    int k = locks == 1 ? 0 : (int)((random >> 33) % (unsigned)locks);
    pthread_mutex_lock(&all[k].mutex);
    changes += all[k].last != me;
    all[k].last = me;
    pthread_mutex_unlock(&all[k].mutex);
    for (int w = 0; w < work; w++) __asm__ volatile("" ::: "memory");
  }
  handed_over[me] = changes;
  return NULL;
}

static void* nothing(void* arg) { return arg; }

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  threads = atoi(argv[1]), locks = atoi(argv[2]), pairs = atoi(argv[3]), work = atoi(argv[4]);
  if (threads < 1 || threads > 63 || locks < 1) return 2;
  all = aligned_alloc(64, sizeof *all * (size_t)locks);
  for (int i = 0; i < locks; i++) {
    pthread_mutex_init(&all[i].mutex, NULL);
    all[i].last = 0;
  }
  pthread_t ids[64];
  pthread_create(&ids[0], NULL, nothing, NULL);  // a process of one thread need not order anything
  pthread_join(ids[0], NULL);
  pthread_barrier_init(&ready, NULL, (unsigned)threads);
  double start = now();
  for (long i = 2; i <= threads; i++) pthread_create(&ids[i], NULL, run, (void*)i);
  run((void*)1);
  for (int i = 2; i <= threads; i++) pthread_join(ids[i], NULL);
  double end = now();
  long changes = 0;
  for (int i = 1; i <= threads; i++) changes += handed_over[i];
  printf("%.3f %ld\n", (end - start) / ((double)pairs * threads), changes);
  return 0;
}
