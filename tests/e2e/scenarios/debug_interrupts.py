"""Ctrl-C at any moment of a session, and signals that end it: the prompt comes back, states are still exact, nothing is left."""
import os
import re
import signal
import time

from building import compile_c
from robust import BOUND, Session, Tidy, recorded
from terminal import Terminal

ROUNDS = 400  # of messages, so that there is something to be interrupted
TARGET = "run to p1:300"
PLACES = re.compile(r"^[* ] p\d.*", re.M)

# What is being done, and how to get there.
LONG = [
    (["run to p1:100"], "run to p1:2500"), ([], "continue"), ([], "continue all"), (["run to p1:1500"], "run to p1:20"),
    ([], "stop if p2: counter == 123456789\ncontinue"), (["run to p2:300", "focus p2"], "back"), (["run to p2:300", "focus p2"], "print spin()"),
    (["break longer", "continue all"], "finish"), (["break longer", "continue all"], "next 1000"), (["break longer", "continue all"], "stepi 100000"),
    (["run to p2:300", "focus p2"], "x/200000xb &counter"), (["run to p2:300", "focus p2"], "python while True: pass"), (["run to p1:100"], "while 1"),
    (["run to p2:300", "focus p2", "watch counter if counter == -5"], "continue"), ([], "help all"), ([], "show obj"), (["run to p1:300"], "events p1:1 900"),
]


def _where(session):
    return PLACES.findall(session.do("where"))


def _interrupt(context, session, times):
    for _ in range(times):
        time.sleep(context.random.choice((0, 0.001, 0.01, 0.05, 0.2, 0.5)))
        session.type(b"\x03")


def test_debug_interrupted(context):
    """Ctrl-C, once or twice, while something runs: a prompt, an answer from where, and the same states as without."""
    context.need("gdb")
    recording = recorded(context, rounds=ROUNDS)
    with Tidy(context, recording, "interrupted") as tidy:
        session = Session(context, recording, "reference", tidy.env)
        session.wait_for_prompt()
        session.do(TARGET)
        wanted = _where(session)
        context.expect(len(wanted) >= 3, f"where says {wanted}")
        session.type(b"quit\n")
        session.finish()
        chosen = context.random.sample(LONG, context.rounds(6, len(LONG)))
        for _ in range(context.rounds(1, 5)):
            for before, command in chosen:
                _interrupt_one(context, recording, tidy, before, command, wanted)


def _interrupt_one(context, recording, tidy, before, command, wanted):
    session = Session(context, recording, f"Ctrl-C at {command!r}", tidy.env)
    session.wait_for_prompt()
    for each in before:
        session.do(each)
    session.type(command.encode() + b"\n")
    times = context.random.choice((1, 2))
    _interrupt(context, session, times)
    # A Ctrl-C that came after the command gives a prompt of its own; one that asks for more lines is asked to end.
    end = time.monotonic() + BOUND
    while b"cannot open /the/mark" not in session.seen and time.monotonic() < end:
        session.type(b"\x03source /the/mark\n")
        time.sleep(0.3)
        session.read()
    context.expect(b"cannot open /the/mark" in session.seen, f"{command!r}: there is no answer after Ctrl-C: {session.seen[-1500:]!r}")
    session.type(b"source /the/end\n")
    session.wait_for(b"/the/end:", BOUND)
    session.prompted = session.seen.rfind(b"/the/end:")
    session.wait_for_prompt(BOUND)
    session.do("delete")
    places = _where(session)
    context.expect(len(places) >= 3, f"{command!r}: where says {places}: {session.seen[-1500:]!r}")
    session.do(TARGET)
    reached = _where(session)
    plain = [line[2:] for line in reached]
    context.expect(plain == [line[2:] for line in wanted], f"{command!r}: {TARGET} leads to {reached} instead of {wanted}: {session.seen[-3000:]!r}")
    session.type(b"quit\n")
    context.expect(session.finish() == 0, f"{command!r}: status")
    context.expect_nobody_left(command)


COMPUTING = r"""#include <unistd.h>
volatile long counted;
int main(void) {
  getpid();
  for (long i = 0; i < 600000000; i++) counted++;
  getpid();
  return 0;
}
"""


