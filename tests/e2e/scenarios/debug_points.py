"""Breakpoints of pastcone debug as users of gdb name, list, count and clear them; and what a stop at one shows."""
import re

from building import compile_c
from debugging import debug, expect_lines, values

SOURCE = r"""#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int total;
int square(int n) {
  total += n * n;
  return total;
}
int work(int n) {
  int r = square(n);
  return r + 1;
}
int main(void) {
  for (int i = 1; i <= 6; i++) work(i);
  if (fork() == 0) {
    total = 1000;
    _exit(0);
  }
  wait(0);
  puts("done");
  return 0;
}
"""

INLINED = r"""#include <stdio.h>
volatile int total;
static inline __attribute__((always_inline)) void inner(int n) { total = n; }
static inline __attribute__((always_inline)) void outer(int n) {
  inner(n);
  total++;
}
__attribute__((noinline)) void work(void) {
  outer(3);
  outer(4);
}
int main(void) {
  work();
  printf("%d\n", total);
  return 0;
}
"""


GONE = r"""int total;
int gone(int n);
int main(void) {
  total = gone(3);
  return 0;
}
#line 100 "gone.c"
int gone(int n) {
  total += n;
  return 0;
}
"""


def _recorded(context, source=SOURCE, *flags):
    program = compile_c(context, "subject", source, *(flags or ["-O0"]))
    recording = context.path("recording")
    context.expect(context.record(recording, [program]).status == 0, "recording")
    return recording


def test_debug_points_named(context):
    """Conditions in brackets and at addresses, options for places, lists and ranges of numbers, $bpnum."""
    recording = _recorded(context)
    said = debug(context, recording, "break work if(n==2)", "break *square if total == 5", "break -function square", "condition $bpnum n == 5",
                 "info breakpoints 3", "continue", "print n", "continue", "print total", "continue", "print n", "delete 1-$bpnum", "info breakpoints", label="named")
    text = said.stdout.decode()
    context.expect(said.status == 0 and values(text) == [2, 5, 5], f"values {values(text)}", said)
    expect_lines(context, text, "Breakpoint 3 at", "Num ", "3       breakpoint", "Breakpoint 1, work (n=2)", "Breakpoint 2, ", "Breakpoint 3, square (n=5)",
                 "No breakpoints or watchpoints.")
    context.expect("1       breakpoint" not in text, "only the one asked for is listed", said)
    said = debug(context, recording, "delete 1", "break work", "delete 7 1", "info breakpoints", label="the rest is done")
    context.expect("No breakpoints" in said.stdout.decode() and said.stderr.count(b"No breakpoint number") == 2, "the rest is done", said)


def test_debug_points_disposed(context):
    """Once, so often, until deleted; what is cleared; counts begin anew with the run."""
    recording = _recorded(context)
    said = debug(context, recording, "break work", "break square", "enable once 1", "enable count 2 2", "info breakpoints", "tbreak all subject: 20",
                 *["continue", "print n"] * 3, "continue", "info breakpoints", label="disposed")
    text = said.stdout.decode()
    context.expect(values(text) == [1, 1, 2], f"values {values(text)}", said)
    expect_lines(context, text, "1       breakpoint     dis  y", "2       breakpoint     dis  y", "Temporary breakpoint 3, main", "1       breakpoint     keep n",
                 "2       breakpoint     keep n")
    text = debug(context, recording, "break work", "break square", "break 10", "run", "info breakpoints", "run", "info breakpoints", "clear work", "clear",
                 "info breakpoints", label="cleared").stdout.decode()
    context.expect("hit 2 times" not in text, f"a run counts its own hits:\n{text}")
    expect_lines(context, text, "hit 1 time", "Deleted breakpoints 1 3", "Num ", "2       breakpoint")


def test_debug_points_not_hidden(context):
    """Commands of gdb that set breakpoints set ours; what cannot be is refused, and sets none."""
    recording = _recorded(context)
    said = debug(context, recording, "hbreak work", "rbreak ^squ", "thbreak main", "info breakpoints", "continue", "continue", "continue", label="ours")
    expect_lines(context, said.stdout.decode(), "Breakpoint 1 at", "Breakpoint 2 at", "Temporary breakpoint 3 at", "Num ", "Temporary breakpoint 3, main",
                 "Breakpoint 1, work (n=1)", "Breakpoint 2, square (n=1)")
    for command in ("catch fork", "dprintf 10,\"%d\", n", "handle SIGUSR1 stop", "save breakpoints x", "explore total"):
        said = debug(context, recording, command, "info breakpoints", label=command)
        context.expect(said.status == 1 and said.stderr.count(b"\n") == 1 and b"No breakpoints" in said.stdout, command, said)


