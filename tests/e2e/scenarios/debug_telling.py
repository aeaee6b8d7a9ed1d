"""Predicates on what is written once or a few times between two calls, very often: the processes tell of that themselves."""
import random
import re

from building import compile_c
from debugging import debug, values

PROGRAM = r"""#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kMost = 20000 };
struct State {
  int steps;  // how often one of the two has been written to, and what they were then
  int words[kMost], others[kMost];
  char apart[64];
  volatile int word;
  char far_apart[64];
  volatile int other;
  char very_far_apart[64];
  sem_t turns[2];
};
struct State own, *s = &own;
int never, count;
static int pipes[2];

static void set(int value) {
  s->words[++s->steps] = value;
  s->others[s->steps] = s->other;
  s->word = value;
}
static void add(int value) {
  s->words[++s->steps] = s->word;
  s->others[s->steps] = s->other + value;
  s->other += value;
}
// Once as a rule.
static void change(void) {
  set(rand() % 1000);
  while (rand() % 8 == 0) rand() % 2 ? set(rand() % 1000) : add(rand() % 3 - 1);
}

// Without a call.
static void computing(void) {
  for (int i = 0; i < count; ++i) {
    for (volatile int much = 0; much < 1000; ++much) continue;
    change();
  }
}
static void messages(void) {
  char byte;
  for (int i = 0; i < count; ++i) {
    if (write(pipes[1], "x", 1) != 1 || read(pipes[0], &byte, 1) != 1) exit(2);
    change();
  }
}
// Some are written by the call itself.
static void received(void) {
  for (int i = 0; i < count; ++i) {
    int value = rand() % 1000;
    if (write(pipes[1], &value, sizeof value) != sizeof value) exit(2);
    if (i % 3 == 0) {
      s->words[++s->steps] = value;
      s->others[s->steps] = s->other;
      if (read(pipes[0], (void*)&s->word, sizeof value) != sizeof value) exit(3);
    } else {
      if (read(pipes[0], &value, sizeof value) != sizeof value) exit(3);
      change();
    }
  }
}
static void on_signal(int signal) { change(); }
static void signals(void) {
  signal(SIGUSR1, on_signal);
  for (int i = 0; i < count / 2; ++i) {
    raise(SIGUSR1);
    change();
  }
}
static void in_turn(int own_turn, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    while (sem_wait(&s->turns[own_turn]) != 0) continue;
    change();
    sem_post(&s->turns[!own_turn]);
  }
}
static void* other_thread(void* unused) {
  in_turn(1, count / 2);
  return unused;
}
static void threads(void) {
  pthread_t other;
  pthread_create(&other, NULL, other_thread, NULL);
  in_turn(0, count / 2);
  pthread_join(other, NULL);
}
// Again and again another one.
static void* one_more(void* unused) {
  change();
  getppid();
  change();
  return unused;
}
static void many_threads(void) {
  for (int i = 0; i < count / 10; ++i) {
    pthread_t other;
    pthread_create(&other, NULL, one_more, NULL);
    pthread_join(other, NULL);
    change();
  }
}
static void processes(void) {
  pid_t child = fork();
  srand(count + (child == 0));
  in_turn(child == 0, count / 2);
  if (child == 0) _exit(0);
  waitpid(child, NULL, 0);
}
// On the way, processes come and go, and memory does.
static void forks(void) {
  for (int i = 0; i < 6; ++i) {
    void* more = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child = fork();
    srand(count + 2 * i + (child == 0));
    in_turn(child == 0, count / 12);
    if (child == 0 && i % 2 == 0) execl("/bin/true", "true", NULL);
    if (child == 0) _exit(0);
    waitpid(child, NULL, 0);
    munmap(more, 8192);
  }
}

int main(int argc, char** argv) {
  struct { const char* name; void (*run)(void); int shared; } ways[] = {
      {"computing", computing, 0}, {"messages", messages, 0}, {"received", received, 0}, {"signals", signals, 0}, {"threads", threads, 0},
      {"many_threads", many_threads, 0}, {"processes", processes, 1}, {"forks", forks, 1}};
  count = atoi(argv[2]);
  srand(atoi(argv[3]));
  if (pipe(pipes) != 0) return 4;
  for (int i = 0; i < 8; ++i) {
    if (strcmp(argv[1], ways[i].name) != 0) continue;
    if (ways[i].shared) s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    sem_init(&s->turns[0], ways[i].shared, 1);
    sem_init(&s->turns[1], ways[i].shared, 0);
    ways[i].run();
  }
  for (int i = 1; i <= s->steps; ++i) printf("%d %d\n", s->words[i], s->others[i]);
  return s->steps == 0;
}
"""
WAYS = ("computing", "messages", "received", "signals", "threads", "many_threads", "processes", "forks")
HELD = re.compile(r"p1: .*? held ([\d,]+|once|twice|never)")
NUMBERS = {"never": 0, "once": 1, "twice": 2}


