"""Variables that are declared inside a function: they are there only while their block is executed, however it is left, and have no value
before they are written."""
from building import compile_c
from debugging import debug

PROGRAM = r"""#include <setjmp.h>
#include <unistd.h>
int phase;
static jmp_buf env;
static int walk(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) {
    phase = 10 + i;
    if (i == 2)
      continue;
    int twice = i * 2;
    sum += twice;
    if (twice == 8)
      break;
  }
  phase = 20;
  for (int i = 5; i > 0; i--) {
    phase = 20 + i;
    sum += i;
  }
  phase = 30;
  sum++;
  phase = 31;
  if (n > 1)
    walk(1);
  phase = 40;
  sum++;
  return sum;
}
static int choose(int op) {
  int result = 0;
  switch (op) {
    case 1: {
      int z = 11;
      result += z;
      break;
    }
    case 2:
      result = 2;
    case 3: {
      int z = 33;
      result += z;
      phase = 53;
      return result;
    }
    case 4: {
      int y = 44;
      result += y;
      goto out;
    }
    case 5:
      result = 5;
      break;
    case 6:
      result = 6;
      break;
  }
  phase = 50 + op;
out:
  phase = 60 + op;
  return result;
}
static void jumping(int n) {
  for (int k = 0; k < n; k++) {
    phase = 70 + k;
    if (k == 3)
      longjmp(env, 1);
  }
}
static void again(int n) {
  int kept;
  phase = 90 + n;
  kept = n;
  phase += kept;
}
static void search(void) {
  {
    int best;
    do {
      if (phase < 100)
        best = phase;
      phase = 110 + phase % 10;
      phase++;
    } while (phase < 114);
    phase = best;
  }
  if (0) {
    int best = 5;
    phase = best;
  }
}
int hidden = 7;
static void hiding(int p) {
  phase = 120;
  {
    int p = 8;
    phase = 121;
    int hidden = 9;
    phase = 122 + p + hidden;
  }
  phase = 123;
}
int main(void) {
  walk(7);
  for (int op = 1; op <= 6; op++)
    choose(op);
  if (setjmp(env) == 0)
    jumping(5);
  phase = 80;
  getpid();
  phase = 81;
  again(1);
  again(2);
  phase = 91;
  search();
  hiding(1);
  return 0;
}
"""

# What is asked, and then: which values of which expressions it holds with first; none: it never does.
HOLDS = (
    ("p1: i == 3 in walk", {"phase": 12, "i": 3, "n": 7}),
    ("p1: i == 4 && phase >= 20 in walk", {"phase": 25, "i": 4}),
    ("p1: i == 4 in walk && p1: phase == 20", None),
    ("p1: i == 0 in walk && p1: phase == 21", {"n": 7, "sum": 31}),
    ("p1: i == 0 in walk && p1: phase == 30", None),
    ("p1: i == 0 in walk && p1: phase == 31", {"n": 1}),
    ("p1: i >= 0 in walk && p1: phase == 40", None),
    ("p1: twice == 6 && i == 3 in walk", {"phase": 13}),
    ("p1: twice == 6 && i == 4 in walk", None),
    ("p1: twice == 2 in walk && p1: phase == 12", None),
    ("p1: twice == 8 in walk && p1: phase == 20", None),
    ("p1: twice == sum in walk && p1: phase == 11", {"sum": 2, "twice": 2}),
    ("p1: z == 11 in choose", {"op": 1, "result": 0}),
    ("p1: z == 11 in choose && p1: phase == 51", None),
    ("p1: z == 33 in choose", {"op": 2, "result": 2}),
    ("p1: z == 33 && op == 3 in choose", {"result": 0}),
    ("p1: z == 33 in choose && p1: phase == 53", {"result": 35}),
    ("p1: y == 44 in choose && p1: phase == 64", None),
    ("p1: y == 44 && result == 44 in choose", {"op": 4}),
    ("p1: z > 0 && op == 5 in choose", None),
    ("p1: k == 3 in jumping", {"phase": 72}),
    ("p1: k == 3 in jumping && p1: phase == 73", {"k": 3}),
    ("p1: k == 3 in jumping && p1: phase == 80", None),
    ("p1: n == 5 in jumping && p1: phase == 80", None),
    ("p1: kept == 2 in again", {"phase": 92}),
    ("p1: kept == 1 && n == 2 in again", None),  # it is where it was in the call before
    ("p1: best == 91 in search && p1: phase == 113", {"best": 91}),  # the block begins with a loop, and is not left
    ("p1: best == 5 in search", None),  # nor is there code of that one
    ("p1: p == 1 in hiding && p1: phase == 120", {"phase": 120}),
    ("p1: p == 1 in hiding && p1: phase == 121", None),
    ("p1: p == 8 in hiding && p1: phase == 121", {"p": 8}),
    ("p1: p == 1 in hiding && p1: phase == 123", {"p": 1}),
    ("p1: hidden == 9 in hiding && p1: phase == 121", {"hidden": 9, "p": 8}),
    ("p1: hidden == 7 in hiding && p1: phase == 121", None),
)