def test_debug_points_lines_of_all(context):
    """A line alone is one of the file that is shown, in every process."""
    text = debug(context, _recorded(context), "break work", "continue", "delete", "break all 16", "continue all").stdout.decode()
    expect_lines(context, text, "[Switching to p2]", "Breakpoint 2, main () at", "16\t")


def test_debug_points_after_the_end(context):
    """What a gdb had set where its process ended stops nobody in the next run."""
    text = debug(context, _recorded(context), "break main", "continue", "continue", "run", "bt").stdout.decode()
    context.expect(text.count("Breakpoint 1, main () at") == 2 and "#0  main () at" in text, f"twice:\n{text}")


def test_debug_points_of_the_ended(context):
    """Where a breakpoint was is listed when its process has ended, too."""
    text = debug(context, _recorded(context), "break work", "break all square", "ignore 1 100", "ignore 2 100", "continue all", "info breakpoints").stdout.decode()
    expect_lines(context, text, "the recording ends here", "in work at ", "in square at ")
    context.expect("<PENDING>" not in text, f"they are known:\n{text}")


def test_debug_points_of_programs_to_come(context):
    """What only a program has that is executed later is pending; what none has is refused, for one process as for all."""
    program = compile_c(context, "subject", SOURCE, "-O0")
    recording = context.path("recording")
    context.expect(context.record(recording, ["sh", "-c", f"{program}; true"]).status == 0, "recording")
    said = debug(context, recording, "break all wrok", "break wrok", "break p2: wrok", "break all 1 2 x", "info breakpoints", label="refused")
    lines = said.stderr.decode().splitlines()
    context.expect(said.status == 1 and len(lines) == 4 and "No breakpoints" in said.stdout.decode(), "refused", said)
    context.expect("no program or library of the recording has wrok; 'set breakpoint pending on'" in lines[2], "of one that has not begun", said)
    text = debug(context, recording, "break all work", "continue all", "bt", label="to come").stdout.decode()
    expect_lines(context, text, "Breakpoint 1 (work) pending.", "Breakpoint 1, work (n=1)", "#0  work (n=1)")


def test_debug_points_inlined(context):
    """The function that has the breakpoint is shown, not one that is inlined there, nor the one it is inlined into."""
    recording = _recorded(context, INLINED, "-O2")
    for name in ("work", "outer", "inner"):
        text = debug(context, recording, f"break {name}", "continue", "bt", "next", "restart", "run", label=name).stdout.decode()
        context.expect(len(re.findall(rf"^Breakpoint 1, .*{name} \(", text, re.MULTILINE)) == 2, f"{name}:\n{text}")
        context.expect(re.search(rf"^#0 .*\b{name} \(", text, re.MULTILINE), f"{name} is innermost:\n{text}")


def test_debug_points_without_source(context):
    """A line whose file is gone is named all the same, the first time too."""
    recording = _recorded(context, GONE)
    text = debug(context, recording, "break 4", "continue", "step", "stepi", "next").stdout.decode()
    context.expect(re.search(r"^101\t.*gone\.c: No such file or directory\.$", text, re.MULTILINE), f"named:\n{text}")
    context.expect(re.search(r"^0x\w+\t101\tin .*gone\.c\n102\tin .*gone\.c$", text, re.MULTILINE), f"steps:\n{text}")


def test_debug_points_variables(context):
    """Convenience variables are those of the debugger, whichever process is in focus; registers are not."""
    recording = _recorded(context)
    text = debug(context, recording, "set $least = 3", "break square if n > $least", "continue", "print n", "set $least = 5", "continue", "print n").stdout.decode()
    context.expect(values(text) == [4, 6], f"in conditions:\n{text}")
    text = debug(context, recording, "break all 16", "set $limit = 7", "set $name = \"ann\"", "continue all", "print $limit + 1", "set var $limit = 9",
                 "set $rbx = 77", "print $rbx", "focus p1", "print $limit", "print $name", "print $bpnum", "print $rbx == 77").stdout.decode()
    context.expect(values(text) == [8, 77, 9, 1, 0] and '= "ann"' in text, f"shared:\n{text}")
