"""What a predicate means does not depend on where its process stands; and memory may change without being written to."""
from building import compile_c
from debugging import debug, expect_lines, line_of, values

SHADOWS = r"""#include <sys/wait.h>
#include <unistd.h>
int count, flags, ret, pid;
__attribute__((noinline)) void shadow(void) {
  static int count;
  count += 10;  // in shadow
  getppid();
}
int main(void) {
  shadow();
  count = 1;
  getppid();
  shadow();
  count = 2;  // set
  getppid();
  if (fork() == 0) {
    getppid();
    flags = 5;  // child
    ret = 6;
    getppid();
    _exit(0);
  }
  return wait(0) < 0;
}
"""

DROPPED = r"""#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>
volatile int* here;
volatile int step;
char bytes[64];
int main(int argc, char** argv) {
  volatile int* other = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  here = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  here[0] = 1;
  step = 1;
  switch (argc) {
    case 1: madvise((void*)here, 4096, MADV_DONTNEED); break;
    case 2: mmap((void*)here, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0); break;
    default: mremap((void*)other, 8192, 8192, MREMAP_MAYMOVE | MREMAP_FIXED, (void*)here); break;
  }
  step = 2;
  getppid();
  step = 3;
  here[0] = 4;
  for (int i = 0; i < 3000; i++) bytes[8] = i & 127, *(int*)bytes = i;
  return argv == 0;
}
"""

# What is called behind a function writes where that had its variable.
CALLS = r"""#include <string.h>
int* volatile kept;
volatile int rounds, below;
__attribute__((noinline)) void with(int i) {
  volatile int x = i;
  kept = (int*)&x;
  rounds = x;  // with
}
__attribute__((noinline)) void without(int i) {
  volatile int other = 1000 + i;
  below = other + strlen("some");
}
__attribute__((noinline)) int deep(int n) {
  volatile int x = n;
  if (n > 0) with(100 * n);
  return n > 0 ? deep(n - 1) + x : 0;
}
int main(void) {
  for (int i = 1; i <= 200; i++) {
    with(i);
    without(i);
    if (i % 50 == 0) deep(3);
  }
  return 0;
}
"""


def _record(context, source, *arguments):
    recording = context.path(f"subject-rec-{len(arguments)}")
    recorded = context.record(recording, [compile_c(context, "subject", source, "-O0"), *arguments])
    context.expect(recorded.status == 0, "record", recorded)
    return recording


def test_debug_names_of_locals(context):
    """Globals are meant, even if the process stands in a function that has such a name, or did when it was forked."""
    recording = _record(context, SHADOWS)
    inside = f"tbreak {line_of(SHADOWS, 'in shadow')}"
    for before in ([], [inside], [inside, "continue"]):
        said = debug(context, recording, *before, "stop if p1: count == 2", *["continue"] * (1 + (before == [inside])), "print ::count",
                     label=f"shadow {before}")
        context.expect(said.status == 0 and values(said.stdout.decode()) == [2], f"after {before}", said)
    for expression, value in (("flags == 5", 5), ("flags & 1", 5), ("ret == 6", 5), ("flags == 0", 0)):
        said = debug(context, recording, f"stop if p2: {expression}", "continue", "print ::flags", label=expression)
        context.expect(said.status == 0 and values(said.stdout.decode()) == [value], expression, said)
    said = debug(context, recording, "stop if p2: flags == 0x1200011", "continue", label="never")
    expect_lines(context, said.stdout.decode(), "held never")


def test_debug_memory_that_is_dropped(context):
    """madvise, mmap and mremap may change what is at a place, without writing there."""
    for arguments in ([], ["fixed"], ["moved", "there"]):
        recording = _record(context, DROPPED, *arguments)
        said = debug(context, recording, "stop if p1: here && *here == 0 && step > 0", "continue", "print step", "print *here",
                     "continue", label=f"dropped {arguments}")
        text = said.stdout.decode()
        context.expect(said.status == 0 and values(text) == [1, 0], f"{arguments}", said)


def test_debug_arrays_looked_into(context):
    """A cast of an array is compiled, not asked of gdb at each of many writes."""
    recording = _record(context, DROPPED)
    said = debug(context, recording, "stop if p1: *(int*)bytes == 2999", "continue", "print *(int*)bytes", label="arrays")
    context.expect(said.status == 0 and values(said.stdout.decode()) == [2999], "arrays", said)


