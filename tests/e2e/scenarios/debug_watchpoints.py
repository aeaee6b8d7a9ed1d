"""Watchpoints of pastcone debug: in gdb's words, whoever makes the process run, and after going back."""
from building import compile_c
from debugging import debug, expect_lines, values

SOURCE = r"""#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
struct pair { int key; double value; };
struct pair shown = {1, 0.5};
int total, other, *pointer = &total;
char buffer[8];
static int fill(int n) {
  int sum = 0;
  for (int i = 1; i <= n; i++) sum += i;
  return sum;
}
int main(void) {
  int ends[2], n = 0;
  if (pipe(ends)) return 1;
  pid_t child = fork();
  if (child == 0) {
    if (read(ends[0], buffer, sizeof buffer) < 0) return 1;
    total = buffer[0];
    total += 5;
    return 0;
  }
  total = fill(2);
  total = fill(3);
  other = n = total;
  pointer = &other;
  *pointer = 40;
  shown.value = 2.5;
  if (write(ends[1], "abcdefg", 8) != 8) return 1;
  waitpid(child, NULL, 0);
  return 0;
}
"""


def _recorded(context):
    program = compile_c(context, "watched", SOURCE, "-g", "-O0")
    recording = context.path("recording")
    context.record(recording, [program])
    return recording


def test_debug_watch(context):
    """watch of a global, of what a pointer points to, of a double, of a local; with a condition; listed, disabled, deleted."""
    context.need("gdb")
    text = debug(context, _recorded(context), "break main", "continue", "watch total", "continue", "continue", "delete 2", "watch *pointer",
                 "continue", "watch shown.value", "delete 3", "continue", "info watchpoints", "disable 4", "info breakpoints").stdout.decode()
    expect_lines(context, text, "Hardware watchpoint 2: total\n", "Hardware watchpoint 2: total\n\nOld value = 0\nNew value = 3\n", "Old value = 3\nNew value = 6\n",
            "Hardware watchpoint 3: *pointer\n\nOld value = 6\nNew value = 40\n")
    expect_lines(context, text, "Hardware watchpoint 4: shown.value\n\nOld value = 0.5\nNew value = 2.5\n", "hw watchpoint", "shown.value", "breakpoint already hit 1 time",
            "4       hw watchpoint  keep n")


def test_debug_watch_local(context):
    """A local variable: its changes, then the end of its block; a condition; the place is the same after back."""
    context.need("gdb")
    recording = _recorded(context)
    text = debug(context, recording, "break fill", "continue", "watch sum if sum > 1", "continue", "print sum", "continue", "info watchpoints",
                 "back 2", "print n", label="local").stdout.decode()
    expect_lines(context, text, "Hardware watchpoint 2: sum\n\nOld value = 1\nNew value = 3\n", "$1 = 3\n", "Watchpoint 2 deleted because the program has left the block in\n"
            "which its expression is valid.\n", "No watchpoints.", "fill (n=2)", "$2 = 2\n")


def test_debug_watch_any_motion(context):
    """A watchpoint stops its process when others make it run, outlives going back, and its gdb; reads are noticed too."""
    context.need("gdb")
    recording = _recorded(context)
    text = debug(context, recording, "run to recv 1 of p1->p2", "focus p2", "watch total", "rwatch buffer[0]", "focus p1", "continue all", "continue all",
                 "restart", "continue all", "info watchpoints", "continue all", label="continue all").stdout.decode()
    stops = ("Hardware read watchpoint 2: buffer[0]\n\nValue = 97 'a'\n", "Hardware watchpoint 1: total\n\nOld value = 0\nNew value = 97\n")
    expect_lines(context, text, *stops)
    expect_lines(context, text[text.index(stops[1]) + 10:], stops[0], "already hit", stops[1])
    text = debug(context, recording, "run to recv 1 of p1->p2", "focus p2", "watch total", "next", "next", "back", "forward", "print total", label="next").stdout.decode()
    expect_lines(context, text, "Old value = 0\nNew value = 97\n", "$1 = 97\n")
    text = debug(context, recording, "run to p1:1", "focus p2", "restart", "break main", "continue", "awatch other", "continue", "back", "forward", "continue", "print other",
                 label="awatch").stdout.decode()
    expect_lines(context, text, "Hardware access (read/write) watchpoint 2: other\n\nOld value = 0\nNew value = 6\n", "Old value = 6\nNew value = 40\n", "$1 = 40\n")


def test_debug_watch_received(context):
    """What a call writes is noticed when the call is done, by a step and by a run."""
    context.need("gdb")
    recording = _recorded(context)
    for how in (["continue"], ["focus p1", "continue all"]):
        text = debug(context, recording, "run to p2:1", "focus p2", "watch buffer", *how, "print total", label=str(how)).stdout.decode()
        expect_lines(context, text, 'Hardware watchpoint 1: buffer\n\nOld value = "', '\nNew value = "abcdefg"\n', "$1 = 0\n")


