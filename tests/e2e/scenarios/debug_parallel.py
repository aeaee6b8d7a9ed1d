"""Predicates about a process whose threads run at once, against what the program says of the order of its locks: the state is the least
one in which any of the threads has made it true."""
from building import compile_c
from debugging import debug, values

# Each thread writes under locks that it chooses at random, and says so in the log of the lock. Between the barriers nobody makes a call,
# so the locks' order is all that there is.
SOURCE = r"""#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
enum { kThreads = 3, kLocks = 2, kRounds = 10, kMost = 100 };
volatile int a[kLocks], b[kLocks], progress[kThreads];
static struct { int thread, round, progress, a, b; } entries[kLocks][kMost];
static int count[kLocks];
static pthread_mutex_t locks[kLocks];
static pthread_barrier_t begin, end;
static unsigned seed;
static void* work(void* argument) {
  int self = (int)(long)argument;
  unsigned state = seed + (unsigned)self * 7919;
  pthread_barrier_wait(&begin);
  for (int round = 0; round < kRounds; round++) {
    state = state * 1103515245 + 12345;
    int chosen = (int)(state >> 20) % kLocks, writes = 1 + (int)(state >> 16) % 2;
    for (volatile unsigned i = 0; i < (state >> 12) % 5000; i++) {}
    pthread_mutex_lock(&locks[chosen]);
    for (int i = 0; i < writes; i++) {
      state = state * 1103515245 + 12345;
      int value = 1 + (int)(state >> 18) % 4;
      if (state >> 28 & 1) a[chosen] = value;
      else b[chosen] = value;
      int n = count[chosen]++;
      entries[chosen][n].thread = self, entries[chosen][n].round = round, entries[chosen][n].progress = progress[self];
      entries[chosen][n].a = a[chosen], entries[chosen][n].b = b[chosen];
      progress[self]++;
    }
    pthread_mutex_unlock(&locks[chosen]);
  }
  pthread_barrier_wait(&end);
  return NULL;
}
int main(int argc, char** argv) {
  seed = (unsigned)atoi(argv[argc - 1]);
  int process = fork() == 0 ? 2 : 1;
  seed += (unsigned)process * 104729;
  pthread_t threads[kThreads];
  pthread_barrier_init(&begin, NULL, kThreads);
  pthread_barrier_init(&end, NULL, kThreads);
  for (int i = 0; i < kLocks; i++) pthread_mutex_init(&locks[i], NULL);
  for (long i = 0; i < kThreads; i++) pthread_create(&threads[i], NULL, work, (void*)i);
  for (int i = 0; i < kThreads; i++) pthread_join(threads[i], NULL);
  for (int lock = 0; lock < kLocks; lock++)
    for (int n = 0; n < count[lock]; n++)
      printf("%d %d %d %d %d %d %d\n", process, lock, entries[lock][n].thread, entries[lock][n].round, entries[lock][n].progress,
             entries[lock][n].a, entries[lock][n].b);
  fflush(stdout);
  if (process == 2) _exit(0);
  return wait(NULL) < 0;
}
"""
THREADS, LOCKS = 3, 2


class _Process:
    """What one of them said."""

    def __init__(self, rows):
        self.writes = {lock: [row[1:] for row in rows if row[0] == lock] for lock in range(LOCKS)}  # thread, round, progress, a, b
        self.sections = {}  # thread → of each round its lock, and its progress behind it
        for lock, writes in self.writes.items():
            for thread, turn, progress, _, _ in writes:
                self.sections.setdefault(thread, {})[turn] = lock, progress + 1
        self.before = {}  # thread, round → who had its lock before
        for writes in self.writes.values():
            users = list(dict.fromkeys(tuple(write[:2]) for write in writes))
            self.before.update(zip(users[1:], users))

    def state(self, lock, index):
        """How far each thread has come in the least state with this write."""
        writer, turn, progress, _, _ = self.writes[lock][index]
        done, pending = {}, [self.before.get((writer, turn)), (writer, turn - 1)]
        while pending:
            needed = pending.pop()
            if needed is None or needed[1] <= done.get(needed[0], -1):
                continue
            done[needed[0]] = needed[1]
            pending += [self.before.get((needed[0], each)) for each in range(needed[1] + 1)]
        reached = [self.sections[thread][done[thread]][1] if done.get(thread, -1) >= 0 else 0 for thread in range(THREADS)]
        reached[writer] = progress
        return reached

    def rises(self, lock, holds):
        """The writes that make it true."""
        truths = [False] + [holds(write[3], write[4]) for write in self.writes[lock]]
        return [index for index in range(len(truths) - 1) if truths[index + 1] and not truths[index]]


