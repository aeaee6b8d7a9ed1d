// What malloc costs: "heap CASE THREADS" prints one line "CPU_NS WALL_NS PEAK_KB", times per malloc with its free. Only libc's names
// are used, so that another heap can be preloaded.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef unsigned long Number;

static Number next(Number* state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  return *state ^= *state << 17;
}

// As in programs that were counted: most blocks are small, some are pages, few are larger.
static size_t some_size(Number* state) {
  Number n = next(state);
  unsigned kind = n & 127;
  n >>= 8;
  if (kind < 96) return 16 + n % 112;
  if (kind < 120) return 128 + n % 896;
  if (kind < 127) return 1024 + n % 7168;
  return 8192 + n % 57344;
}

static void* filled(size_t size) {
  char* p = malloc(size);
  if (!p) abort();
  for (size_t i = 0; i < size; i += 4096) p[i] = 1;
  p[size - 1] = 1;
  return p;
}

// Blocks that live for a while: one of many is replaced at a time.
enum { kSlots = 20000, kChurns = 4000000 };

static Number churn(Number seed) {
  void** slots = calloc(kSlots, sizeof *slots);
  for (int i = 0; i < kChurns; ++i) {
    void** slot = &slots[next(&seed) % kSlots];
    free(*slot);
    *slot = filled(some_size(&seed));
  }
  for (int i = 0; i < kSlots; ++i) free(slots[i]);
  free(slots);
  return kChurns;
}

// The same with blocks of 32 KB to 1 MB.
enum { kLargeSlots = 64, kLargeChurns = 300000 };

static Number large(Number seed) {
  void* slots[kLargeSlots] = {0};
  for (int i = 0; i < kLargeChurns; ++i) {
    void** slot = &slots[next(&seed) % kLargeSlots];
    free(*slot);
    *slot = filled(32768 + next(&seed) % 1000000);
  }
  for (int i = 0; i < kLargeSlots; ++i) free(slots[i]);
  return kLargeChurns;
}

// What a function allocates, it frees.
enum { kScopes = 400000, kScopeBlocks = 16 };

static Number scopes(Number seed) {
  void* blocks[kScopeBlocks];
  for (int i = 0; i < kScopes; ++i) {
    for (int j = 0; j < kScopeBlocks; ++j) blocks[j] = filled(16 + next(&seed) % 496);
    for (int j = kScopeBlocks; j--;) free(blocks[j]);
  }
  return (Number)kScopes * kScopeBlocks;
}

// A program whose phases need blocks of other sizes, and keep a part of them.
enum { kPhases = 12, kPhaseBytes = 16 << 20, kMostBlocks = kPhaseBytes / 24 };

static Number phases(Number seed) {
  void** all = malloc(kMostBlocks * sizeof *all);
  void** kept = malloc(kPhases * kMostBlocks / 16 * sizeof *kept);
  Number done = 0;
  int kept_count = 0;
  for (int phase = 0; phase < kPhases; ++phase) {
    size_t most = (size_t)48 << (phase * 5 % 7);
    int count = 0;
    for (size_t bytes = 0; bytes < kPhaseBytes && count < kMostBlocks; ++count) {
      size_t size = most / 2 + next(&seed) % (most / 2);
      all[count] = filled(size);
      bytes += size;
    }
    for (int i = count - 1; i > 0; --i) {  // in no order
      int other = (int)(next(&seed) % (Number)(i + 1));
      void* p = all[i];
      all[i] = all[other];
      all[other] = p;
    }
    for (int i = 0; i < count; ++i) {
      if (i % 20 == 0 && kept_count < kPhases * kMostBlocks / 16) kept[kept_count++] = all[i];
      else free(all[i]);
    }
    done += (Number)count;
  }
  while (kept_count) free(kept[--kept_count]);
  free(kept);
  free(all);
  return done;
}

// Strings and arrays that grow.
enum { kGrowing = 32, kGrowths = 3000000, kLongest = 300000 };

static Number grow(Number seed) {
  char* texts[kGrowing] = {0};
  size_t sizes[kGrowing] = {0};
  for (int i = 0; i < kGrowths; ++i) {
    unsigned which = next(&seed) % kGrowing;
    sizes[which] += 1 + next(&seed) % 64;
    if (sizes[which] > kLongest) {
      free(texts[which]);
      texts[which] = 0;
      sizes[which] = 16;
    }
    texts[which] = realloc(texts[which], sizes[which]);
    texts[which][sizes[which] - 1] = 1;
  }
  for (int i = 0; i < kGrowing; ++i) free(texts[i]);
  return kGrowths;
}

// One thread allocates, another one frees.
enum { kParcel = 256, kParcels = 12000, kWaiting = 16 };

struct Queue {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  int from, to;
  void* parcels[kWaiting][kParcel];
};

