"""Loops in which points are hit all the time, and the tracer does what lies between: nothing is passed over, and every state can be gone to."""
from building import compile_c
from debugging import debug, values

SOURCE = r"""#include <stdio.h>
volatile int x, y;
int f(int n) {
  y = n;
  return n + y;
}
int is_five(int v) { return v == 5; }
static void smash(void) {
  void* volatile* frame = __builtin_frame_address(0);
  frame[1] = (void*)0x4141414141414141;
}
int main(int count, char** arguments) {
  long s = 0;
  for (int i = 0; i < 2000; i++) {
    x = i % 1000;
    y = i + 1;
    s += y;
  }
  for (int i = 0; i < 2000; i++) {
    s += f(i);
  }
  printf("%ld\n", s);
  fflush(stdout);
  if (count > 1) smash();
  return 0;
}
"""


def _recorded(context, *arguments):
    recording = context.path("recording" + "".join(arguments))
    context.record(recording, [compile_c(context, "loops", SOURCE, "-g", "-O0"), *arguments])
    return recording


def test_debug_ahead(context):
    """A breakpoint behind a watched write, a function whose last write before its first line is watched, a called function."""
    recording = _recorded(context)
    sessions = (
        (["watch x if x > 100000", "break loops.c:17 if i == 500", "continue", "print i"], [500]),
        (["watch x if x > 100000", "break loops.c:17 if i >= 500", "continue", "continue", "print i", "delete", "break loops.c:23", "continue", "back",
          "print i"], [501, 501]),
        (["stop if p1: n == 1500 in f", "continue", "print n", "print y"], [1500, 1499]),
        (["stop if p1: x == -1 || p1: i == 500 at loops.c:17", "continue", "print i"], [500]),
        (["stop if p1: is_five(x)", "continue", "print x", "print y"], [5, 5]),
        (["stop if p1: x == 5 && p1: y > 1000", "continue", "print x", "print y"], [5, 1005]),
    )
    for commands, expected in sessions:
        said = debug(context, recording, "break main", "continue", "delete", *commands)
        context.expect(values(said.stdout.decode()) == expected, f"{commands}: {values(said.stdout.decode())} instead of {expected}", said)


def test_debug_ahead_crash(context):
    """Who returns to nowhere crashes in the function that returns."""
    recording = _recorded(context, "smash")
    for commands in ([], ["break main", "continue", "delete", "watch y if y < 0"]):
        said = debug(context, recording, *commands, "continue", "frame")
        context.expect("smash () at" in said.stdout.decode(), f"{commands}: the frame is lost", said)


NULL = r"""struct Pair { int one, other; };
volatile int x;
struct Pair pair = {1, 2};
struct Pair* volatile there;
int main(void) {
  for (int i = 0; i < 2000; i++) {
    there = i % 2 ? &pair : 0;
    x = i;
  }
  for (int i = 2000; i < 4000; i++) {
    x = i;
    if (i == 3990) there->other = there->one;
    there = i < 3980 ? &pair : 0;
  }
  return 0;
}
"""


def test_debug_ahead_of_null(context):
    """Nothing is at null: what is read there has no value, and who reads it is done no further for than the processor goes."""
    recording = context.path("null.rec")
    context.record(recording, [compile_c(context, "null", NULL, "-g", "-O0")])
    for predicate in ("p1: there->one != 1", "p1: x == 3995", "p1: x >= 0 && there->one * 0 + there->other != 2"):
        said = debug(context, recording, f"stop if {predicate}", "continue", label=predicate)
        context.expect("held never" in said.stdout.decode(), predicate, said)
    said = debug(context, recording, "stop if p1: x == 3990", "continue", "print x", "continue", label="last")
    context.expect(b"$1 = 3990" in said.stdout and b"SIGSEGV" in said.stdout, "last", said)
