"""The debugger against the logs of random programs: the state it stops in is the least one, and nothing beyond it has run."""
import random

from debugging import debug, is_gone, stand
from scripted_runs import ScriptedRun

VARIABLES = ("state_number", "x", "y", "after_event")
NEVER = "x == 9"


def _condition(chosen, process):
    """About x and y of one process: mostly one that some state of it fulfils, perhaps only briefly."""
    state = chosen.choice(process.states[:-1])
    return chosen.choice((f"x == {state.x}", f"y == {state.y}", f"x == {state.x} && y == {state.y}", f"x + y == {state.x + state.y}",
                          f"x != {chosen.randrange(5)}", f"y > {chosen.randrange(4)}", NEVER if chosen.random() < 0.3 else f"x == {state.x}"))


def _asked(chosen, process):
    """The same in ways that gdb has to be asked about, or that are about a thread's own variables; and as Python reads it."""
    state = chosen.choice(process.states[:-1])
    return chosen.choice(((f"total() == {state.x + state.y}", f"x + y == {state.x + state.y}"), (f"value_at(&y) == {state.y}", f"y == {state.y}"),
                          (f"x * 0.5 == {state.x * 0.5}", f"x == {state.x}"), (f"x + own == {state.x + 7}", f"x == {state.x}"),
                          (f"y / 2.0 > {state.y / 2 - 0.25} && total() != 3", f"y > {state.y - 0.5} && x + y != 3")))


def _predicate(chosen, run, asked=False):
    """process of the script → condition, and as the debugger reads it."""
    names = chosen.sample(sorted(run.run.processes), chosen.randrange(1, min(4, len(run.run.processes)) + 1))
    pairs = {}
    for name in names:
        condition = _condition(chosen, run.run.processes[name])
        pairs[name] = _asked(chosen, run.run.processes[name]) if asked else (condition, condition)
    parts = [f"{run.names[name]}: {part}" for name, (whole, _) in pairs.items() for part in whole.split(" && ")]
    return {name: meaning for name, (_, meaning) in pairs.items()}, " && ".join(parts)


def _expect_there(context, run, what, commands, cut, waiting=(), stop=None):
    expected = {run.names[name]: run.run.shown(name, cut, waiting, stop) for name in cut}
    there = [name for name, shown in expected.items() if shown]
    found, text = stand(context, run.recording, commands, there, VARIABLES, label=what)
    for name, shown in expected.items():
        if shown is None:
            context.expect(is_gone(text, name), f"seed {run.seed}, {what}: {name} should not be there")
        else:
            context.expect(found[name] == shown, f"seed {run.seed}, {what}: {name} shows {found[name]} instead of {shown}")


def _runs(context, count):
    for _ in range(count):
        seed = context.random.randrange(1 << 32)
        chosen = random.Random(seed)
        yield ScriptedRun(context, seed, chosen), chosen


def test_debug_predicates(context):
    """stop if: the least state in which a predicate over several processes holds, or that there is none."""
    compared = _try_predicates(context, context.rounds(3, 60))
    context.expect(compared >= context.rounds(1, 200), f"only {compared} predicates were compared")


def test_debug_predicates_asked(context):
    """The same with calls, floating point and thread-local variables."""
    _try_predicates(context, context.rounds(1, 20), asked=True)


def _try_predicates(context, count, asked=False):
    compared = 0
    for run, chosen in _runs(context, count):
        for _ in range(4):
            conditions, text = _predicate(chosen, run, asked)
            cut, compared = run.run.least(conditions), compared + 1
            if cut:
                _expect_there(context, run, text, [f"stop if {text}", "continue"], cut)
            else:
                said = debug(context, run.recording, f"stop if {text}", "continue", label=text)
                context.expect(b"never" in said.stdout + said.stderr, f"seed {run.seed}, {text}: does not say that it never holds", said)
    return compared


def test_debug_demand_points(context):
    """run to: everybody at the frontier of the cone, and nothing beyond it has run."""
    for run, chosen in _runs(context, context.rounds(3, 60)):
        for name, index in _events(chosen, run, 4):
            event = run.event(name, index)
            _expect_there(context, run, event, [f"run to {event}"], run.run.least({}, {name: index}))


def test_debug_demand_points_with_breakpoints(context):
    """A demand point and a breakpoint: the stable state that P2's rules define."""
    for run, chosen in _runs(context, context.rounds(3, 60)):
        for name, index in _events(chosen, run, 4):
            cut = run.run.least({}, {name: index})
            past = [other for other, at in cut.items() if at is not None and at > 1]
            if not past:
                continue
            at = chosen.choice(past)
            stop = (at, chosen.randrange(1, cut[at]))
            stable, waiting, hit = run.run.demanded(name, index, stop)
            number, event = run.run.processes[at].states[stop[1]].number, run.event(name, index)
            commands = [f"break {run.names[at]}: note if state_number == {number}", f"run to {event}"]
            _expect_there(context, run, f"{event}, stop at {run.names[at]} state {number}", commands, stable, waiting, stop if hit else None)


def _events(chosen, run, count):
    places = [(name, index) for name, events in run.events.items() for index, event in enumerate(events) if event and index]
    return chosen.sample(places, min(len(places), count))