static void* consume(void* argument) {
  struct Queue* q = argument;
  void* parcel[kParcel];
  for (int i = 0; i < kParcels; ++i) {
    pthread_mutex_lock(&q->mutex);
    while (q->from == q->to) pthread_cond_wait(&q->changed, &q->mutex);
    memcpy(parcel, q->parcels[q->from % kWaiting], sizeof parcel);
    ++q->from;
    pthread_cond_signal(&q->changed);
    pthread_mutex_unlock(&q->mutex);
    for (int j = 0; j < kParcel; ++j) free(parcel[j]);
  }
  return 0;
}

static Number produce(Number seed) {
  struct Queue* q = calloc(1, sizeof *q);
  pthread_mutex_init(&q->mutex, 0);
  pthread_cond_init(&q->changed, 0);
  pthread_t consumer;
  if (pthread_create(&consumer, 0, consume, q)) abort();
  void* parcel[kParcel];
  for (int i = 0; i < kParcels; ++i) {
    for (int j = 0; j < kParcel; ++j) parcel[j] = filled(some_size(&seed) % 2048 + 1);
    pthread_mutex_lock(&q->mutex);
    while (q->to - q->from == kWaiting) pthread_cond_wait(&q->changed, &q->mutex);
    memcpy(q->parcels[q->to % kWaiting], parcel, sizeof parcel);
    ++q->to;
    pthread_cond_signal(&q->changed);
    pthread_mutex_unlock(&q->mutex);
  }
  pthread_join(consumer, 0);
  free(q);
  return (Number)kParcels * kParcel;
}

// Threads that do not live long.
enum { kThreads = 4000, kOfThread = 500 };

static void* live(void* argument) {
  Number seed = (Number)argument;
  void* blocks[kOfThread];
  for (int i = 0; i < kOfThread; ++i) blocks[i] = filled(some_size(&seed) % 2048 + 1);
  for (int i = 0; i < kOfThread; ++i) free(blocks[i]);
  return 0;
}

static Number threads(Number seed) {
  for (int i = 0; i < kThreads; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, 0, live, (void*)(seed + (Number)i))) abort();
    pthread_join(thread, 0);
  }
  return (Number)kThreads * kOfThread;
}

// Blocks of which the sizes shift as time goes by.
enum { kShifts = 30, kShifting = 50000 };

static Number shift(Number seed) {
  void** slots = calloc(kShifting, sizeof *slots);
  for (int i = 0; i < kShifts * kShifting; ++i) {
    void** slot = &slots[next(&seed) % kShifting];
    free(*slot);
    *slot = filled(16 + (size_t)(i / kShifting) * 30 + next(&seed) % 30);
  }
  for (int i = 0; i < kShifting; ++i) free(slots[i]);
  free(slots);
  return (Number)kShifts * kShifting;
}

// Many of one size, freed in the order in which they were made; all threads use the same size.
enum { kAlike = 1600, kAlikeRounds = 2000 };

static Number alike(Number seed) {
  void* blocks[kAlike];
  for (int i = 0; i < kAlikeRounds; ++i) {
    for (int j = 0; j < kAlike; ++j) blocks[j] = filled(16 + seed % 8);
    for (int j = 0; j < kAlike; ++j) free(blocks[j]);
  }
  return (Number)kAlike * kAlikeRounds;
}

static const struct {
  const char* name;
  Number (*run)(Number);
} cases[] = {{"churn", churn}, {"large", large}, {"scopes", scopes},  {"phases", phases},
             {"grow", grow},   {"pass", produce}, {"threads", threads},
             {"shift", shift}, {"alike", alike}};

static Number (*chosen)(Number);

static void* run(void* argument) { return (void*)chosen((Number)argument); }

static double now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static long peak_kb(void) {  // ru_maxrss would have what was there before exec
  char line[256];
  long kb = 0;
  FILE* file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "VmHWM: %ld", &kb) == 1) break;
  if (file) fclose(file);
  return kb;
}

int main(int argc, char** argv) {
  for (size_t i = 0; argc == 3 && i < sizeof cases / sizeof *cases; ++i)
    if (!strcmp(argv[1], cases[i].name)) chosen = cases[i].run;
  int count = argc == 3 ? atoi(argv[2]) : 0;
  if (!chosen || count < 1 || count > 64) return 2;
  double cpu = now(CLOCK_PROCESS_CPUTIME_ID), wall = now(CLOCK_MONOTONIC), done = 0;
  pthread_t others[64];
  for (int i = 1; i < count; ++i)
    if (pthread_create(&others[i], 0, run, (void*)(Number)(i * 7919 + 1))) return 1;
  done += (double)(Number)run((void*)1);
  for (int i = 1; i < count; ++i) {
    void* part;
    pthread_join(others[i], &part);
    done += (double)(Number)part;
  }
  cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
  wall = now(CLOCK_MONOTONIC) - wall;
  printf("%.2f %.2f %ld\n", cpu / done, wall / done, peak_kb());
  return 0;
}