CATCHING = r"""#include <unistd.h>
int phase;
struct Guard {
  int number;
  ~Guard() { phase += 1000; getpid(); }
};
static void thrower(int n) {
  int given = n;
  if (given == 3) throw given;
}
static void between(int n) {
  int kept = n;
  Guard guard{n};
  thrower(n);
  phase = kept;
}
static void catching() {
  int sum = 0;
  try {
    for (int i = 0; i < 5; i++) {
      int held = i * 3;
      phase = 100 + i;
      if (held == 6) throw 1;
      sum += held;
    }
  } catch (int) {
    int caught = 9;
    phase = 200;
    sum += caught;
  }
  phase = 201;
}
int main() {
  catching();
  phase = 300;
  try {
    between(3);
  } catch (int) {
    phase = 301;
  }
  phase = 302;
  return 0;
}
"""

CAUGHT = (
    ("p1: held == 6 in catching", {"i": 2, "phase": 101}),
    ("p1: held == 6 in catching && p1: phase == 200", None),
    ("p1: caught == 9 in catching && p1: phase == 200", {"sum": 3}),
    ("p1: caught == 9 in catching && p1: phase == 201", None),
    ("p1: given == 3 in thrower && p1: phase == 300", {"n": 3}),
    ("p1: given == 3 in thrower && p1: phase == 1300", None),
    ("p1: kept == 3 in between && p1: phase == 1300", {"phase": 1300}),
    ("p1: kept == 3 in between && p1: phase == 301", None),
)


def _expect(context, recording, predicate, values):
    prints = [f"print {name}" for name in values or {}]
    said = debug(context, recording, f"stop if {predicate}", "continue", *prints, label=predicate)
    text = said.stdout.decode()
    if values is None:
        context.expect("never holds" in text and said.status == 0, f"{predicate} never holds", said)
        return
    shown = [int(line.split(" = ")[1]) for line in text.splitlines() if line.startswith("$")]
    context.expect(shown == list(values.values()), f"{predicate}: {values}", said)


def _expect_all(context, source, cases, compiler="gcc"):
    context.need("gdb")
    recording = context.path("recording")
    context.record(recording, [compile_c(context, "subject", source, "-O0", compiler=compiler)])
    for predicate, values in cases:
        _expect(context, recording, predicate, values)


def test_debug_inner_blocks(context):
    """Loops, cases, jumps out of blocks and of functions."""
    _expect_all(context, PROGRAM, HOLDS)


def test_debug_inner_blocks_clang(context):
    """Its functions' variables are told from the frame register itself."""
    some = [case for case in HOLDS if " in walk && p1: phase == 3" in case[0] or " in hiding" in case[0]]
    _expect_all(context, PROGRAM, some, "clang")


def test_debug_inner_blocks_exceptions(context):
    """What is thrown out of blocks and functions: the blocks that are cleaned up after are not executed any more."""
    _expect_all(context, CATCHING, CAUGHT, "g++")


THREADS = r"""#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
int phase, to_others[2], to_main[2];
static void* work(void* number) {
  long local = (long)number * 100;
  for (int i = 0; i < 10; i++) {
    local++;
    char c = 'x';
    if (i == 4 && (write(to_main[1], &c, 1) != 1 || read(to_others[0], &c, 1) != 1)) return 0;
  }
  if (local == 210) pthread_exit(0);
  return 0;
}
int main(void) {
  pthread_t threads[2];
  char c[2];
  if (pipe(to_others) != 0 || pipe(to_main) != 0) return 1;
  for (long i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, (void*)(i + 1));
  for (int i = 0; i < 2; i++)
    if (read(to_main[0], c, 1) != 1) return 1;
  phase = 1;
  if (write(to_others[1], "xx", 2) != 2) return 1;
  for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
  phase = 2;
  getpid();
  phase = 3;
  return 0;
}
"""


def test_debug_inner_blocks_threads(context):
    """The calls that threads are in where one begins to look; those that have ended are in none."""
    context.need("gdb")
    recording = context.path("recording")
    context.record(recording, [compile_c(context, "threads", THREADS, "-O0", "-pthread")])
    for predicate, values in (("p1: local == 107 in work", [107, 6]), ("p1: local == 209 in work", [209, 8]), ("p1.3: i == 7 in work", [207, 7]),
                              ("p1.2: local == 209 in work", []), ("p1: local == 104 in work", []),
                              ("p1: local == 210 in work && p1: phase == 2", []), ("p1: local == 110 in work && p1: phase == 2", [])):
        said = debug(context, recording, "stop if p1: phase == 1", "continue", "delete 1", f"stop if {predicate}", "continue",
                     *(["print local", "print i"] if values else []), label=predicate)
        text = said.stdout.decode()
        shown = [int(line.split(" = ")[1]) for line in text.splitlines() if line.startswith("$")]
        context.expect(shown == values and ("never holds" in text) == (not values) and said.status == 0, f"{predicate}: {values}", said)


def test_debug_inner_blocks_refused(context):
    """A block that no line begins in, and a variable that no block has."""
    context.need("gdb")
    recording = context.path("recording")
    program = "int g;\nvoid f(int n) {\n  g = n;\n  if (n == 3) { int i = 1; g = i; }\n  g = 2;\n}\nint main(void) { f(3); return 0; }\n"
    context.record(recording, [compile_c(context, "narrow", program, "-O0")])
    for name, why in (("i", b"no line begins in its block"), ("k", b'No symbol "k" in f.')):
        said = debug(context, recording, f"stop if p1: {name} == 1 in f", "continue", label=name)
        context.expect(said.status == 1 and why in said.stderr, name, said)