def test_debug_watch_refused(context):
    """What cannot be watched: one line each."""
    context.need("gdb")
    wrong = ["watch 5", "watch", "watch nothing", "watch $rax", "rwatch total + 1", "watch fill(3)", "watch -l 3", "watch total if nothing", "awatch (char[100])shown",
             "watch total)", "condition 9 x", "watch total thread 1"]
    result = debug(context, _recorded(context), "break main", "continue", *wrong, "print total")
    # What gdb has called to see what fill(3) is has changed something.
    lines = [line for line in result.stderr.decode().splitlines() if not line.startswith("the process has been changed")]
    context.expect(len(lines) == len(wrong) and b"$1 = 0" in result.stdout, f"{len(lines)} lines for {len(wrong)} mistakes: {lines}", result)


def test_debug_watch_together(context):
    """One that only has to be watched elsewhere from now on takes nothing from another one that has changed."""
    context.need("gdb")
    for how in ("continue", "next"):
        text = debug(context, _recorded(context) if how == "continue" else context.path("recording"), "break watched.c:27", "continue", "delete 1", "watch *pointer if 0 == 1",
                     "watch pointer", how, "info watchpoints", "continue", label=how).stdout.decode()
        expect_lines(context, text, "Hardware watchpoint 3: pointer\n\nOld value = ", "<total>\nNew value = ", "<other>\n", "already hit 1 time\n", "the recording ends here")


def test_debug_watch_frames(context):
    """Variables of main, behind which gdb shows no frame; of an outer frame, where another function's have the same names."""
    context.need("gdb")
    recording = _recorded(context)
    text = debug(context, recording, "break watched.c:17", "continue", "watch child", "continue", label="main").stdout.decode()
    expect_lines(context, text, "Hardware watchpoint 2: child\n", "Hardware watchpoint 2: child\n\nOld value = ", "New value = ")
    result = debug(context, recording, "break fill", "continue", "delete 1", "up", "watch n", "watch other if n == 5", "watch n + 1", "continue", label="up")
    expect_lines(context, result.stdout.decode(), "Hardware watchpoint 2: n\n", "Hardware watchpoint 2: n\n\nOld value = 0\nNew value = 6\n")
    context.expect(result.stderr.decode().count("not the innermost one") == 2, "conditions and sums of an outer frame are not refused", result)


def test_debug_watch_ends(context):
    """finish ends the watchpoint of the frame that it leaves; a condition counts for what a call writes; commands are done."""
    context.need("gdb")
    recording = _recorded(context)
    text = debug(context, recording, "break fill", "continue", "delete 1", "watch n", "finish", "info watchpoints", label="finish").stdout.decode()
    expect_lines(context, text, "Hardware watchpoint 2: n\n", "Watchpoint 2 deleted because", "No watchpoints.")
    for value, stops in ((98, False), (97, True)):
        text = debug(context, recording, "run to p2:1", "focus p2", f"watch buffer[0] if buffer[0] == {value}", "continue", label=f"call, {value}").stdout.decode()
        context.expect(("New value = 97 'a'" in text) == stops, f"a condition on {value} stops wrongly:\n{text}")
    script = context.path("script")
    with open(script, "w") as file:
        file.write("break main\ncontinue\nwatch total\ncommands 2\nprint total + 100\nend\ncontinue\n")
    text = debug(context, recording, f"source {script}", label="commands").stdout.decode()
    expect_lines(context, text, "New value = 3\n", "$1 = 103\n")


EXECUTING = r"""#include <unistd.h>
int pad[PAD];
int NAME = 5;
void add(int n) { NAME += n; }
int main(int argc, char** argv) {
  add(PAD);
  if (argc > 1) execv(argv[1], argv + 1);
  return 0;
}
"""


def test_debug_watch_executed(context):
    """A watchpoint on a global goes on in a program that is executed and has one of that name; where there is none, a line says so."""
    context.need("gdb")
    first = compile_c(context, "first", EXECUTING, "-O0", "-DPAD=1", "-DNAME=total")
    second = compile_c(context, "second", EXECUTING, "-O0", "-DPAD=100", "-DNAME=total")
    without = compile_c(context, "without", EXECUTING, "-O0", "-DPAD=10", "-DNAME=sum")
    recording = context.path("executed")
    context.expect(context.record(recording, [first, without, second, first]).status == 0, "recording")
    result = debug(context, recording, "break main", "continue", "delete 1", "watch total", *["continue"] * 4, "back", "restart", "continue", "continue",
                   "print pad[0] + total")
    changes = [f"Old value = 5\nNew value = {value}\n" for value in (6, 105, 6)]
    text = result.stdout.decode()
    expect_lines(context, text, *changes, "the recording ends here", *changes[:2])
    context.expect(values(text) == [105], f"values {values(text)}", result)
    lines = result.stderr.decode().splitlines()
    context.expect(len(lines) == 1 and lines[0].startswith("Watchpoint 2 (total) sleeps: p1 has executed ") and "/without, " in lines[0], "of the one without", result)


FULL = r"""#include <unistd.h>
volatile int a, b, c, d, e;
volatile int noted;
typedef long pair __attribute__((vector_size(16)));
long two[2] __attribute__((aligned(16)));
static pair value = {7, 8};
int main(void) {
  noted = 1;
  for (int i = 0; i < 6; i++) e = i;
  noted = 2;
  a = 1;
  noted = 3;
  noted = 4;
  *(volatile pair*)two = value;
  getppid();
  return 0;
}
"""


