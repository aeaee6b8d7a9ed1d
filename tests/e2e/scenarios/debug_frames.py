"""What a user of gdb does at a stop: selects frames, calls functions, has things done."""
import os
import re

from building import compile_c
from debugging import debug, expect_lines, values
from terminal import Terminal

PROGRAM = r"""
#include <pthread.h>
#include <unistd.h>
int total;
pthread_once_t once = PTHREAD_ONCE_INIT;
int square(int n) { return n * n; }
int noted(int n) {
  total += n;
  return total;
}
void first(void) { total = 1; }
int main(void) {
  int local = 7;
  pthread_once(&once, first);
  for (int i = 0; i < 10; i++)
    total += i;
  for (int i = 1; i < 4; i++)
    noted(square(i));
  return getppid() < local;
}
"""


def _recorded(context, *options):
    program = compile_c(context, "frames", PROGRAM, "-O0", "-pthread")
    recording = context.path("frames" + "".join(options).replace("=", ""))
    context.expect(context.record(recording, [program], options).status in (0, 1), "recording")
    return recording


def test_debug_frames_of_the_runtime(context):
    """Where functions of libc are replaced there are frames of pastcone's between the program's: nobody is led into them."""
    recording = _recorded(context, "--threads=parallel")
    said = debug(context, recording, "break first", "continue", "bt", "up", "up", "down", "down", "down")
    shown = [line.split()[0] for line in said.stdout.decode().splitlines() if line.startswith("#")]
    listed = shown[:shown.index("#1", 2)]
    context.expect("#2" not in listed, f"bt shows the runtime: {listed}", said)
    context.expect(shown[len(listed):] == ["#1", "#3", "#1", "#0"], f"up, up, down, down lead to {shown}", said)
    context.expect(b"Bottom (innermost) frame selected; you can't go down." in said.stderr, "down from the last", said)
    said = debug(context, recording, "break first", "continue", "frame 2")
    context.expect(b"No frame at level 2." in said.stderr, "a frame of the runtime", said)
    said = debug(context, recording, "break first", "continue", "frame 1", "up 100", "up")
    context.expect(b"Initial frame selected; you can't go up." in said.stderr, "up from the first", said)


def test_debug_frames_calls(context):
    """Functions can be called where a process stands in an event, also before it has begun with its program; the frame stays selected."""
    recording = _recorded(context)
    said = debug(context, recording, "display square(5)", "print square(3)", "start")
    expect_lines(context, said.stdout.decode(), "1: square(5) = 25", "$1 = 9", "1: square(5) = 25")
    at = re.search(r"p1:(\d+) +getppid", debug(context, recording, "events p1:1 1000").stdout.decode()).group(1)
    said = debug(context, recording, f"run to p1:{at}", "print square(4)", "print local", "print noted(100)", "print total", "print (int)getpid()", "next")
    context.expect(values(said.stdout.decode()) == [16, 7, 160, 60], f"{values(said.stdout.decode())}", said)
    context.expect(b"only pure functions can be called" in said.stderr and b"has been changed" not in said.stderr, "a call that is recorded", said)


def test_debug_frames_code(context):
    """A process that stands in a call stands behind a `syscall` instruction: what is patched is not seen."""
    recording = _recorded(context)
    at = re.search(r"p1:(\d+) +getppid", debug(context, recording, "events p1:1 1000").stdout.decode()).group(1)
    said = debug(context, recording, f"run to p1:{at}", "frame 0", "x/2i $pc - 2")
    expect_lines(context, said.stdout.decode(), "syscall", "=> ")


LINES = r"""#include <unistd.h>
int main(void) {
  asm volatile(".loc 1 100 0 is_stmt 1\n\t.loc 1 200 0 is_stmt 0\n\tseveral: nop");
  return getpid() == 0;
}
"""


def test_debug_frames_lines(context):
    """Where several lines begin at one address, `where` names that which gdb does."""
    recording = context.path("recording")
    context.record(recording, [compile_c(context, "lines", LINES, "-O0")])
    said = debug(context, recording, "break *&several", "continue", "where", "frame").stdout.decode()
    expect_lines(context, said, "lines.c:100 in main", "main () at lines.c:100")


def test_debug_frames_in_order(context):
    """A trace behind a breakpoint is told behind it; what is to be done at a stop in the middle of a definition is done there."""
    recording = _recorded(context)
    trace = ["trace p1: total if p1: total % 2 == 0", "break frames.c:16 if i == 5", "continue", "print i", "continue"]
    said = debug(context, recording, *trace).stdout.decode()
    expect_lines(context, said, "total = 2", "Breakpoint 2, main", "$1 = 5", "total = 16", "total = 46")
    context.expect(said.count("total = 2\n") == said.count("total = 16") == 1, f"told twice:\n{said}")
    context.write("two.pc", "break noted\ncommands\nsilent\nprint n\nend\ndefine two\ncontinue\nprint 1000\ncontinue\nend\ntwo\n")
    said = debug(context, recording, f"source {os.path.join(context.work, 'two.pc')}")
    context.expect(values(said.stdout.decode()) == [1, 1000, 4], f"{values(said.stdout.decode())}", said)


def test_debug_frames_completion(context):
    """Tab knows what gdb knows, behind commands that are not gdb's too: places, variables, processes, events."""
    recording = _recorded(context)
    terminal = Terminal(context, [context.pastcone, "debug", recording], "completion")
    terminal.wait_for(b"(p1:2)")
    for typed, completed in [("tbreak squ", "square"), ("break all squ", "square"), ("break frames.c:squ", "square"), ("break p1: squ", "square"),
                             ("watch tota", "total"), ("stop if p1: tota", "total"), ("stop if p", "p1:"), ("trace p1: total if p", "p1:"),
                             ("advance squ", "square"), ("run to rec", "recv"), ("run to p", "p1:"), ("print squ", "square")]:
        terminal.type(typed.encode() + b"\t")
        terminal.wait_for(completed[len(typed.split()[-1].split(":")[-1]):].encode())
        terminal.type(b"\x15")
    terminal.type(b"quit\r")
    context.expect(terminal.finish() == 0, f"status; {terminal.seen[-600:]!r}")
