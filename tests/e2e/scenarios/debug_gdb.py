"""pastcone debug as a user of gdb expects it: breakpoints, watchpoints, steps, calls; and bad ends are stopped at."""
import re
from pathlib import Path

from building import compile_c
from debugging import debug, expect_lines
from steps import Skip

SOURCE = r"""#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
int total;
static int square(int n) {
  int r = n * n;
  return r;
}
int work(int n) {
  int s = 0;
  for (int i = 0; i < n; i++) s += square(i);
  total += s;
  return s;
}
int main(int argc, char** argv) {
  for (int i = 1; i <= 5; i++) work(i);
  puts("done");
  fflush(stdout);
  int how = argc > 1 ? atoi(argv[1]) : 0;
  if (how == 1) *(volatile int*)0 = total;
  if (how == 2) abort();
  if (how == 3) return 3;
  return 0;
}
"""


def _recorded(context, *arguments):
    program = compile_c(context, "subject", SOURCE, "-g", "-O0")
    recording = context.path("recording" + "".join(arguments))
    context.record(recording, [program, *arguments])
    return recording


def test_debug_commands(context):
    """Breakpoints with conditions, steps, finish, watchpoints, calls of functions: in gdb's words."""
    result = debug(context, _recorded(context), "break work if n == 3", "continue", "next", "tbreak square", "continue", "bt", "finish",
                   "print square(9)", "watch total", "continue", "condition 1 n == 5", "info breakpoints", "delete 3", "continue",
                   "back", "print n", "delete", "continue")
    expect_lines(context, result.stdout.decode(),
                  "Breakpoint 1 at 0x", "Breakpoint 1, work (n=3)", "\n11\t", "Temporary breakpoint 2, square (n=0)", "#1  0x",
                  "Value returned is $1 = 0", "$2 = 81", "Hardware watchpoint 3: total", "Old value = 1", "New value = 6",
                  "stop only if n == 5", "Breakpoint 1, work (n=5)", "$3 = 3", "the recording ends here")


def test_debug_next_stops_on_the_way(context):
    """`next` stops at breakpoints and watchpoints, in the middle of a line too; and counts what it comes to."""
    recording = _recorded(context)
    here = debug(context, recording, "break work if n == 3", "continue", "x/3i $pc").stdout.decode()
    inside = re.findall(r"(0x[0-9a-f]+) <work", here)[-1]
    said = debug(context, recording, "break work if n == 3", "continue", "next", "watch s", "next", "next", "delete 2", "break 12", "next",
                 "watch total", "next", "info breakpoints").stdout.decode()
    expect_lines(context, said, "Breakpoint 1, work (n=3)", "\n11\t", "Hardware watchpoint 2: s", "Old value = 0", "New value = 1", "Old value = 1",
                  "New value = 5", "Breakpoint 3, work (n=3)", "Old value = 1", "New value = 6", "already hit 1 time", "already hit 1 time")
    said = debug(context, recording, "break work if n == 3", "continue", f"break *{inside}", "next", "next", "info breakpoints").stdout.decode()
    expect_lines(context, said, "\n11\t", "Breakpoint 2, 0x", f"{inside[2:]} in work (n=3)", "already hit 1 time", "already hit 1 time")


def test_debug_counts_of_steps(context):
    """A count is an expression, as in gdb; less than one step is none."""
    result = debug(context, _recorded(context), "break work if n == 3", "continue", "step 0 & total", "stepi n - n", "next -1", "next n - 5", "print 1",
                   "next n - 2", "print 2", "next nothing", "print 3")
    expect_lines(context, result.stdout.decode(), "Breakpoint 1, work (n=3)", "$1 = 1\n11\t", "$2 = 2\n$3 = 3")
    context.expect(result.stderr.decode() == 'No symbol "nothing" in current context.\n', "not one line", result)


def test_debug_commands_done_at_once(context):
    """What is to be done at a breakpoint is done there, also if the command that led there fails afterwards."""
    script = Path(context.path("script"))
    script.write_text("define bad\n  continue\n  frobnicate\nend\nbreak work\ncommands\n  print 4242\nend\n")
    result = debug(context, _recorded(context), f"source {script}", "bad", "print 77", "next", "print 78")
    expect_lines(context, result.stdout.decode(), "Breakpoint 1, work (n=1)", "$1 = 4242", "$2 = 77", "$3 = 78")
    context.expect(b"frobnicate" in result.stderr, "no error", result)


def test_debug_calls_that_cannot_be(context):
    """A function that would make a system call is not called to its end, and the process is where it was."""
    result = debug(context, _recorded(context), "break square", "continue", 'print puts("x")', "bt", "restart", "continue")
    expect_lines(context, result.stdout.decode(), "Breakpoint 1, square (n=0)", "#0  square (n=0)", "Breakpoint 1, square (n=0)")
    context.expect(b"makes a system call" in result.stderr, "no reason", result)


