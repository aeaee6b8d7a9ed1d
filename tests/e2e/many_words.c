// For debug_many_words.py: many variables, one of which changes with each action, in all kinds of ways; after each action
// the process logs what they are. Usage: many_words SEED ACTIONS
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kWords = 12, kMost = 4000 };

struct Words {
  volatile long a, gap0, b, gap1;
  volatile int c, gap2;
  char page0[4096];
  volatile long d, gap3, e;
  volatile char f, gap4[15];
  char page1[8192];
  volatile long g, h, gap5, i, gap6, j, k, gap7, l;
};

struct Words words __attribute__((aligned(64)));
struct Words* heap;
volatile long done;
static long log_of[kMost][kWords];
static unsigned long seed;
static int ends[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn;

static unsigned long some(unsigned long below) {
  seed = seed * 6364136223846793005UL + 1442695040888963407UL;
  return (seed >> 33) % below;
}

static void note(const struct Words* of) {
  const long now[kWords] = {of->a, of->b, of->c, of->d, of->e, of->f, of->g, of->h, of->i, of->j, of->k, of->l};
  memcpy(log_of[done], now, sizeof now);
  done++;
}

static void change(struct Words* of) {
  volatile long* const all[] = {&of->a, &of->b, &of->d, &of->e, &of->g, &of->h, &of->i, &of->j, &of->k, &of->l};
  volatile long* to = all[some(sizeof all / sizeof *all)];
  long value = (long)some(9);
  switch (some(13)) {
    case 0:
      of->c = (int)value;
      break;
    case 1:
      of->f = (char)value;
      break;
    case 2:
      of->f++;
      if (of->f > 9) note(of), of->f = 0;
      break;
    case 3:
      *to += value - 4;
      break;
    case 4:
      __atomic_fetch_add(to, 1, __ATOMIC_SEQ_CST);
      break;
    case 5:
      if (write(ends[1], &value, sizeof value) != sizeof value || read(ends[0], (void*)to, sizeof *to) != sizeof *to) exit(2);
      break;
    case 6:
      memset((void*)to, 0, sizeof *to);
      break;
    case 7: {  // beside it
      of->gap0++;
      of->page0[some(sizeof of->page0)]++;
      memset(of->page1, (int)value, some(200));
      memcpy(of->page0 + some(100), of->page1, 2000 + some(200));
      *to = value;
      break;
    }
    case 8: {
      long before = *to;
      __atomic_compare_exchange_n((long*)to, &before, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
      break;
    }
    case 9: {  // its page is the program's, too
      unsigned long page = (unsigned long)to & ~4095UL;
      mprotect((void*)page, 4096, PROT_READ);
      mprotect((void*)page, 4096, PROT_READ | PROT_WRITE);
      *to = value;
      break;
    }
    default:
      *to = value;
  }
  note(of);
}

__attribute__((noinline)) static long compute(long from) {
  volatile long p = from, q = 0, r = 0, s = 0, t = 0, u = 0;
  for (int n = 0; n < 6; n++) {
    q = q + 1;
    r = q * 2;
    s = r + p;
    t = s - q;
    u = t + n;
  }
  return p + q + r + s + t + u;
}

static void on_fault(int number, siginfo_t* info, void* context) {
  (void)number, (void)context;
  mprotect((void*)((unsigned long)info->si_addr & ~4095UL), 4096, PROT_READ | PROT_WRITE);
  words.gap3++;
}

static void act(int who, int actions, struct Words* of) {
  for (int n = 0; n < actions; n++) {
    pthread_mutex_lock(&lock);
    while (turn != who && turn >= 0) pthread_cond_wait(&changed, &lock);
    change(of);
    if (n % 16 == 0) {  // a fault that it handles itself
      mprotect((void*)((unsigned long)&words.d & ~4095UL), 4096, PROT_READ);
      words.d = (long)some(9);
      note(of);
    }
    if (turn >= 0 && some(3) == 0) turn = !turn;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
  }
  pthread_mutex_lock(&lock);
  turn = -1;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

static int actions;
static void* other(void* unused) {
  act(1, actions / 2, &words);
  return unused;
}

static void tell(const char* who) {
  for (long n = 0; n < done; n++) {
    printf("%s", who);
    for (int w = 0; w < kWords; w++) printf(" %ld", log_of[n][w]);
    printf("\n");
  }
  fflush(stdout);
}

int main(int count, char** arguments) {
  if (count != 3) return 1;
  seed = strtoul(arguments[1], NULL, 10);
  actions = atoi(arguments[2]);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, NULL);
  if (pipe(ends) != 0) return 1;
  heap = malloc(sizeof *heap);
  memset(heap, 0, sizeof *heap);
  pthread_t thread;
  pthread_create(&thread, NULL, other, NULL);
  act(0, actions / 2, &words);
  pthread_join(thread, NULL);
  if (compute(3) == 0) return 1;
  tell("threads");
  done = 0;
  if (fork() == 0) {
    act(0, actions, &words);
    tell("child");
    _exit(0);
  }
  wait(NULL);
  for (int n = 0; n < actions; n++) change(heap);
  tell("heap");
  return 0;
}
