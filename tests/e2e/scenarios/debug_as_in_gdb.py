"""What users of gdb expect of breakpoints, conditions and frames."""
import re

from building import compile_c
from debugging import debug, expect_lines, line_of, values

POINTERS = r"""#include <stdio.h>
struct Box {
  int x;
};
static int one(int x) { return x + 1; }
static int two(int x) { return x + 2; }
static int (*chosen)(int);
__attribute__((noinline)) static int look(struct Box* box, int i) {
  return box ? box->x : i;  // looks
}
int main(void) {
  struct Box box = {5};
  int sum = 0;
  for (int i = 0; i < 6; i++) {
    chosen = i & 1 ? two : one;
    sum += chosen(i);  // calls
    sum += look(i == 2 ? NULL : &box, i);
  }
  printf("%d\n", sum);
  return 0;
}
"""

OPERATORS = r"""struct Number {
  int x;
  bool operator<(const Number& other) const {
    return x < other.x;  // less
  }
  Number& operator+=(int n) {
    x += n;
    return *this;
  }
};
int main() {
  Number a{1}, b{2};
  int sum = 0;
  for (int i = 0; i < 4; i++) {
    sum += a < b;
    a += i;
  }
  return sum - 2;
}
"""

HANDLER = r"""#include <signal.h>
#include <stdio.h>
static volatile int count;
static void handle(int signal) {
  count += signal;  // handles
}
int main(void) {
  signal(SIGUSR1, handle);
  for (int i = 0; i < 3; i++) raise(SIGUSR1);
  printf("count %d\n", count);
  return 0;
}
"""

DEATHS = r"""#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int progress;
int main(void) {
  for (int i = 0; i < 3; i++) {
    pid_t child = fork();
    if (child == 0) {
      if (i == 0) abort();
      if (i == 1) raise(SIGTERM);
      kill(getpid(), SIGKILL);
    }
    waitpid(child, NULL, 0);
    progress++;
  }
  return 0;
}
"""

LOOP = r"""#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
static volatile int over;
static volatile long rounds;
static void end(int signal) { over = signal; }
int main(void) {
  struct itimerval soon = {{0, 0}, {0, 300000}};
  signal(SIGALRM, end);
  setitimer(ITIMER_REAL, &soon, NULL);
  while (!over) rounds++;
  printf("%d\n", rounds > 0);  // behind
  return 0;
}
"""


def _record(context, source, *flags, compiler="gcc"):
    recorded = context.record(context.path("subject-rec"), [compile_c(context, "subject", source, *(flags or ["-O0"]), compiler=compiler)])
    context.expect(recorded.status == 0, "record", recorded)
    return context.path("subject-rec")


def test_debug_places_are_meant_now(context):
    """A location that depends on the state or the frame means what it means when it is given, after restart, too."""
    recording = _record(context, POINTERS)
    line = line_of(POINTERS, "calls")
    said = debug(context, recording, f"tbreak {line} if i == 1", "continue", "break *chosen", "print i", "continue",
                 "tbreak *$pc", f"tbreak -line {line}", "restart", "continue", "info breakpoints", label="places")
    text = said.stdout.decode()
    context.expect(said.status == 0, "places", said)
    expect_lines(context, text, "Breakpoint 2 at", "$1 = 1", "Breakpoint 2, two (x=", "Temporary breakpoint 3 at",
                 f"Temporary breakpoint 4 at 0x", f"line {line}.", "in two at")
    context.expect(len(re.findall(r"in two at", text)) >= 1 and "in one at" not in text, f"another function:\n{text}")


def test_debug_untested_conditions(context):
    """Where a condition has no value it is a stop, and that is said; elsewhere nothing is."""
    recording = _record(context, POINTERS)
    said = debug(context, recording, f"break {line_of(POINTERS, 'looks')} if box->x == 7", "continue", "print i", "continue", label="untested")
    text = said.stdout.decode()
    expect_lines(context, text, "Error in testing breakpoint condition:", "Cannot access memory at address 0x0", "Breakpoint 1, look (box=0x0, i=2)",
                 "$1 = 2", "the recording ends here")
    context.expect(text.count("Error in testing") == 1 and text.count("Breakpoint 1, ") == 1, f"not once:\n{text}")


