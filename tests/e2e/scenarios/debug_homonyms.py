"""Several functions of one name: each counts, and what a condition names says which are meant."""
from building import compile_c
from debugging import debug, expect_lines

PROGRAM = r"""#include <unistd.h>
int count;
static int helper(int given) {
  int twice = given * 2;
  count += twice;
  return getpid() ? twice : 0;
}
int other(int);
int main(void) {
  for (int i = 0; i < 4; i++) {
    helper(i);
    other(i);
  }
  return 0;
}
"""

OTHER = r"""#include <unistd.h>
extern int count;
static int helper(int number) {
  int more = number + 100;
  count += more;
  return getppid() ? more : 0;
}
int other(int number) { return helper(number); }
static inline __attribute__((always_inline)) int copied(int number) { return number + count; }
int use(int number) { return copied(number); }
"""


def _record(context):
    context.need("gdb")
    other = context.write("other.c", OTHER)
    recording = context.path("recording")
    context.record(recording, [compile_c(context, "homonyms", PROGRAM, "-O0", other)])
    return recording


def test_debug_homonyms_predicates(context):
    """The first state in any of them, or in the one that has the variables; none that is missed."""
    recording = _record(context)
    for predicate, place, shown in (("count == 102 in helper", "homonyms.c", "twice = 2"), ("count == 203 in helper", "other.c", "more = 101"),
                                    ("more == 102 in helper", "other.c", "more = 102"), ("twice == 4 in helper", "homonyms.c", "twice = 4"),
                                    ("count > 200 && twice == 4 in helper", "homonyms.c", "twice = 4"), ("number == 2 at helper", "other.c", "more = ")):
        said = debug(context, recording, f"stop if p1: {predicate}", "continue", "info locals", label=predicate)
        text = said.stdout.decode()
        context.expect(f"{place}:" in text and f"\n{shown}" in text, f"{predicate}: {place}, {shown}", said)


def test_debug_homonyms_breakpoints(context):
    """As in gdb, a condition holds where it means something."""
    recording = _record(context)
    said = debug(context, recording, "break helper if given == 2", "break all helper if number == 1", "continue", "continue", "continue")
    expect_lines(context, said.stdout.decode(), "Breakpoint 2, helper (number=1)", "Breakpoint 1, helper (given=2)", "the recording ends here")
    context.expect(said.status == 0, "no error", said)


def test_debug_homonyms_refused(context):
    """What is not in any of them, or has no beginning of its own, is said so."""
    recording = _record(context)
    for predicate, why in (("i == 1 in helper", b'No symbol "i" in helper'), ("count == 2 in copied", b"copied is inlined in use"),
                           ("more == 2 && twice == 2 in helper", b"has all of that")):
        said = debug(context, recording, f"stop if p1: {predicate}", "continue", label=predicate)
        context.expect(said.status == 1 and why in said.stderr, predicate, said)