def test_limit_interrupted_place(context):
    """A process that was stopped by Ctrl-C while it computed: it is shown, and goes on; back and predicates say that the place is not known exactly."""
    context.need("gdb")
    recording = context.path("computing")
    context.record(recording, [compile_c(context, "computing", COMPUTING, "-g", "-O0")])
    context.run([context.pastcone, "debug", recording, "--batch"], label="make the graph")
    with Tidy(context, recording, "place") as tidy:
        session = Session(context, recording, "place", tidy.env)
        session.wait_for_prompt()
        session.do("break main")
        session.do("continue")
        session.type(b"continue\n")
        session.wait_for(b"continue\r\n")
        time.sleep(0.1)
        session.type(b"\x03")
        session.wait_for_prompt()
        context.expect(any("interrupted" in line for line in session.since_last_prompt()), f"{session.since_last_prompt()}")
        first, again = session.do("print counted"), session.do("print counted")
        context.expect(" = " in first and first.split(" = ")[1].split()[0] == again.split(" = ")[1].split()[0], f"it goes on: {first} {again}")
        session.do("stop if p1: 1 == 1 at computing.c:4")
        context.expect("where exactly it was interrupted is not known" in session.do("continue"), "that it is looked for from before is not said")
        session.do("delete 2")
        context.expect("where exactly it was interrupted is not known" in session.do("back"), "it is not said")
        context.expect("the recording ends here" in session.do("continue") + session.do("continue"), "it does not go on")
        session.type(b"quit\n")
        session.finish()


def _gdb_of(session):
    """The gdb of a debugger that has but one."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8") as file:
                inside, behind = file.read().rsplit(")", 1)
        except OSError:
            continue
        if inside.endswith("(gdb") and int(behind.split()[1]) == session.running.process.pid:
            return int(name)
    return None


def test_debug_silent_gdb(context):
    """A gdb that says nothing, for whatever reason: Ctrl-C brings the prompt back, and the gdb is still the same."""
    context.need("gdb")
    recording = recorded(context)
    with Tidy(context, recording, "silent") as tidy:
        for command in ("print counter", "shell sleep 1000", "python input()", "python while True: pass"):
            session = Session(context, recording, f"silent at {command}", tidy.env)
            session.wait_for_prompt()
            session.do("run to p2:20")
            session.do("focus p2")
            session.do("print counter")
            gdb = _gdb_of(session)
            context.expect(gdb, "there is no gdb")
            if command == "print counter":
                os.kill(gdb, signal.SIGSTOP)
            session.type(command.encode() + b"\n")
            end = time.monotonic() + BOUND
            while b"cannot open /the/mark" not in session.seen and time.monotonic() < end:
                time.sleep(0.5)
                session.type(b"\x03source /the/mark\n")
                session.read()
            context.expect(b"cannot open /the/mark" in session.seen, f"{command}: no prompt: {session.seen[-800:]!r}")
            session.type(b"source /the/end\n")
            session.wait_for(b"/the/end:", BOUND)
            session.prompted = session.seen.rfind(b"/the/end:")
            session.wait_for_prompt(BOUND)
            context.expect(" = " in session.do("print counter"), f"{command}: gdb does not answer: {session.seen[-800:]!r}")
            context.expect(_gdb_of(session) == gdb and b"has ended" not in session.seen, f"{command}: another gdb: {session.seen[-800:]!r}")
            session.type(b"quit\n")
            context.expect(session.finish() == 0, f"{command}: status")


# The first time each, and says when it begins.
SLOW = r"""
python
import os, time
def slow(what):
  try:
    os.rename(%(mark)r + what, %(mark)r + "begun")
  except OSError:
    return
  time.sleep(1000)