def test_debug_variables_of_calls(context):
    """Others write where a call had its variable; that counts for who names the place, and for nobody else."""
    recording = _record(context, CALLS)
    for predicate, stops in (("x == 150 in with", [150]), ("x == 300 in with", [300] * 4), ("x > 197 && x < 200 in with", [198, 199]),
                             ("x == 2 in deep", [2] * 4)):
        said = debug(context, recording, f"stop if p1: {predicate}", *["continue", "print x"] * len(stops), "continue", label=predicate)
        context.expect(values(said.stdout.decode()) == stops and b"again" in said.stdout, predicate, said)
    said = debug(context, recording, "stop if p1: x == 150 in with || p1: *kept == 1120", "continue", "print rounds", "continue", "print x",
                 label="both")
    context.expect(said.status == 0 and values(said.stdout.decode()) == [120, 150], "both", said)


VFORKS = r"""#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>
int failed, x;
int words[40];
int main(void) {
  for (int i = 0; i < 20; i++) x = i;
  if (vfork() == 0) {
    for (int i = 0; i < 40; i++) words[i] = i;
    execl("/nonexistent", "nothing", (char*)0);
    failed = errno;
    _exit(0);
  }
  x = 100;
  wait(0);
  words[3] = 7;
  x = 101;
  return 0;
}
"""


def test_debug_memory_of_vfork(context):
    """What a child of vfork writes is its parent's, too, from the parent's next event on; and it leaves no guarded pages there."""
    recording = context.path("vforks.rec")
    context.record(recording, [compile_c(context, "vforks", VFORKS, "-O0")])
    for predicate, shown, expected in (("p1: failed == 2", "failed", [2]), ("p1: failed == 2 && p1: x == 101", "x", [101]),
                                       ("p1: words[3] == 3", "words[39]", [39]),
                                       ("p2: words[0] + words[3] + words[9] + words[20] + words[30] + words[39] == 62", "words[30]", [30]),
                                       ("p1: words[0] + words[3] + words[9] + words[20] + words[30] + words[39] == 105", "words[3]", [7])):
        said = debug(context, recording, f"stop if {predicate}", "continue", f"print {shown}", "delete", "continue all", label=predicate)
        context.expect(values(said.stdout.decode()) == expected and b"diverged" not in said.stdout + said.stderr, predicate, said)


CALLED = r"""#include <string.h>
#include <unistd.h>
struct Pair { int one, other, third, fourth; };
int x, never, sum;
static void called(void) { sum++; }
static int filled(int n) {
  struct Pair own;
  struct Pair given = {n % 3, n % 4, n % 5, n % 6};
  memcpy(&own, &given, sizeof own);
  own.third = n % 2;
  return own.one + own.other;
}
int main(void) {
  getppid();
  x = 1;
  getppid();
  called();
  called();
  for (int i = 0; i < 60; i++) sum += filled(i);
  return 0;
}
"""


def test_debug_holds_on(context):
    """Where one was stopped by something else, what has held since it was shown is no news; nor is what a call before has left in a structure."""
    recording = context.path("called.rec")
    context.record(recording, [compile_c(context, "called", CALLED, "-O0")])
    said = debug(context, recording, "stop if p1: x == 1", "continue", "break called", *["continue", "print sum"] * 2, "next", "continue", label="called")
    text = said.stdout.decode()
    context.expect(values(text) == [0, 1] and text.count("does not hold again") == 3 and "the recording ends here" in text, "called", said)
    said = debug(context, recording, "stop if p1: own.one == 1 && own.other == 2 in filled && p1: never == 1", "continue", label="filled")
    context.expect(b"in filled held 5 times" in said.stdout, "filled", said)


PARTED = r"""#include <stdio.h>
int calls, never, sum;
volatile int zero;
__attribute__((noinline, cold)) void rarely(int x) {
  sum = x;
  throw x;
}
__attribute__((noinline)) int parted(int x) {
  volatile int own;
  calls++;
  if (x == 77) rarely(x);
  own = x % 3;
  sum += own;
  return x;
}
int main() {
  try {
    for (int i = 0; i < 9; i++) parted(i + zero);
  } catch (int) {
  }
  printf("%d\n", sum);
  return 0;
}
"""


def test_debug_parted_functions(context):
    """A function of which a part lies elsewhere, below its beginning: its variables have no value either before they get one."""
    recording = context.path("parted.rec")
    context.record(recording, [compile_c(context, "parted", PARTED, "-O2", compiler="g++")])
    said = debug(context, recording, "stop if p1: own == 1 in parted && p1: never == 1", "continue", label="parted")
    context.expect(b"in parted held 3 times" in said.stdout, "parted", said)
