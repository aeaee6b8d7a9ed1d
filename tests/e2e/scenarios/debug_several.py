"""Several predicates in one session: each is looked for from where one stands."""
from building import compile_c
from debugging import debug, values

SOURCE = r"""#include <sys/wait.h>
#include <unistd.h>
int n;
int main(void) {
  int ends[2];
  char c = 0;
  if (pipe(ends) != 0) return 1;
  if (fork() == 0) {
    for (n = 1; n < 10; n++)
      if (write(ends[1], &c, 1) != 1) return 1;
    return 0;
  }
  for (n = 1; n < 10; n++)
    if (read(ends[0], &c, 1) != 1) return 1;
  return wait(0) < 0;
}
"""


def test_debug_several_predicates(context):
    """One that was set later, and made the primary one, is not searched in the past; one that was passed is named."""
    recording = context.path("recording")
    context.record(recording, [compile_c(context, "several", SOURCE, "-g", "-O0")])
    session = debug(context, recording, "stop if p2: n == 5", "stop if p2: n == 3", "continue", "print n",
                    "stop if p1: n == 3", "stop if p2: n == 8 && p1: n == 2", "switch 4", "continue", "print n", "focus p1", "print n",
                    "delete 4", "delete 2", "delete 1", "continue", "print n")
    text = session.stdout.decode()
    context.expect(values(text) == [5, 8, 2, 3], f"n at the four stops: {values(text)}", session)
    context.expect("predicate 2 has held on the way" in text, "it does not name the one that was passed", session)
    context.expect("p2: n == 5 does not hold again" in text, "it does not say that the first one is over", session)
    context.expect("p2: n == 3 never holds from here on: p2: n == 3 held never" in text, "it does not count the second one", session)


def test_debug_several_counts(context):
    """What several parts of a disjunction have in common is counted once."""
    recording = context.path("recording")
    context.record(recording, [compile_c(context, "several", SOURCE, "-g", "-O0")])
    said = debug(context, recording, "stop if any several: n == 20 && p1: n == 3", "continue all").stdout.decode()
    context.expect(said.count("p1: n == 3 held 1 time") == 1 and said.count("n == 20 held never") == 2, f"counts: {said}")


def test_debug_several_alternatives(context):
    """Where one alternative has held, the others are still to come."""
    recording = context.path("recording")
    context.record(recording, [compile_c(context, "several", SOURCE, "-g", "-O0")])
    session = debug(context, recording, "stop if p2: n == 7 || p2: n == 3 || p2: n == 5", "continue", "print n", "continue", "print n",
                    "continue", "print n", "continue")
    text = session.stdout.decode()
    context.expect(values(text) == [3, 5, 7] and "does not hold again" in text, f"n at the stops: {values(text)}", session)
    session = debug(context, recording, "trace n if p2: n == 7 || p1: n == 6 || p2: n == 3", "continue")
    traced = [line.rsplit("= ", 1)[1] for line in session.stdout.decode().splitlines()[1:] if line.startswith("Trace 1:")]
    context.expect(traced[0] == "3" and sorted(traced) == ["3", "6", "7"], f"each alternative once: {traced}", session)
