"""Predicates about memory that processes share: the state is the least one, whoever of them has written."""
import random

from building import compile_c
from debugging import debug, expect_lines, values
from shared_runs import CELLS, SharedRun


# The parent waits, then writes too; the child also writes to the file that both have mapped.
SOURCE = r"""#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
struct shared { int n, square, by_call; };
struct shared* s;
int own;
static void put(int n) {
  s->n = n;
  s->square = n * n;
}
int main(int argc, char** argv) {
  int fd = open(argv[argc - 1], O_RDWR | O_CREAT, 0600), value = 11;
  if (ftruncate(fd, 4096) != 0) return 2;
  s = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (fork() == 0) {
    for (int i = 1; i <= 5; i++) put(i);
    own = 1;
    if (pwrite(fd, &value, sizeof value, 8) != sizeof value) _exit(3);
    own = 2;
    _exit(0);
  }
  wait(0);
  put(7);
  own = 3;
  put(8);
  return 0;
}
"""


def _recorded(context):
    context.need("gdb")
    recording = context.path("recording")
    recorded = context.record(recording, [compile_c(context, "subject", SOURCE, "-O0"), context.path("memory")])
    context.expect(recorded.status == 0, "recording", recorded)
    return recording


def test_debug_shared_writers(context):
    """Who has written is said, the focus is on whom it is about; traces, the next time, and that it never holds."""
    recording = _recorded(context)
    said = debug(context, recording, "stop if p1: s->n == 3", "continue", "print s->square", "where", "continue", label="writer")
    text = said.stdout.decode()
    expect_lines(context, text, "Predicate 1: p1: s->n == 3", "p2:", "put", "$1 = 4\n", "* p1:", "does not hold again")
    said = debug(context, recording, "stop if p2: s->square > 9 && p1: s->n == 5", "continue", "print s->n", "print s->square", label="both")
    context.expect(values(said.stdout.decode()) == [5, 16], "the least state of both", said)
    said = debug(context, recording, "stop if p2: s->n == 7", "continue", label="over")
    context.expect(b"never holds" in said.stdout, "p2 has ended by then", said)
    said = debug(context, recording, "stop if p1: s->n == 2 || p1: s->n == 7", "continue", "print s->n", label="either")
    context.expect(values(said.stdout.decode()) == [2], "a disjunction", said)
    said = debug(context, recording, "trace s->n, p1: s->square if p1: s->n % 2 == 1", "continue", label="trace")
    traced = [line.split(": ", 2)[2] for line in said.stdout.decode().splitlines()[1:] if line.startswith("Trace 1:")]
    found = [[part.rsplit("= ", 1)[1] for part in line.split(", ")] for line in traced]
    context.expect(found == [["1", "0"], ["3", "4"], ["5", "16"]], f"each time, not {found}", said)


def test_debug_shared_calls(context):
    """What is written to a mapped file by write(2) counts from the end of that call."""
    recording = _recorded(context)
    said = debug(context, recording, "stop if p1: s->by_call == 11", "continue", "focus p2", "print own", label="call")
    context.expect(values(said.stdout.decode()) == [1], "it holds behind the call", said)


def test_debug_shared_watch(context):
    """Watchpoints and conditions are as in gdb: a process sees what it writes itself."""
    recording = _recorded(context)
    said = debug(context, recording, "tbreak p1: wait", "continue", "watch s->n", "continue", "continue", label="watch")
    news = [line for line in said.stdout.decode().splitlines() if line.startswith("New value")]
    context.expect(news == ["New value = 7", "New value = 8"], f"only its own, not {news}", said)
    said = debug(context, recording, "break p1: put if s->n == 5", "continue", "print n", label="break if")
    context.expect(values(said.stdout.decode()) == [7], "what is there when it comes to the place", said)


def _part(chosen, run, who):
    """(what the debugger is asked, what Python is)"""
    if who is None:
        state = chosen.choice(run.beside)
        text = chosen.choice((f"got == {state.got}", f"answered == {state.answered}"))
        return f"{run.beside_name}: {text}", text
    state = chosen.choice(run.states)
    own = state.mine.get(who, 0)
    alone = [f"s->x == {state.x}", f"s->y == {state.y}", f"s->x == {state.x} && s->y == {state.y}", f"s->x + s->y > {state.x + 1}",
             f"s->cell[{state.x}] == {state.cell[state.x]}", f"s->x == {state.x} && mine == {own}",
             " + ".join(f"s->cell[{i}]" for i in range(CELLS)) + f" + s->x == {sum(state.cell) + state.x}", "s->x == 9"]
    if own:
        alone.append(f"mine == {own}")
    text = chosen.choice(alone)
    return f"{run.names[who]}: {text}", text.replace("s->", "s.").replace("&&", "and")


def _predicate(chosen, run):
    whos = [chosen.randrange(run.members)]
    whos += chosen.sample([None, *(who for who in range(run.members) if who != whos[0])], chosen.randrange(3))
    asked = [(who, _part(chosen, run, who)) for who in whos]
    return " && ".join(text for _, (text, _) in asked), [(who, meaning) for who, (_, meaning) in asked]


def _looks(run, parts, at):
    """What is to be seen there: commands, and their values."""
    state, beside = run.states[at[0]], run.beside[at[1]]
    looks = []
    for who in range(run.members):
        acted = any(order <= state.order for order in run.acts[who])
        if who not in state.there or not (acted or who in [other for other, _ in parts]):
            continue
        looks += [(f"focus {run.names[who]}", None), ("print last", state.last.get(who, 0)), ("print mine", state.mine.get(who, 0)),
                  ("print s->order", state.order), ("print s->x", state.x), ("print s->y", state.y)]
    if beside.steps or None in [who for who, _ in parts]:
        looks += [(f"focus {run.beside_name}", None), ("print steps", beside.steps), ("print got", beside.got)]
    return looks


def _expect_there(context, run, text, commands, parts, at):
    looks = _looks(run, parts, at)
    said = debug(context, run.recording, *commands, *(command for command, _ in looks), label=text)
    found, wanted = values(said.stdout.decode(errors="replace")), [value for _, value in looks if value is not None]
    context.expect(found == wanted, f"seed {run.seed}, {text}: {found} instead of {wanted}", said)


def _compare(context, run, chosen, count):
    for _ in range(count):
        text, parts = _predicate(chosen, run)
        at = run.least(parts)
        if at is None:
            said = debug(context, run.recording, f"stop if {text}", "continue", label=text)
            context.expect(b"never holds" in said.stdout, f"seed {run.seed}, {text}: does not say that it never holds", said)
            continue
        _expect_there(context, run, text, [f"stop if {text}", "continue"], parts, at)
        next_ones = run.again(parts, at)
        if len(next_ones) == 1:
            _expect_there(context, run, text + ", again", [f"stop if {text}", "continue", "continue"], parts, next_ones[0])


def test_debug_shared_inherited(context):
    """Memory that was there before the forks."""
    for _ in range(context.rounds(2, 40)):
        seed = context.random.randrange(1 << 30)
        chosen = random.Random(seed)
        _compare(context, SharedRun(context, seed, chosen.randrange(2, 5), mapped=False), chosen, 4)


def test_debug_shared_mapped(context):
    """A file that each of them maps, at an address of its own."""
    for _ in range(context.rounds(2, 40)):
        seed = context.random.randrange(1 << 30)
        chosen = random.Random(seed)
        _compare(context, SharedRun(context, seed, chosen.randrange(2, 5), mapped=True), chosen, 4)