def test_debug_bad_ends(context):
    """A fault, an abort, a status that is not 0: the process is stopped just before, once."""
    for how, text in (("1", "p1 received signal SIGSEGV, Segmentation fault."), ("2", "p1 received signal SIGABRT, Aborted."), ("3", "p1 exits with status 3.")):
        result = debug(context, _recorded(context, how), "continue", "bt", "continue", label=f"end {how}")
        said = result.stdout.decode()
        expect_lines(context, said, text, "#0  ", "the recording ends here")
        context.expect(said.count(text) == 1, f"{text} is said more than once", result)


def test_debug_wrong_commands(context):
    """What is wrong is one line each, and the session goes on."""
    wrong = ["break nowhere", "break", "condition", "condition 77 x", "ignore 1", "delete 99", "delete x", "print nothing", "thread 99",
             "focus p77", "run to p1:99999", "run to", "continue x", "frobnicate", "watch nothing", "x/s 0", "list nowhere"]
    result = debug(context, _recorded(context), *wrong, "print total")
    context.expect(b"$1 = 0" in result.stdout, "the session did not go on", result)
    lines = result.stderr.decode().splitlines()
    context.expect(len(lines) <= len(wrong) and len(lines) >= len(wrong) - 2, f"{len(lines)} lines for {len(wrong)} mistakes", result)


def test_debug_wrong_arguments(context):
    """Nothing, or nonsense, where a number or a name is meant: one line that says what to try; and what takes none says so."""
    recording = _recorded(context)
    asked = {"switch": "for example: switch 2", "switch abc": "'abc' is no number", "switch 0": "there is no predicate 0;", "switch 4294967297": "no predicate 4294967297;",
             "switch 1x": "'1x' is no number", "run to state": "for example: run to state 2", "run to state x": "'x' is no number", "run to state 3": "no state 3;",
             "back x": "for example: back 2", "back 0": "`back 0` is no place", "forward 0": "`forward 0` is no place", "cause x": "for example: cause 2",
             "follow x": "'follow' takes no argument", "where 3": "'where' takes no argument", "restart x": "'restart' takes no argument", "continue all x": "'continue all' takes no argument", "start x": "with its arguments",
             "stop if p1: nosuch == 1": "No symbol", "stop if p1: 1 at no.c:3": "has no.c:3",
             "info predicates x": "'info predicates' takes no argument", "show messages in-transit x": "takes no argument", "show message": "show message p1:17",
             "show obj nothing": "`show obj all` lists them", "show proc x": "write it like p3", "focus x": "write it like p3.2", "break recv": "break recv p1->p2",
             "break send x": "break send p1->p2", "trace": "try `trace p1: x", "stop if": "as in `p1: x == 1", "delete x": "Bad breakpoint argument: 'x'",
             "watch": "Argument required", "break all": "break all server: srv.c:80"}
    result = debug(context, recording, *asked)
    lines = result.stderr.decode().splitlines()
    context.expect(result.status == 1 and len(lines) == len(asked), f"{len(lines)} lines for {len(asked)} mistakes", result)
    for (command, said), line in zip(asked.items(), lines):
        context.expect(said in line, f"{command!r} says {line!r}, without {said!r}", result)


def test_debug_clocks_are_places(context):
    """Where a process reads the processor's clock there is a stack too, and it can be stepped from there."""
    recording = _recorded(context)
    listed = context.run([context.pastcone, "events", recording], label="events").stdout.decode()
    event = next((line.split()[0] for line in listed.splitlines() if " rdtsc " in line), None)
    if event is None:
        raise Skip("the dynamic linker does not ask for the time here")
    result = debug(context, recording, f"run to {event}", "bt", "stepi", "stepi", "stepi", "break main", "continue", "print total", "continue")
    text = result.stdout.decode()
    frame = next(line for line in text.splitlines() if line.startswith("#0"))
    context.expect(not frame.endswith("in ?? ()"), "it is nowhere", result)  # without debug information: ?? () from ld-linux
    expect_lines(context, text, "Breakpoint 1, main", "$1 = 0", "the recording ends here")


def test_debug_not_begun(context):
    """Of a process that is not there yet gdb knows the file: that of the program it is forked with, too."""
    source = r"""#include <sys/wait.h>
#include <unistd.h>
int initial = 41;
int main(void) {
  if (fork() == 0) {
    if (fork() == 0) _exit(++initial - 42);
    wait(0);
    _exit(0);
  }
  wait(0);
  return 0;
}
"""
    recording = context.path("recording")
    context.record(recording, [compile_c(context, "forks", source, "-g", "-O0")])
    said = debug(context, recording, "focus p3", "print initial", "list 3,3").stdout.decode()
    expect_lines(context, said, "$1 = 41", "int initial = 41;")
