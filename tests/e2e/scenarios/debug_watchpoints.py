"""Watchpoints of pastcone debug: in gdb's words, whoever makes the process run, and after going back."""
from building import compile_c
from debugging import debug, expect_lines

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
    lines = result.stderr.decode().splitlines()
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
