"""Threads that wait for their turn, in an event or behind it, while others are stopped: they are come back to, and go on."""
import re

from building import compile_c
from debugging import debug, values

# A thread that has computed for long gives up the turn behind its write: what it wrote is received while it waits for it.
SERIAL = r"""
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
enum { kThreads = 3, kRounds = 4 };
static int ends[kThreads][2];
static volatile int served;
static void serve(int self) { served += self + 1; }
static void* work(void* argument) {
  int self = (int)(long)argument;
  for (int round = 0; round < kRounds; round++) {
    struct pollfd ask = {ends[self][0], POLLIN, 0};
    char byte;
    if (poll(&ask, 1, -1) != 1 || read(ends[self][0], &byte, 1) != 1) abort();
    for (volatile int i = 0; i < 3000000; i++) {}
    if (write(ends[self][0], &byte, 1) != 1) abort();
    serve(self);
  }
  return NULL;
}
int main(void) {
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; i++) {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends[i])) abort();
    if (fork() != 0) continue;
    for (int round = 0; round < kRounds; round++) {
      char byte = 'a';
      if (write(ends[i][1], &byte, 1) != 1 || read(ends[i][1], &byte, 1) != 1) abort();
    }
    _exit(0);
  }
  for (long i = 0; i < kThreads; i++) pthread_create(&threads[i], NULL, work, (void*)i);
  for (int i = 0; i < kThreads; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < kThreads; i++) wait(NULL);
  return 0;
}
"""
STOPS = 12  # of threads and rounds

# The threads sleep in poll while children come to their ends, where everybody is stopped; then each is woken.
PARALLEL = r"""
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
enum { kThreads = 3 };
static int ends[kThreads][2];
static volatile int served;
static void serve(int self) { served += self + 1; }
static void* work(void* argument) {
  int self = (int)(long)argument;
  struct pollfd ask = {ends[self][0], POLLIN, 0};
  char byte;
  if (poll(&ask, 1, -1) != 1 || read(ends[self][0], &byte, 1) != 1) abort();
  serve(self);
  return NULL;
}
int main(void) {
  pthread_t threads[kThreads];
  for (long i = 0; i < kThreads; i++)
    if (pipe(ends[i]) || pthread_create(&threads[i], NULL, work, (void*)i)) abort();
  for (int i = 0; i < 2; i++) {
    usleep(20000);
    if (fork() == 0) _exit(1);
    wait(NULL);
  }
  for (int i = 0; i < kThreads; i++)
    if (write(ends[i][1], "a", 1) != 1) abort();
  for (int i = 0; i < kThreads; i++) pthread_join(threads[i], NULL);
  return 0;
}
"""


def _recorded(context, name, source, options=()):
    program = compile_c(context, name, source, "-O0", "-pthread")
    recording = context.path(f"{name}.rec")
    recorded = context.record(recording, [program], options)
    context.expect(recorded.status == 0, "recording", recorded)
    return recording


def test_debug_turn_behind_event(context):
    """Stops while threads wait for their turn behind an event are come back to: all processes stand there as they did."""
    recording = _recorded(context, "turns", SERIAL)
    on = ["continue", "print served", "cut"] * STOPS
    back = ["back", "print served", "cut"] * (STOPS - 1)
    result = debug(context, recording, "break serve", *on, *back)
    text = result.stdout.decode()
    stops = list(zip(values(text), re.findall(r"^pastcone cut (.*)$", text, re.M)))
    context.expect(result.status == 0 and len(stops) == 2 * STOPS - 1, "every stop should be come back to", result)
    for number, (there, again) in enumerate(zip(stops[: STOPS - 1], reversed(stops[STOPS:]))):
        context.expect(there == again, f"stop {number}: {again} instead of {there}", result)


def test_debug_turn_in_event(context):
    """In parallel mode: threads that wait for their turn in an event while somebody else is stopped go on from there."""
    recording = _recorded(context, "woken", PARALLEL, ["--threads=parallel"])
    result = debug(context, recording, "break serve", *["continue all"] * 6)
    text = result.stdout.decode()
    for expected in ("p2 exits with status 1.", "p3 exits with status 1.", "serve (self=0)", "serve (self=1)", "serve (self=2)"):
        context.expect(text.count(expected) == 1, f"{expected!r} should be there once", result)
    context.expect("the recording ends here" in text, "it should come to its end", result)