def _full(context):
    recording = context.path("full")
    context.record(recording, [compile_c(context, "full", FULL, "-g", "-O0")])
    return recording


def test_debug_watch_full(context):
    """All debug registers are taken: what is only written can still be watched, and states be come to; what is read, and enabled again, is refused."""
    context.need("gdb")
    four = ["watch a", "watch b", "watch c", "watch d"]
    begin = ["break main", "continue"]
    result = debug(context, _full(context), *begin, *four, "watch e if e == 5", "stop if p1: e == 3", "continue", "print e", "continue", "print e", "continue",
                   "print noted", label="writes")
    context.expect(values(result.stdout.decode()) == [3, 5, 2] and not result.stderr, "e == 3, e == 5, then a", result)
    result = debug(context, context.path("full"), *begin, *(f"a{one}" for one in four), "awatch e", "stop if p1: e == 3", "continue", "print e", "disable 3",
                   "awatch e", "enable 3", "continue", "print e", label="reads")
    context.expect(values(result.stdout.decode()) == [3, 4], "e == 3 and e == 4", result)
    lines = result.stderr.decode().splitlines()
    context.expect(len(lines) == 2 and "e cannot be watched: there are 4 debug registers, and none are free" in lines[0] and "b cannot be watched" in lines[1],
                   f"two lines: {lines}", result)


def test_debug_watch_two(context):
    """Two words that one instruction writes: both are told of."""
    context.need("gdb")
    result = debug(context, _full(context), "break main", "continue", "watch two[0]", "watch two[1]", "continue", "continue", label="two")
    expect_lines(context, result.stdout.decode(), "Hardware watchpoint 2: two[0]\n\nOld value = 0\nNew value = 7\n",
                 "Hardware watchpoint 3: two[1]\n\nOld value = 0\nNew value = 8\n", "the recording ends here")


def test_debug_watch_next(context):
    """Several lines at once: what is watched, or a breakpoint, comes before the last of them; so it does when each instruction is one."""
    context.need("gdb")
    recording = _full(context)
    line = FULL.splitlines().index("  noted = 3;") + 1
    for command in ("next 30", "step 30", "stepi 3000", "nexti 3000"):
        text = debug(context, recording, "break main", "continue", "watch a", command, "print noted", label=command).stdout.decode()
        expect_lines(context, text, "Hardware watchpoint 2: a\n\nOld value = 0\nNew value = 1\n", " = 2\n")
        text = debug(context, recording, "break main", "continue", f"break full.c:{line}", command, "print noted", label=command).stdout.decode()
        expect_lines(context, text, f"Breakpoint 2, main () at full.c:{line}\n", " = 2\n")


THREAD = r"""#include <pthread.h>
#include <unistd.h>
volatile int noted, ended;
__attribute__((noinline)) int twice(int n) { return 2 * n; }
__attribute__((noinline)) void note(int n) { noted = n; }
__attribute__((noinline)) void spot(void) {}
static void* work(void* unused) {
  for (int i = 1; i < 4; i++) note(i), getppid();
  ended = 1;
  return unused;
}
int main(void) {
  pthread_t thread;
  twice(1);
  pthread_create(&thread, 0, work, 0);
  spot();
  pthread_join(thread, 0);
  noted = 9;
  return 0;
}
"""


def test_debug_step_undecided(context):
    """While an instruction waits for another thread, that one comes to a breakpoint whose condition gdb has to say, and is not true."""
    context.need("gdb")
    recording = context.path("thread")
    context.record(recording, [compile_c(context, "thread", THREAD, "-g", "-O0", "-pthread", "-Wl,-z,now")])
    result = debug(context, recording, "break spot", "continue", "delete 1", "print ended", "break note if twice(n) == 100", "stepi 500", "echo \\n", "print ended",
                   label="undecided")
    context.expect(values(result.stdout.decode()) == [0, 1] and b"note (n=" not in result.stdout, "the thread went on to its end", result)


def test_debug_watchpoints_that_begin_together(context):
    """Of several that begin at the same address each counts its own hits: one comes back to where it was."""
    program = compile_c(context, "together", r"""
#include <stdio.h>
struct { int a, b; } both __attribute__((aligned(8)));
int main(void) {
  for (int i = 1; i < 20; i++) {
    both.a = i;
    both.b = 100 + i;
  }
  printf("%d\n", both.a);
  return 0;
}
""", "-O0")
    recording = context.path("together")
    context.record(recording, [program])
    for how in (["watch both", "watch both.a"], ["watch both.a", "watch both"], ["watch both.a", "awatch both.a"]):
        said = debug(context, recording, "start", *how, *["continue"] * 4, "print both.a * 1000 + both.b", "stepi", "back", "print both.a * 1000 + both.b")
        there, again = values(said.stdout.decode())
        context.expect(there == again and there > 1000, f"{how}: {there}, and back there {again}", said)