def _begins(holds):
    """The numbers, from 1, of the states in which it comes to hold."""
    return [number for number, now in enumerate(holds) if now and not holds[number - 1] and number > 0]


def _check(context, recording, states, expression, holds):
    begins = _begins([False] + [holds(*state) for state in states])
    looks = [command for _ in begins[:3] for command in ("continue", "focus p1", "print s->steps")]
    said = debug(context, recording, f"stop if p1: {expression}", *looks, label=expression)
    shown = values(said.stdout.decode())
    context.expect(shown == begins[:3], f"{expression}: {shown} instead of {begins[:3]}", said)
    # With and without telling, whichever was first.
    for _ in range(2):
        said = debug(context, recording, f"stop if p1: {expression} && p1: never == 1", "continue", label=f"{expression}, counted")
        match = HELD.search(said.stdout.decode().split("from here on:")[-1])
        counted = match and int(NUMBERS.get(match.group(1), match.group(1).replace(",", "")))
        context.expect(counted == len(begins), f"{expression} held {counted} times instead of {len(begins)}", said)


def _run(context, way, count, seed):
    program = compile_c(context, "telling", PROGRAM, "-O0", "-pthread", "-w")
    recording = context.path(f"{way}{count}.{seed}")
    done = context.record(recording, [program, way, str(count), str(seed)])
    states = [tuple(int(number) for number in line.split()) for line in done.stdout.decode().splitlines()]
    context.expect(done.status == 0 and len(states) > count / 4, f"{way}: recorded", done)
    chosen = random.Random(seed)
    wanted, total = (chosen.choice([state for state in states if sum(state) > 0 and state[0] > 0]) for _ in range(2))
    wanted, total = wanted[0], sum(total)
    _check(context, recording, states, f"s->word == {wanted}", lambda word, other: word == wanted)
    _check(context, recording, states, f"s->word + s->other == {total}", lambda word, other: word + other == total)
    _check(context, recording, states, f"s->word > {wanted % 900}", lambda word, other: word > wanted % 900)


def test_debug_telling(context):
    context.need("gcc", "gdb")
    for round_ in range(context.rounds(1, 10)):
        for way in WAYS:
            _run(context, way, 120, 50 + round_)


def test_debug_telling_often(context):
    """So many that they would do it by themselves."""
    context.need("gcc", "gdb")
    for way in ("computing", "messages", "threads", "processes"):
        _run(context, way, 6000, context.rounds(1, 2))


# Who ends right behind its last writes, and has mapped less than the other one reads.
LAST_WRITES = r"""#define _GNU_SOURCE
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
struct { sem_t turns[2]; char apart[128]; volatile int x; } *a;
struct { volatile int y; } *b;
int never;
static void* shared(void) { return mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0); }
int main(void) {
  a = shared();
  sem_init(&a->turns[0], 1, 1);
  sem_init(&a->turns[1], 1, 0);
  if (fork() == 0) {
    for (int i = 0; i < 30; ++i) {
      sem_wait(&a->turns[1]);
      a->x = 10 * i + 1;
      sem_post(&a->turns[0]);
    }
    sem_wait(&a->turns[1]);
    a->x = 777;
    a->x = 778;
    a->x = 777;
    a->x = 0;
    _exit(0);
  }
  b = shared();
  for (int i = 0; i < 30; ++i) {
    sem_wait(&a->turns[0]);
    a->x = 10 * i + 2;
    sem_post(&a->turns[1]);
  }
  sem_wait(&a->turns[0]);
  sem_post(&a->turns[1]);
  wait(NULL);
  b->y = 1;
  return 0;
}
"""