end
define hook-file
python slow("file")
end
define target hook-remote
python slow("remote")
end
define hook-sharedlibrary
python slow("sharedlibrary")
end
"""


def test_debug_interrupted_connection(context):
    """Ctrl-C while a gdb reads its program, connects or looks for libraries: interrupted, and the next command has all of it."""
    context.need("gdb")
    recording = recorded(context)
    mark = context.path("slow-")
    hooks = context.write("slow.gdb", SLOW % {"mark": mark})
    gdb = context.write("slow-gdb", f"#!/bin/sh\nexec gdb \"$@\" -iex 'source {hooks}'\n", 0o755)
    with Tidy(context, recording, "connection") as tidy:
        for what, command in (("file", "focus p1"), ("remote", "focus p1"), ("sharedlibrary", "run to p1:40")):
            session = Session(context, recording, f"interrupted {what}", {**tidy.env, "PASTCONE_GDB": gdb})
            session.wait_for_prompt()
            session.do("run to p1:30" if what == "sharedlibrary" else "run to p2:20")
            open(mark + what, "w", encoding="utf-8").close()
            session.type(command.encode() + b"\n")
            end = time.monotonic() + BOUND
            while not os.path.exists(mark + "begun") and time.monotonic() < end:
                time.sleep(0.01)
            context.expect(os.path.exists(mark + "begun"), f"{command}: {what} was not asked for")
            os.unlink(mark + "begun")
            session.type(b"\x03")
            session.wait_for(b"interrupted", BOUND)
            session.wait_for_prompt(BOUND)
            said = session.do("print shown")
            context.expect("= {key = " in said, f"{what}: {session.seen[-800:]!r}")
            said = session.do("bt")
            context.expect(" main (" in said and "subject.c:" in said, f"{what}: {session.seen[-800:]!r}")
            session.type(b"quit\n")
            context.expect(session.finish() == 0, f"{what}: status")


def test_debug_questions(context):
    """What gdb asks of a user is answered as it does without a terminal, and it shows all it has to say at once."""
    context.need("gdb")
    recording = recorded(context)
    commands = ["run to p2:20", "focus p2", "set confirm on", "set pagination on", "set height 5", "display counter", "undisplay", "info display", "info types",
                "print counter"]
    arguments = [argument for command in commands for argument in ("-ex", command)]
    said = context.run([context.pastcone, "debug", recording, "--batch", *arguments], label="questions")
    for text in (b"answered Y; input not from terminal", b"There are no auto-display expressions now.", b"struct pair", b"$1 = "):
        context.expect(text in said.stdout, f"{text} is not said", said)


def test_debug_interrupted_lines(context):
    """Ctrl-C at the empty prompt and in the middle of a line, with editing: the line is gone, and nothing else."""
    context.need("gdb")
    recording = recorded(context)
    with Tidy(context, recording, "lines") as tidy:
        terminal = Terminal(context, [context.pastcone, "debug", recording], "lines", env=tidy.env)
        terminal.wait_for(b"(p1:2) ")
        terminal.type(b"\x03")
        terminal.wait_for(b"^C")
        terminal.type(b"run to p1:4")
        terminal.wait_for(b"p1:4")
        terminal.type(b"\x03\x03")
        terminal.wait_for(b"(p1:2) ")
        terminal.type(b"run to p1:40\r")
        terminal.wait_for(b"(p1:40) ")
        terminal.type(b"\x04")
        context.expect(terminal.finish() == 0, "status after Ctrl-D")


def _without_graph(context, recording):
    """As it was before somebody asked for its graph."""
    removed = [name for name in os.listdir(recording) if name.endswith(".idx")]
    for name in removed:
        os.remove(os.path.join(recording, name))
    context.expect(removed, f"there is no graph among {os.listdir(recording)}")


def test_debug_interrupted_graph(context):
    """Ctrl-C, SIGTERM, SIGHUP or SIGKILL while the graph is made for the first time ends it, and the next time it is made whole."""
    context.need("gdb")
    recording = recorded(context, rounds=ROUNDS)
    kept = {name: open(os.path.join(recording, name), "rb").read() for name in os.listdir(recording) if name.endswith(".idx")}
    for number in range(context.rounds(8, 60)):
        _without_graph(context, recording)
        place = context.path("tmp")
        os.makedirs(place, exist_ok=True)
        sent = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)[number % 4]
        running = context.start([context.pastcone, "debug", recording, "--batch", "-ex", "where"], env={"TMPDIR": place}, label=f"graph {sent.name}")
        time.sleep(context.random.uniform(0, 0.6))
        try:
            os.kill(running.process.pid, sent)
        except ProcessLookupError:
            pass
        result = running.finish()
        context.expect(result.status in (0, 128 + sent), f"{sent.name}: status {result.status}", result)
        context.expect_nobody_left("graph")
        context.expect(not os.listdir(place), f"{sent.name}: left {os.listdir(place)} in TMPDIR")
        again = context.run([context.pastcone, "debug", recording, "--batch", "-ex", "where"], label="again")
        context.expect(again.status == 0 and not again.stderr, "the next session is as any other", again)
        for name, was in kept.items():
            with open(os.path.join(recording, name), "rb") as file:
                context.expect(file.read() == was, f"{sent.name}: {name} is not what it was")


def test_debug_signals(context):
    """SIGTERM, SIGHUP, SIGQUIT and SIGKILL while something runs, and at the prompt: all of it ends, soon."""
    context.need("gdb")
    recording = recorded(context, rounds=ROUNDS)
    signals = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGKILL)
    for number in range(context.rounds(6, 80)):
        sent = signals[number % len(signals)]
        before, command = context.random.choice(LONG + [([], "")])
        label = f"{sent.name} at {command!r}"
        with Tidy(context, recording, label) as tidy:
            session = Session(context, recording, label, tidy.env)
            session.wait_for_prompt()
            for each in before:
                session.do(each)
            session.type(command.encode() + b"\n")
            time.sleep(context.random.choice((0, 0.01, 0.05, 0.3)))
            if sent == signal.SIGQUIT and number % 8 < 4:
                session.type(b"\x1c")
            else:
                os.kill(session.running.process.pid, sent)
            begun = time.monotonic()
            status = session.finish()
            context.expect(status == 128 + sent, f"{label}: status {status}: {session.seen[-600:]!r}")
            context.expect(time.monotonic() - begun < BOUND, f"{label}: took {time.monotonic() - begun:.0f} s")
