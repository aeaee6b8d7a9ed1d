"""The debugger: from the command to its prompt, and predicates on what changes all the time. Whole sessions, wall time."""
from measure import Broken
from report import Row

ROUNDS = 1000  # of the token: about a second
CHANGES = 100_000
SUM = " + ".join(f"apart[{i}].value" for i in range(6))
WORDS = " && ".join(f"words[{i}] >= 0" for i in range(9)) + " && words[9] == -7"


def parts(context):
    context.need("gdb")
    return [lambda: prompt(context), lambda: predicates(context), lambda: kinds(context), lambda: received(context),
            lambda: shared(context), lambda: shapes(context), lambda: nodes(context), lambda: turns(context)]


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


def expect(lines, end):
    if not lines or not lines[-1].endswith(end):
        raise Broken(f"the session ends with {lines[-1:]}, not with {end}")


def prompt(context):
    times = {processes: [] for processes in (4, 32)}
    recordings = {processes: recorded(context, "ring", str(processes), str(ROUNDS)) for processes in times}
    for recording in recordings.values():  # its graph is made once
        session(context, recording, "where")
    for number in range(context.rounds):
        for processes, recording in recordings.items():
            context.progress(f"debugger: prompt, {processes} processes: round {number + 1} of {context.rounds}")
            wall, lines = session(context, recording, f"run to recv {ROUNDS - 10} of p2->p3", "print rounds")
            expect(lines, f"= {ROUNDS - 11}")
            times[processes].append(wall)
    return [Row(f"prompt near the end, {processes} processes", walls, "s", 5) for processes, walls in times.items()]


def measured(context, recording, cases):
    """name → commands, how the last line ends, and the bound."""
    session(context, recording, "where")
    times = {name: [] for name in cases}
    for number in range(context.rounds):
        for name, (commands, end, _) in cases.items():
            context.progress(f"debugger: {name}: round {number + 1} of {context.rounds}")
            wall, lines = session(context, recording, *commands)
            expect(lines, end)
            times[name].append(wall)
    return [Row(name, walls, "s", cases[name][2]) for name, walls in times.items()]


def stops(predicate, shown):
    return [f"stop if {predicate}", "continue", f"print {shown}"]


def predicates(context):
    last = CHANGES - 1
    return measured(context, recorded(context, "changes", str(CHANGES)), {
        "a variable that changes 100,000 times": (stops("p2: value == -7", "value"), "= -7", 5),
        "the same, to its last change": (stops(f"p2: value == {last}", "value"), f"= {last}", 5),
        # Twice as many changes:
        "two of one process": (stops(f"p2: value == {last} && p2: sum > 0", "value"), f"= {last}", 10),
        "ten words, of which one changes at a time": (stops(f"p3: {WORDS}", "words[9]"), "= -7", 5),
        "a sum of six words, more than there are registers for": (stops(f"p4: {SUM} == {CHANGES}", SUM), f"= {CHANGES}", 5),
    })


def kinds(context):
    """What is more than integers. Strings change a tenth as often."""
    return measured(context, recorded(context, "kinds", str(CHANGES)), {
        "a double that changes 100,000 times": (stops("p2: level < -0.5", "level"), "= -7.5", 5),
        "a string that changes 10,000 times": (stops('p3: strcmp(name, "aax") == 0', "/c name[2]"), "= 120 'x'", 5),
        "a function of a number that changes 100,000 times": (stops("p4: digits_in(number) == 7", "number"), f"= {CHANGES * 10}", 5),
    })


def received(context):
    """What the runtime writes, on behalf of the program."""
    last = CHANGES - 1
    return measured(context, recorded(context, "received", str(CHANGES)), {
        "a variable that 100,000 messages are received in": (stops(f"p2: message.number == {last}", "rounds"), f"= {last}", 5),
        "the same, true every other time": (
            stops(f"p2: message.number % 2 == 1 && p2: message.number >= {last}", "rounds"), f"= {last}", 5),
        "the same, by one of two threads": (
            stops(f"p3: message.number % 2 == 1 && p3: message.number >= {last}", "rounds"), f"= {last}", 5),
        "a variable that is changed after each": (stops(f"p2: rounds == {last}", "message.number"), f"= {last - 1}", 5),
    })


def shared(context):
    """Who writes has the turn only for that."""
    last = CHANGES - 1
    return measured(context, recorded(context, "shared", str(CHANGES)), {
        "a word that two processes share, and write in turn": (
            stops(f"p1: room->word == {last}", "room->word"), f"= {last}", 5),
    })


def shapes(context):
    """The same number of hits, of other things than one variable."""
    last = CHANGES - 1
    return measured(context, recorded(context, "calls", str(CHANGES)), {
        "a line that is come to 100,000 times": (stops(f"p1: seen == {last} at keep", "seen"), f"= {last}", 10),
        "what a pointer leads to, 100,000 times": (stops(f"p1: place->kept == {last}", "place->kept"), f"= {last}", 5),
        "a watchpoint with a condition": (
            ["break main", "continue", f"watch value if value == {last}", "continue", "print value"], f"= {last}", 5),
        "a breakpoint with a condition": ([f"break keep if seen == {last}", "continue", "print seen"], f"= {last}", 5),
        "a trace of 1,000 states among 100,000": (
            [f"trace p1: value if p1: value % {CHANGES // 1000} == 1", "continue", "info predicates"], "held 1,000 times", 20),
    })


def nodes(context):
    """Other memory is read after each change; or there is much to be done before it."""
    last = CHANGES - 1
    return measured(context, recorded(context, "nodes", str(CHANGES)), {
        "what a pointer leads to, that changes itself": (stops(f"p1: first->number == {last}", "first->number"), f"= {last}", 5),
        "a variable that changes after some computing": (stops(f"p1: value == {last}", "value"), f"= {last}", 5),
    })


def turns(context):
    """What is looked at lies elsewhere each time; the bound is for 100,000 hits."""
    last = CHANGES - 1
    return measured(context, recorded(context, "turns", str(CHANGES)), {
        "an element, and its index: 200,000 changes": (stops(f"p2: words[value] == {last}", "words[value]"), f"= {last}", 10),
        "a local variable, and much is called between": (stops(f"p2: local == {last} in remember", "local"), f"= {last}", 5),
        "one of a function that calls itself": (
            ["stop if p2: rest == -1 in fibonacci", "continue"], "the recording ends here", 5),
    })

