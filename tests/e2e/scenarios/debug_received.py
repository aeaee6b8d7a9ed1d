"""Predicates on variables that calls write into: they count from the end of the call, and not in the middle of it."""
import random
import re

from building import compile_c
from debugging import debug, values

PROGRAM = r"""#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

struct { int64_t a, b; } whole;
struct { int64_t b; char between[5000]; int64_t a; } apart;
struct __attribute__((packed)) { char first; int64_t a; char third; int64_t b; } packed;
int64_t table[8] = {30, 31, 32, 33, 34, 35, 36, 37};
int done, never, in;

static void plain(void) {
  while (read(in, &whole, sizeof whole) == sizeof whole) ++done;
}
static void vectors(void) {
  struct iovec parts[] = {{&apart.a, 8}, {&apart.b, 8}};
  while (readv(in, parts, 2) == 16) ++done;
}
static void odd(void) {
  struct iovec parts[] = {{&packed.a, 8}, {&packed.b, 8}};
  while (readv(in, parts, 2) == 16) ++done;
}
// What has been received before is copied, by instructions that write twice where they overlap.
static void buffered(void) {
  FILE *file = fdopen(in, "r");
  while (fread(&whole, sizeof whole, 1, file) == 1) ++done;
}
static void local(void) {
  struct { int64_t a, b; } own = {0, 0};
  while (recv(in, &own, sizeof own, 0) == sizeof own) ++done;
}
static void *runs(void *unused) {
  plain();
  return unused;
}
static void thread(void) {
  pthread_t other;
  pthread_create(&other, NULL, runs, NULL);
  pthread_join(other, NULL);
}
static void threads(void) {
  pthread_t others[3];
  for (int i = 0; i < 3; ++i) pthread_create(&others[i], NULL, runs, NULL);
  for (int i = 0; i < 3; ++i) pthread_join(others[i], NULL);
}

int main(int count, char **arguments) {
  int ends[2], messages = atoi(arguments[2]);
  socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
  if (fork() == 0) {
    close(ends[1]);
    in = ends[0];
    struct { const char *name; void (*run)(void); } ways[] = {
        {"plain", plain}, {"vectors", vectors}, {"odd", odd}, {"buffered", buffered}, {"local", local}, {"thread", thread},
        {"threads", threads}, {"indexed", plain}};
    for (int i = 0; i < 8; ++i)
      if (strcmp(arguments[1], ways[i].name) == 0) ways[i].run();
    _exit(0);
  }
  close(ends[0]);
  srand(atoi(arguments[3]));
  for (int i = 0; i < messages; ++i) {
    int64_t pair[] = {rand() % 5 + (1 << 30) * 5ll, rand() % 5 - (1 << 30) * 3ll};
    printf("%lld\n", (long long)(pair[0] + pair[1]));
    write(ends[1], pair, sizeof pair);
  }
  close(ends[1]);
  wait(NULL);
  return 0;
}
"""

WAYS = {
    "plain": "whole.a + whole.b == {}",
    "vectors": "apart.a + apart.b == {}",
    "odd": "packed.a + packed.b == {}",
    "buffered": "whole.a + whole.b == {}",
    "local": "own.a + own.b == {} in local",
    "thread": "whole.a + whole.b == {}",
    "threads": "whole.a + whole.b == {}",
    # What it reads is another each time: the runtime cannot tell all of that.
    "indexed": "whole.a != 0 && table[(whole.a + whole.b) & 7] == table[{} & 7]",
}
HELD = re.compile(r"p2: .*? held ([\d,]+|once|twice|never)")
NUMBERS = {"never": 0, "once": 1, "twice": 2}


def _counted(text):
    match = HELD.search(text.split("from here on:")[-1])
    return match and int(NUMBERS.get(match.group(1), match.group(1).replace(",", "")))


def _check(context, recording, way, sums, wanted):
    predicate = "p2: " + WAYS[way].format(wanted)
    if way == "indexed":
        sums, wanted = [now & 7 for now in sums], wanted & 7
    times = [k for k, now in enumerate(sums) if now == wanted and (k == 0 or sums[k - 1] != wanted)]
    commands = [f"stop if {predicate}"]
    # Of several threads, one may have received before another one has counted.
    several = way == "threads"
    looks = f"print whole.a + whole.b == {wanted}" if several else "print done"
    expected = [1] * len(times[:3]) if several else times[:3]
    for _ in expected:
        commands += ["continue", "focus p2", looks]
    if times:
        said = debug(context, recording, *commands, label=predicate)
        shown = values(said.stdout.decode())
        context.expect(shown == expected, f"{way}: {predicate}: {shown} instead of {expected}", said)
    said = debug(context, recording, f"stop if {predicate} && p1: never == 1", "continue", label=f"{predicate}, counted")
    counted = _counted(said.stdout.decode())
    context.expect(counted == len(times), f"{way}: {predicate} held {counted} times instead of {len(times)}", said)


def test_debug_received(context):
    context.need("gcc", "gdb")
    program = compile_c(context, "received", PROGRAM, "-O0", "-pthread")
    for round_ in range(context.rounds(1, 10)):
        for way in WAYS:
            recording, seed = context.path(f"{way}{round_}"), 100 * round_ + 7
            done = context.record(recording, [program, way, "60", str(seed)])
            sums = [int(line) for line in done.stdout.decode().split()]
            context.expect(len(sums) == 60, f"{way}: recorded", done)
            for wanted in random.Random(seed).sample(sorted(set(sums)), 2):
                _check(context, recording, way, sums, wanted)