def test_debug_telling_last_writes(context):
    """What was written by who has ended since counts as much."""
    context.need("gcc", "gdb")
    program, recording = compile_c(context, "last_writes", LAST_WRITES, "-O0"), context.path("last_writes")
    context.record(recording, [program])
    for expression in ("a->x + b->y == 777", "a->x == 777"):
        for number in range(context.rounds(2, 20)):
            said = debug(context, recording, f"stop if p1: {expression} && p1: never == 1", "continue", label=f"last{number}")
            context.expect(b"held 2 times" in said.stdout, f"{expression} held twice", said)


# Where memory was shared, the one who tells of it has memory of its own later; and in the predicate there is a variable of a
# thread, of a process that has ended when the last writes are judged.
SHARED_ONCE = r"""#define _GNU_SOURCE
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
struct { sem_t turns[2]; char apart[128]; volatile int x; } *s;
static __thread int mine = 5;
int never;
static void compute(void) { for (volatile int i = 0; i < 1000; ++i) continue; }
int main(void) {
  s = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  sem_init(&s->turns[0], 1, 0);
  sem_init(&s->turns[1], 1, 0);
  if (fork() == 0) {
    for (int i = 0; i < 200; ++i, compute()) s->x = i % 100;
    volatile int* x = &s->x;
    munmap(s, 4096);
    mmap((void*)s, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    *x = 777;
    _exit(0);
  }
  wait(0);
  if (fork() == 0) {
    while (sem_wait(&s->turns[0]) != 0) continue;
    if (mine != 5) return 3;
    _exit(0);
  }
  for (int i = 0; i < 200; ++i, compute()) s->x = i % 100;
  s->x = 888;
  s->x = 0;
  sem_post(&s->turns[0]);
  wait(0);
  return s->x != 0;
}
"""


def test_debug_telling_of_once_shared(context):
    context.need("gcc", "gdb")
    program, recording = compile_c(context, "shared_once", SHARED_ONCE, "-O0"), context.path("shared_once")
    context.record(recording, [program])
    for expression, process, times in (("s->x == 777", "p1", "held never"), ("s->x + mine == 893", "p3", "held 1 time"), ("s->x + mine == 47", "p3", "held 2 times"),
                                       ("s->x == 42", "p1", "held 4 times")):
        for number in range(context.rounds(2, 20)):
            said = debug(context, recording, f"stop if {process}: {expression} && {process}: never == 1", "continue", label=f"{expression}{number}")
            context.expect(f"{expression} {times}" in said.stdout.decode(), f"{expression} {times}", said)


BOTH_READ = r"""#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>
volatile int received, other;
char apart[128];
volatile int* volatile where = &other;
int main(void) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 1;
  for (int i = 1; i <= 40; ++i) {
    if (i == 20) where = &received;
    if (write(ends[1], &i, sizeof i) != sizeof i || read(ends[0], (void*)where, sizeof i) != sizeof i) return 2;
  }
  return 0;
}
"""


def test_debug_telling_too_little(context):
    """What is told may not do any more after the first state that was found: all later ones are found all the same."""
    context.need("gcc", "gdb")
    program, recording = compile_c(context, "both_read", BOTH_READ, "-O0"), context.path("both_read")
    context.record(recording, [program])
    wanted = [number for number in range(1, 41) if number % 7 == 3]
    for number in range(context.rounds(2, 20)):
        said = debug(context, recording, "stop if p1: *where % 7 == 3", *["continue", "print *where"] * (len(wanted) + 1), label=f"read{number}")
        shown = values(said.stdout.decode())
        context.expect(shown[:len(wanted)] == wanted, f"{shown} instead of {wanted}", said)
        context.expect(b"does not hold again" in said.stdout, "and no more", said)


def test_debug_telling_happens(context):
    """And is no mere fallback: the tool asks the kernel for it."""
    context.need("gcc", "gdb", "strace")
    program, recording, log = compile_c(context, "telling", PROGRAM, "-O0", "-pthread", "-w"), context.path("happens"), context.path("calls")
    context.record(recording, [program, "messages", "100", "1"])
    said = context.run(["strace", "-o", log, "-e", "trace=perf_event_open", context.pastcone, "debug", recording, "--batch",
                        "-ex", "stop if p1: own.word == 1001", "-ex", "continue"], label="strace", env={"PASTCONE_TELL_AFTER": "1"})
    with open(log, encoding="utf-8") as file:
        asked = [line for line in file if "perf_event_open" in line]
    allowed = not any("EACCES" in line or "EPERM" in line for line in asked)
    context.expect(asked and (not allowed or any(re.search(r" = \d+$", line) for line in asked)), f"asked: {asked}", said)
