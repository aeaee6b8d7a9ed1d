// Threads put nodes into one list that is sorted by address: its order depends on all addresses.
// e2e: varies
#include "parallel_heap.h"

enum { kThreads = 4, kSteps = 1500 };

struct Node {
  struct Node* next;
  int thread, step;
};

static struct Node* list;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct Node* first[kThreads];

static void insert(struct Node* node) {
  struct Node** at = &list;
  while (*at && *at < node) at = &(*at)->next;
  node->next = *at;
  *at = node;
}

static struct Node* take_some(uint64_t n) {
  struct Node** at = &list;
  for (n %= 40; n && *at && (*at)->next; --n) at = &(*at)->next;
  struct Node* node = *at;
  if (node) *at = node->next;
  return node;
}

static void* run(void* argument) {
  int number = (int)(intptr_t)argument;
  uint64_t state = 77 + (uint64_t)number;
  for (int i = 0; i < kSteps; ++i) {
    struct Node* node = malloc(sizeof *node + next(&state) % 64);
    CHECK(node);
    if (!i) first[number] = node;
    node->thread = number;
    node->step = i;
    pthread_mutex_lock(&mutex);
    insert(node);
    struct Node* other = i % 4 ? take_some(next(&state)) : NULL;
    pthread_mutex_unlock(&mutex);
    free(other);
  }
  return NULL;
}

int main(void) {
  pthread_t threads[kThreads];
  for (intptr_t i = 0; i < kThreads; ++i) CHECK(!pthread_create(&threads[i], NULL, run, (void*)i));
  for (int i = 0; i < kThreads; ++i) CHECK(!pthread_join(threads[i], NULL));
  uint64_t order = 0;
  int count = 0;
  for (struct Node* node = list; node; node = node->next, ++count) {
    mix(&order, (void*)(intptr_t)(node->thread * kSteps + node->step));
    if (count % 100 == 0) say("%p: %d of thread %d\n", (void*)node, node->step, node->thread);
  }
  say("%d nodes, order %016lx, first %p %p %p %p\n", count, (unsigned long)order, (void*)first[0],
      (void*)first[1], (void*)first[2], (void*)first[3]);
  return 0;
}
