"""The debugger: from the command to its prompt, and predicates on what changes all the time. Whole sessions, wall time."""
from measure import Broken
from report import Row

ROUNDS = 1000  # of the token: about a second
CHANGES = 100_000
SUM = " + ".join(f"apart[{i}].value" for i in range(6))
WORDS = " && ".join(f"words[{i}] >= 0" for i in range(9)) + " && words[9] == -7"


def parts(context):
    context.need("gdb")
    return [lambda: prompt(context), lambda: predicates(context), lambda: kinds(context), lambda: shapes(context)]


def session(context, recording, *commands):
    """How long the commands take; they end where the last line says."""
    argv = [context.pastcone, "debug", recording, "--batch"]
    for command in commands:
        argv += ["-ex", command]
    output = context.path("session")
    with open(output, "wb") as file:
        wall = context.run(argv, None, file).wall
    with open(output, encoding="utf-8") as file:
        return wall, file.read().splitlines()


def recorded(context, *arguments):
    recording = context.new_recording()
    context.run([context.helper("debugger"), *arguments], recording)
    return recording


def expect(lines, value):
    if not lines or not lines[-1].endswith(f"= {value}"):
        raise Broken(f"the session ends with {lines[-1:]}, not with {value}")


def prompt(context):
    times = {processes: [] for processes in (4, 32)}
    recordings = {processes: recorded(context, "ring", str(processes), str(ROUNDS)) for processes in times}
    for recording in recordings.values():  # its graph is made once
        session(context, recording, "where")
    for number in range(context.rounds):
        for processes, recording in recordings.items():
            context.progress(f"debugger: prompt, {processes} processes: round {number + 1} of {context.rounds}")
            wall, lines = session(context, recording, f"run to recv {ROUNDS - 10} of p2->p3", "print rounds")
            expect(lines, ROUNDS - 11)
            times[processes].append(wall)
    return [Row(f"prompt near the end, {processes} processes", walls, "s", 5) for processes, walls in times.items()]


def predicates(context):
    recording = recorded(context, "changes", str(CHANGES))
    session(context, recording, "where")
    cases = {
        "a variable that changes 100,000 times": ("p2: value == -7", "print value"),
        "the same, to its last change": (f"p2: value == {CHANGES - 1}", "print value"),
        "two of one process": (f"p2: value == {CHANGES - 1} && p2: sum > 0", "print value"),
        "ten words, of which one changes at a time": (f"p3: {WORDS}", "print words[9]"),
        "a sum of six words, more than there are registers for": (f"p4: {SUM} == {CHANGES}", f"print {SUM}"),
    }
    ends = {"p2: value == -7": -7, f"p3: {WORDS}": -7, f"p4: {SUM} == {CHANGES}": CHANGES}
    times = {name: [] for name in cases}
    for number in range(context.rounds):
        for name, (predicate, shown) in cases.items():
            context.progress(f"debugger: {name}: round {number + 1} of {context.rounds}")
            wall, lines = session(context, recording, f"stop if {predicate}", "continue", shown)
            expect(lines, ends.get(predicate, CHANGES - 1))
            times[name].append(wall)
    bounds = {"two of one process": 10}  # twice as many changes
    return [Row(name, walls, "s", bounds.get(name, 5)) for name, walls in times.items()]


def kinds(context):
    """What is more than integers. Strings and calls change a tenth as often."""
    recording = recorded(context, "kinds", str(CHANGES))
    session(context, recording, "where")
    cases = {
        "a double that changes 100,000 times": ("p2: level < -0.5", "print level", "-7.5"),
        "a string that changes 10,000 times": ('p3: strcmp(name, "aax") == 0', "print/c name[2]", "120 'x'"),
        "a function of a number that changes 10,000 times": ("p4: digits_in(number) == 7", "print number", str(CHANGES * 10)),
    }
    times = {name: [] for name in cases}
    for number in range(context.rounds):
        for name, (predicate, shown, end) in cases.items():
            context.progress(f"debugger: {name}: round {number + 1} of {context.rounds}")
            wall, lines = session(context, recording, f"stop if {predicate}", "continue", shown)
            expect(lines, end)
            times[name].append(wall)
    bounds = {"a function of a number that changes 10,000 times": 10}  # the process has to stand for each call
    return [Row(name, walls, "s", bounds.get(name, 5)) for name, walls in times.items()]


def shapes(context):
    """The same number of hits, of other things than one variable."""
    recording = recorded(context, "calls", str(CHANGES))
    session(context, recording, "where")
    last = CHANGES - 1
    cases = {
        "a line that is come to 100,000 times": ([f"stop if p1: seen == {last} at keep", "continue", "print seen"], last, 10),
        "what a pointer leads to, 100,000 times": ([f"stop if p1: place->kept == {last}", "continue", "print place->kept"], last, 5),
        "a watchpoint with a condition": (["break main", "continue", f"watch value if value == {last}", "continue", "print value"], last, 5),
        "a breakpoint with a condition": ([f"break keep if seen == {last}", "continue", "print seen"], last, 5),
        "a trace of 1,000 states among 100,000": ([f"trace p1: value if p1: value % {CHANGES // 1000} == 1", "continue", "info predicates"],
                                                  None, 20),
    }
    times = {name: [] for name in cases}
    for number in range(context.rounds):
        for name, (commands, end, _) in cases.items():
            context.progress(f"debugger: {name}: round {number + 1} of {context.rounds}")
            wall, lines = session(context, recording, *commands)
            if end is not None:
                expect(lines, end)
            elif not lines or not lines[-1].endswith("held 1,000 times"):
                raise Broken(f"the session ends with {lines[-1:]}")
            times[name].append(wall)
    return [Row(name, walls, "s", cases[name][2]) for name, walls in times.items()]
