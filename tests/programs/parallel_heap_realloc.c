// All the ways to allocate, in threads that leave each other what they have; contents stay whole.
// e2e: varies
#include <malloc.h>

#include "parallel_heap.h"

enum { kThreads = 4, kSlots = 64, kSteps = 6000 };

struct Slot {
  unsigned char* block;
  size_t size;
};

static struct Slot common[kSlots];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint64_t hashes[kThreads];

static unsigned char mark_of(size_t size) { return (unsigned char)(size * 7 + 1); }

static void fill(struct Slot* slot, void* block, size_t size) {
  CHECK(block);
  CHECK(malloc_usable_size(block) >= size);
  *slot = (struct Slot){block, size};
  memset(block, mark_of(size), size);
}

static void check(const struct Slot* slot, size_t size) {
  for (size_t i = 0; i < size; ++i) CHECK(slot->block[i] == mark_of(slot->size));
}

static void replace(struct Slot* slot, uint64_t* state) {
  size_t size = some_size(state);
  void* p = NULL;
  if (slot->block) check(slot, slot->size);
  switch (next(state) % 6) {
    case 0:
    case 1: {
      size_t old = slot->size;
      p = realloc(slot->block, size);
      CHECK(p);
      slot->block = p;
      check(slot, old < size ? old : size);
      fill(slot, p, size);
      return;
    }
    case 2:
      free(slot->block);
      p = calloc(size / 8 + 1, 8);
      CHECK(p);
      for (size_t i = 0; i < size; ++i) CHECK(((char*)p)[i] == 0);
      break;
    case 3: {
      free(slot->block);
      size_t alignment = (size_t)16 << next(state) % 10;
      CHECK(posix_memalign(&p, alignment, size) == 0 && (uintptr_t)p % alignment == 0);
      break;
    }
    case 4:
      free(slot->block);
      p = memalign(64, size);
      CHECK((uintptr_t)p % 64 == 0);
      break;
    default:
      p = reallocarray(slot->block, 1, size);
  }
  fill(slot, p, size);
}

static void* run(void* argument) {
  intptr_t number = (intptr_t)argument;
  uint64_t state = 5 + (uint64_t)number;
  struct Slot own[kSlots] = {{0}};
  for (int i = 0; i < kSteps; ++i) {
    struct Slot* slot = &own[next(&state) % kSlots];
    replace(slot, &state);
    mix(&hashes[number], slot->block);
    if (next(&state) % 4) continue;
    pthread_mutex_lock(&mutex);
    struct Slot* other = &common[next(&state) % kSlots];
    struct Slot kept = *slot;
    *slot = *other;
    *other = kept;
    pthread_mutex_unlock(&mutex);
  }
  for (int i = 0; i < kSlots; ++i) free(own[i].block);
  return NULL;
}

int main(void) {
  pthread_t threads[kThreads];
  for (intptr_t i = 0; i < kThreads; ++i) CHECK(!pthread_create(&threads[i], NULL, run, (void*)i));
  for (int i = 0; i < kThreads; ++i) CHECK(!pthread_join(threads[i], NULL));
  for (int i = 0; i < kThreads; ++i) say("thread %d: %016lx\n", i, (unsigned long)hashes[i]);
  for (int i = 0; i < kSlots; ++i) free(common[i].block);
  errno = 0;
  volatile size_t too_much = (size_t)1 << 50;
  void* p = malloc(100);
  CHECK(!malloc(too_much) && errno == ENOMEM);
  errno = 0;
  CHECK(!realloc(p, too_much) && errno == ENOMEM);
  errno = 0;
  CHECK(!reallocarray(p, too_much, too_much) && errno == ENOMEM);
  CHECK(posix_memalign(&p, 24, 8) == EINVAL);
  say("and then %p\n", p);
  return 0;
}