def _condition(random, lock):
    first, second = random.randrange(1, 5), random.randrange(1, 5)
    return random.choice(((f"a[{lock}] == {first}", lambda a, b: a == first), (f"b[{lock}] == {first}", lambda a, b: b == first),
                          (f"a[{lock}] == {first} && b[{lock}] == {second}", lambda a, b: a == first and b == second),
                          (f"a[{lock}] + b[{lock}] == {first + second}", lambda a, b: a + b == first + second)))


def _recorded(context):
    seed = context.random.randrange(1 << 20)
    program, recording = compile_c(context, "ordered", SOURCE, "-O0", "-pthread"), context.path(f"ordered{seed}")
    recorded = context.record(recording, [program, str(seed)], ["--threads=parallel"])
    rows = [[int(word) for word in line.split()] for line in recorded.stdout.decode().splitlines()]
    return recording, {process: _Process([row[1:] for row in rows if row[0] == process]) for process in (1, 2)}


def _looks(process):
    return [f"focus p{process}", *(f"print progress[{thread}]" for thread in range(THREADS))]


def _expect(context, recording, label, commands, states):
    said = debug(context, recording, *commands, label=label)
    reached = values(said.stdout.decode())
    context.expect(reached == states, f"{recording}: {commands}: {states} expected, not {reached}", said)


def test_debug_parallel_process(context):
    """Whichever thread makes it true: the first time, the next times, with another process, and one of two."""
    for _ in range(context.rounds(1, 20)):
        recording, processes = _recorded(context)
        for number in range(context.rounds(4, 10)):
            process, lock = context.random.choice((1, 2)), context.random.randrange(LOCKS)
            text, holds = _condition(context.random, lock)
            states = [processes[process].state(lock, index) for index in processes[process].rises(lock, holds)][:3]
            if not states:
                continue
            commands = [f"stop if p{process}: {text}"] + ["continue", *_looks(process)] * len(states)
            _expect(context, recording, f"times{number}", commands, sum(states, []))
            other_text, other_holds = _condition(context.random, lock)
            others = [processes[3 - process].state(lock, index) for index in processes[3 - process].rises(lock, other_holds)][:1]
            if others:
                commands = [f"stop if p{process}: {text} && p{3 - process}: {other_text}", "continue", *_looks(process), *_looks(3 - process)]
                _expect(context, recording, f"both{number}", commands, states[0] + others[0])


def test_debug_parallel_one_of(context):
    """What two locks guard has a first state for each, unless one is before the other."""
    for _ in range(context.rounds(1, 10)):
        recording, processes = _recorded(context)
        for number in range(context.rounds(3, 10)):
            found, texts = [], []
            for lock in range(LOCKS):
                text, holds = _condition(context.random, lock)
                rises = processes[1].rises(lock, holds)
                texts.append(f"p1: {text}")
                if rises:
                    writer = processes[1].writes[lock][rises[0]][0]
                    found.append((writer, processes[1].state(lock, rises[0])))
            if len(found) < 2:
                continue

            def includes(state, other):
                """The writer has to have done the write itself, and not only come to it."""
                writer, reached = other
                return all(mine >= its for mine, its in zip(state[1], reached)) and (
                    state[1][writer] > reached[writer] or (state[0] == writer and state[1][writer] >= reached[writer]))
            least = [state for state in found if not any(includes(state, other) for other in found if other is not state)]
            said = debug(context, recording, f"stop if {' || '.join(texts)}", "continue", *_looks(1), "run to state 2", *_looks(1),
                         label=f"one{number}")
            reached = values(said.stdout.decode())
            reached = [reached[:THREADS], reached[THREADS:]][:len(least)]
            expected = sorted(state for _, state in least)
            context.expect(sorted(reached) == expected, f"{recording}: {texts}: {expected} expected, not {reached}", said)


LATE = r"""#include <pthread.h>
#include <unistd.h>
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int state;
static void* late(void* unused) {
  usleep(20000);
  pthread_mutex_lock(&mutex);
  state |= 1;
  pthread_mutex_unlock(&mutex);
  return unused;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, late, NULL);
  pthread_mutex_lock(&mutex);
  state |= 2;
  pthread_mutex_unlock(&mutex);
  return pthread_join(thread, NULL);
}
"""


def test_debug_parallel_begins(context):
    """What another thread has written before one begins, without an order, is not what that one finds there."""
    recording = context.path("late.rec")
    context.record(recording, [compile_c(context, "late", LATE, "-O0", "-pthread")], ["--threads=parallel"])
    for _ in range(3):
        said = debug(context, recording, "stop if p1.2: state >= 1", "continue", "print state & 1", label="late")
        context.expect(values(said.stdout.decode()) == [1], "late", said)
