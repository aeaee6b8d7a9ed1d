"""Predicates that need more words of memory than there are debug registers: their pages are guarded. Against the program's own log."""
import os
import random
import subprocess

from building import compile_c
from debugging import debug, values

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NAMES = "abcdefghijkl"
ACTIONS = 120


def _recorded(context, flags, seed, options=()):
    """The recording, and phase → the states of it, of twelve values each."""
    context.need("gcc", "gdb")
    program, recording = os.path.join(context.work, f"many_words{seed}"), context.path(f"many{seed}")
    subprocess.run(["gcc", "-g", "-pthread", *flags, os.path.join(HERE, "many_words.c"), "-o", program], check=True)
    done = context.record(recording, [program, str(seed), str(ACTIONS)], options)
    context.expect(done.status == 0, f"seed {seed}: recording", done)
    states = {}
    for line in done.stdout.decode().splitlines():
        phase, *numbers = line.split()
        states.setdefault(phase, []).append([int(number) for number in numbers])
    return recording, states


def _times(sums, wanted, before):
    """At which states it becomes true."""
    return [index for index, now in enumerate(sums) if now == wanted and (sums[index - 1] if index else before) != wanted]


def _check(context, recording, who, object_, states, before, chosen):
    """A sum of some of the words, the first few times that it is what it once was."""
    names = sorted(chosen.sample(NAMES, chosen.randrange(5, len(NAMES) + 1)))
    sums = [sum(state[NAMES.index(name)] for name in names) for state in states]
    first = sum(before[NAMES.index(name)] for name in names)
    wanted = chosen.choice([each for each in sums if each != first])
    times = _times(sums, wanted, first)[:3]
    expression = " + ".join(object_ + name for name in names)
    commands = [f"stop if {who}: {expression} == {wanted}"]
    for _ in times:
        commands += ["continue", f"focus {who}", "print done", f"print {expression}"]
    result = debug(context, recording, *commands, "back", label=commands[0])
    expected = [value for time in times for value in (time, wanted)]
    shown = values(result.stdout.decode())
    context.expect(shown[:len(expected)] == expected, f"{commands[0]}: {shown} instead of {expected}", result)


def test_debug_many_words(context):
    """On one page and several, written by two threads in turn, by a child, on the heap; by all kinds of instructions, by calls, on pages that
    the program protects itself and whose faults it handles."""
    for seed in range(context.rounds(2, 20)):
        flags, chosen = (["-O0"], ["-O2"])[seed % 2], random.Random(seed)
        recording, states = _recorded(context, flags, seed)
        zero = [0] * len(NAMES)
        _check(context, recording, "p1", "words.", states["threads"], zero, chosen)
        _check(context, recording, "p1", "words.", states["threads"], zero, chosen)
        _check(context, recording, "p1", "heap->", states["heap"], [-1000] * len(NAMES), chosen)
        _check(context, recording, "p2", "words.", states["child"], states["threads"][-1], chosen)


def test_debug_many_words_parallel(context):
    """Threads that run at the same time: of the one that is meant."""
    recording, states = _recorded(context, ["-O0"], 3, ["--threads=parallel"])
    _check(context, recording, "p2", "words.", states["child"], states["threads"][-1], random.Random(3))


def test_debug_many_locals(context):
    """Six variables of a function, all on its stack."""
    recording, _ = _recorded(context, ["-O0"], 4)
    result = debug(context, recording, "stop if p1: p + q + r + s + t + u == 41 in compute", "continue", "print p", "print q", "print r", "print s",
                   "print t", "print u", "continue", label="locals")
    found = values(result.stdout.decode())
    # p = 3; with q, r = 2q, s = r + 3, t = s - q, u = t + n the sum is 41 once only.
    expected = _locals(41)
    context.expect(found == expected, f"{found} instead of {expected}", result)


def _locals(wanted):
    p, q, r, s, t, u = 3, 0, 0, 0, 0, 0
    for n in range(6):
        for name in "qrstu":
            if name == "q":
                q += 1
            elif name == "r":
                r = q * 2
            elif name == "s":
                s = r + p
            elif name == "t":
                t = s - q
            else:
                u = t + n
            if p + q + r + s + t + u == wanted:
                return [p, q, r, s, t, u]
    return []


def test_debug_watch_large(context):
    """A watchpoint on more bytes than the debug registers hold."""
    recording, states = _recorded(context, ["-O0"], 5)
    result = debug(context, recording, "break change", "continue", "delete 1", "watch words", "continue", "print done", "continue", "print done", "back",
                   "print done", "info watchpoints", label="watch words")
    text = result.stdout.decode()
    shown = values(text)
    context.expect(len(shown) == 3 and shown[0] <= shown[1] and shown[2] == shown[0] and text.count("Hardware watchpoint 2: words") >= 3,
                   f"{shown}", result)


MORE_AND_FEWER = r"""#include <stddef.h>
struct { volatile int d; int* volatile to; char rest[4080]; } a __attribute__((aligned(4096)));
struct { volatile int v; char rest[4092]; } b __attribute__((aligned(4096))), c __attribute__((aligned(4096))), e __attribute__((aligned(4096)));
int main(void) {
  for (int i = 1; i < 4; i++) {
    a.to = (int*)&a;
    b.v = c.v = e.v = i;
    a.to = NULL;
    a.d = 1;
    e.v = 0;
    a.d = 0;
  }
  return 0;
}
"""


def test_debug_more_and_fewer_words(context):
    """Words that were too many for the registers get them back when they are fewer."""
    recording = context.path("fewer.rec")
    context.record(recording, [compile_c(context, "fewer", MORE_AND_FEWER, "-O0")])
    said = debug(context, recording, "stop if p1: a.d == 0 && p1: a.to && b.v && c.v && e.v", *["continue", "print e.v"] * 3, "continue")
    context.expect(values(said.stdout.decode()) == [1, 2, 3], "values", said)
    context.expect(b"does not hold again" in said.stdout, "the fourth time", said)
