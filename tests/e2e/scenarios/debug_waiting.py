"""While one waits: a line that says for what and how far it is, on a terminal only, and gone afterwards."""
import os
import re

from building import compile_c
from debugging import debug
from terminal import Terminal

SLOW = r"""
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int sent, got;
static void compute(int work) {
  for (volatile int i = 0; i < work; i++) {
  }
}
int main(int argc, char** argv) {
  int there[2], back[2], rounds = atoi(argv[1]), work = atoi(argv[2]);
  char c = 'x';
  if (pipe(there) != 0 || pipe(back) != 0) return 1;
  if (fork() == 0) {
    for (got = 1; got <= rounds; got++) {
      if (read(there[0], &c, 1) != 1) _exit(1);
      compute(work);
      if (write(back[1], &c, 1) != 1) _exit(1);
    }
    _exit(0);
  }
  for (sent = 1; sent <= rounds; sent++) {
    compute(work);
    if (write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1) return 1;
    if (sent == rounds * 9 / 10) puts("most of it"), fflush(stdout);
  }
  wait(0);
  return 0;
}
"""
CLEAR = rb"\r\x1b\[K"
LINE = re.compile(CLEAR + rb"([^\r\n\x1b]* \xe2\x80\xa6[^\r\n\x1b]*)(.{4})", re.S)
LEAST = 2.5  # seconds that it takes to go through all of it
ROUNDS = 5000


def _recorded(context):
    """Slow enough for this machine, however fast it is: by what it computes, as who waits for whom takes now this long, now that."""
    program, work = compile_c(context, "slow", SLOW), 20000
    while True:
        recording = context.path(f"slow{work}")
        context.expect(context.record(recording, [program, str(ROUNDS), str(work)]).status == 0, "recording")
        begun = os.times()
        context.run([context.pastcone, "replay", recording], label="replay")
        took = os.times().children_user - begun.children_user
        if took > LEAST:
            return recording
        work = int(work * max(1.25 * LEAST / took, 1.25))


def _lines(context, seen):
    """What the line said, one after the other; each is taken back before anything else is written."""
    found = LINE.findall(seen)
    for text, behind in found:
        context.expect(re.fullmatch(CLEAR, behind), f"{text!r} is left on the screen, before {behind!r}")
    return [text.decode() for text, behind in found]


def test_debug_waiting(context):
    """run to, cause, continue, a predicate: each shows what it does and how far it is; Ctrl-C ends it; output stands by itself."""
    context.need("gdb")
    recording = _recorded(context)
    terminal = Terminal(context, [context.pastcone, "debug", recording], "waiting")
    terminal.wait_for(b"(p1:2)")
    said = _lines(context, terminal.seen)
    context.expect(any(line.startswith("replaying once") and "%, " in line for line in said), f"the graph is made without a word: {said}")

    def do(command, begins, prompt=b") "):
        at = len(terminal.seen)
        terminal.type(command.encode() + b"\r")
        terminal.wait_for(b"\n")
        terminal.wait_for(begins.encode())
        terminal.wait_for(prompt)
        lines = _lines(context, terminal.seen[at:])
        context.expect(lines and all(line.startswith(begins) for line in lines), f"{command}: it says {lines}")
        figures = [re.search(r"(\d+)%, ([\d,]+) of ([\d,]+) events$", line) for line in lines]
        context.expect(all(figures), f"{command}: how far is it? {lines}")
        done = [int(one.group(2).replace(",", "")) for one in figures]
        context.expect(done == sorted(done), f"{command}: it goes back and forth: {done}")
        return terminal.seen[at:]

    target = f"p1:{2 * ROUNDS - 100}"
    do(f"run to {target}", f"running to {target}", f"({target}) ".encode())
    do("cause", "going back to p2:")
    do("cause", "going back to p1:")
    terminal.type(b"restart\r")
    terminal.wait_for(b"(p1:2) ")
    do("continue all", "running", b"the recording ends here")
    shown = re.findall(rb"(.{3})most of it\r\n", terminal.seen, re.S)
    context.expect(shown == [b"\x1b[K"], f"the output is not a line of its own, once: {shown}")

    # Ctrl-C while it is there; then all is as always.
    terminal.type(b"back\rstop if p2: got == -1\rcontinue\r")
    terminal.wait_for(b"looking for p2: got == -1")
    terminal.type(b"\x03")
    terminal.wait_for(b"interrupted")
    terminal.type(b"delete\rprint sent + 1000000\r")
    terminal.wait_for(b" = 1000000")
    terminal.type(b"quit\r")
    context.expect(terminal.finish() == 0, f"status; {terminal.seen[-600:]!r}")
    _lines(context, terminal.seen)


def test_debug_waiting_unseen(context):
    """No terminal: not a byte of it."""
    recording = _recorded(context)
    said = debug(context, recording, f"run to p1:{2 * ROUNDS - 100}", "cause", "back", "restart")
    text = said.stdout + said.stderr
    context.expect(b"\r" not in text and b"\x1b" not in text and "…".encode() not in text, "there is a line for nobody", said)