def test_debug_conditions_of_operators(context):
    """Names of operators may have signs that end other names."""
    recording = _record(context, OPERATORS, compiler="g++")
    said = debug(context, recording, "start", "break Number::operator< if other.x == 2 && x == 2", "break Number::operator+= if n == 3",
                 "continue", "print x", "continue", "print n", label="operators")
    context.expect(said.status == 0 and values(said.stdout.decode()) == [2, 3], "operators", said)


def test_debug_in_libraries(context):
    """A breakpoint in a function without source shows that function, not who called it; conditions count where they mean something."""
    recording = _record(context, POINTERS)
    said = debug(context, recording, "tbreak printf", "continue", "python print('frame', gdb.selected_frame().level())", "finish",
                 "print $_exitcode", "python print(nosuch)", label="libraries")
    text = said.stdout.decode()
    expect_lines(context, text, "Temporary breakpoint 1, ", "printf", "frame 0", "main ()")
    context.expect(b"NameError" in said.stderr and b"nosuch" in said.stderr, "python's own words", said)


def test_debug_watch_of_registers(context):
    """Only single steps would show how they change: that is said."""
    recording = _record(context, POINTERS)
    said = debug(context, recording, "break two", "continue", "watch $rax", "watch x + $rip", "watch -l *(long*)$rsp", "set $own = 1",
                 "info watchpoints", label="registers")
    text, errors = said.stdout.decode(), said.stderr.decode()
    context.expect(errors.count("is a register; `watch -l` watches") == 2 and "watchpoint 2: -location *(long*)$rsp" in text,
                   "registers", said)


def test_debug_finish_handlers(context):
    """Out of a handler, and out of the kernel's frame below it: to where the signal came, with all that follows as it was."""
    recording = _record(context, HANDLER)
    said = debug(context, recording, f"break {line_of(HANDLER, 'handles')}", "continue", "finish", "finish",
                 "bt",
                 "print count", "continue", "print count", "delete", "continue", label="finish")
    text = said.stdout.decode()
    context.expect(said.status == 0 and "diverged" not in text and values(text) == [10, 10], "finish", said)
    frames = [line for line in text.splitlines() if line.startswith("#")]
    context.expect("main ()" in frames[-1] and not any("signal handler" in frame for frame in frames), "not where the signal came", said)
    expect_lines(context, text, frames[-1], "Breakpoint 1, handle", "count 30", "the recording ends here")


def test_debug_deaths_stop_all(context):
    """Who dies of a signal that he sends himself is stopped at it, and nobody goes on by his death before."""
    recording = _record(context, DEATHS)
    rounds = ["continue all", "focus p1", "print progress"] * 2
    said = debug(context, recording, "run", "focus p1", "print progress", *rounds, "continue all", label="deaths")
    text = said.stdout.decode()
    context.expect(said.status == 0 and values(text) == [0, 1, 2], "deaths", said)
    expect_lines(context, text, "p2 received signal SIGABRT", "$1 = 0", "p3 received signal SIGTERM", "$2 = 1", "p4 received signal SIGKILL",
                 "the recording ends here")


def test_debug_break_behind_interrupted_loop(context):
    """A breakpoint on the line behind a loop that a signal has ended takes nothing away from the ways to find the place again."""
    recording = _record(context, LOOP, "-O1")
    plain = debug(context, recording, "continue all", label="plain")
    context.expect(plain.status == 0, "plain", plain)
    said = debug(context, recording, f"break {line_of(LOOP, 'behind')}", "continue all", "print over", label="behind")
    context.expect(said.status == 0 and values(said.stdout.decode()) == [14], "behind", said)
