"""Random commands for pastcone debug, right, nearly right and nonsense: a line or a stop each, and nothing is left afterwards."""
import os
from random import Random

from robust import ABORT, FAULT, KILLED, OVERFLOW, PLAIN, STATUS, SUICIDE, Tidy, expect_plain, recorded

LINES = 25  # of a session
NUMBERS = ["0", "1", "2", "7", "-1", "99999", "4294967296", "18446744073709551616", "9" * 400, "0x10", "1e9", "+", "", " "]
NAMES = ["counter", "total", "shown", "shown.value", "shown.nothing", "nothing", "square", "longer(3)", "*0", "&counter", "$rip", "$_", "main",
         "square(", "(((", "1/0", "\"text\"", "'c'", "local", "n", "r", "how", "text", "sizeof(int)", "spin", "child", "argv[0]", "*argv@2"]
WHO = ["p1", "p2", "p3", "p2.2", "p9", "p0", "p", "px", "p1.9", "p-1", "p18446744073709551616", "all", ""]
PLACES = ["main", "square", "subject.c:50", "subject.c:1", "subject.c:99999", "nowhere.c:3", "*0", "*main", "longer", "50", "+1", "-1", "::", "x::y", ""]
WORDS = ["help", "where", "ps", "cut", "events", "bt", "info locals", "info threads", "info registers rip", "info breakpoints", "info predicates",
         "info watchpoints", "show obj", "show proc", "show messages in-transit", "show message", "list", "up", "down", "back", "forward", "follow",
         "cause", "restart", "continue", "continue all", "step", "next", "finish", "until", "advance", "stepi", "nexti", "delete", "display", "undisplay 1",
         "info display", "info symbol main", "disassemble", "quit x", "source", "run to", "stop if", "trace", "switch", "watch", "rwatch", "awatch",
         "thread", "frame", "info frame", "print", "x", "set var", "call", "condition", "ignore", "enable", "disable", "tbreak", "focus", "commands 1",
         "define x", "python", "while 1", "if 1", "end", "document y", "kill", "detach", "run", "start", "file", "attach 1", "disconnect",
         "target remote x", "checkpoint", "record", "reverse-step", "monitor x", "generate-core-file /nowhere/core", "interrupt", "tui enable", "-thread-info",
         "server x", "maint info sections", "info proc", "signal SIGKILL", "handle all nostop", "inferior 2", "add-inferior", "remove-inferiors 1",
         "symbol-file", "sharedlibrary", "nosharedlibrary", "set non-stop on", "set confirm on", "set pagination on", "set width 10", "set logging on"]
BYTES = [b"\0", b"\0\0x\0", b"\xff\xfe", "ü→ß".encode(), b"\x1b[2J", b"\t\t", b"'\"'", b"\\", b"%s%n", b"{}", b"{", b"}}{", b"\r", b"a" * 100_000, b"print " + b"(" * 50_000,
         b"#", b";", b"!", b"|", b"$(reboot)", b"\x03", b"\x04"]


def _valid(random):
    """A command that means something, if its words do."""
    pick = random.choice
    event = lambda: f"{pick(WHO)}:{pick(NUMBERS + ['10', '20', '24', '30', '60'])}"
    return pick([
        lambda: pick(WORDS),
        lambda: f"print {pick(NAMES)}", lambda: f"x/{pick(NUMBERS)}{pick('xsiwcb')} {pick(NAMES)}", lambda: f"set var {pick(NAMES)} = {pick(NUMBERS)}",
        lambda: f"display {pick(NAMES)}", lambda: f"break {pick(PLACES)}", lambda: f"tbreak {pick(PLACES)} if {pick(NAMES)} == {pick(NUMBERS)}",
        lambda: f"break all subject: {pick(PLACES)}", lambda: f"break all {pick(PLACES)}", lambda: f"break recv {pick(WHO)}->{pick(WHO)}",
        lambda: f"break send from {pick(WHO)}", lambda: f"{pick(['watch', 'rwatch', 'awatch', 'watch -l'])} {pick(NAMES)}",
        lambda: f"run to {event()}", lambda: f"run to {pick(['send', 'recv'])} {pick(NUMBERS)} of {pick(WHO)}->{pick(WHO)}",
        lambda: f"run to obj {pick(NUMBERS)}#{pick(NUMBERS)}", lambda: f"focus {pick(WHO)}", lambda: f"events {event()} {pick(NUMBERS)}",
        lambda: f"show message {event()}", lambda: f"show proc {pick(WHO)}", lambda: f"delete {pick(NUMBERS)}", lambda: f"condition {pick(NUMBERS)} {pick(NAMES)}",
        lambda: f"ignore {pick(NUMBERS)} {pick(NUMBERS)}", lambda: f"{pick(['enable', 'disable'])} {pick(NUMBERS)}", lambda: f"continue {pick(NUMBERS)}",
        lambda: f"{pick(['step', 'next', 'stepi', 'nexti'])} {pick(['2', '0', '-1', 'x', '5'])}", lambda: f"{pick(['back', 'forward', 'cause'])} {pick(NUMBERS)}",
        lambda: f"cause on fd {pick(NUMBERS)}", lambda: f"thread {pick(NUMBERS)}", lambda: f"frame {pick(NUMBERS)}", lambda: f"list {pick(PLACES)}",
        lambda: f"stop if {pick(WHO)}: {pick(NAMES)} == {pick(NUMBERS)}", lambda: f"stop if {pick(WHO)}: {pick(NAMES)} > 2 && {pick(WHO)}: {pick(NAMES)} == 1",
        lambda: f"stop if any subject: counter > {pick(NUMBERS)} || p1: shown.key == 2", lambda: f"stop if p2: counter > 1000 -> p3: counter > {pick(NUMBERS)}",
        lambda: f"trace {pick(NAMES)} if {pick(WHO)}: {pick(NAMES)}", lambda: f"switch {pick(NUMBERS)}", lambda: f"until {pick(PLACES)}",
        lambda: f"advance {pick(PLACES)}", lambda: f"source {pick(['/nowhere', '/dev/null', '/', '/proc/self/mem', ''])}", lambda: f"help {pick(WORDS)}",
    ])()


def _line(random):
    line = _valid(random).encode()
    kind = random.randrange(10)
    if kind == 0:
        return random.choice(BYTES)
    if kind == 1:  # cut off, or something put in
        at = random.randrange(len(line) + 1)
        return line[:at] + (random.choice(BYTES) if random.randrange(2) else b"")
    if kind == 2:
        return line + b" " + random.choice(BYTES + [name.encode() for name in NAMES + NUMBERS])
    return line


# These leave the debugger, or read what follows them; what gdb does after them is gdb's.
UNWANTED = (b"quit", b"exit", b"q", b"shell", b"!", b"python-interactive", b"make", b"pi", b"edit")


def _session(random):
    lines = []
    while len(lines) < LINES:
        line = _line(random).replace(b"\n", b" ")
        if line.strip().split(b" ")[0].strip() not in UNWANTED and not line.strip().startswith((b"!", b"q")):
            lines.append(line)
    return lines


def _recordings(context):
    parallel = ("--threads=parallel",)
    return [recorded(context), recorded(context, options=parallel), recorded(context, FAULT), recorded(context, ABORT), recorded(context, OVERFLOW),
            recorded(context, SUICIDE), recorded(context, STATUS), recorded(context, KILLED), recorded(context, KILLED, options=parallel)]


def test_debug_fuzz(context):
    """Sessions of random commands end in bounded time with their documented status, with a line for a mistake, and leave nothing."""
    context.need("gdb")
    recordings = _recordings(context)
    seeds = range(context.random.randrange(1 << 30), 1 << 62)
    for seed, _ in zip(seeds, range(context.rounds(4, 150))):
        random = Random(seed)
        recording = recordings[PLAIN] if seed % 3 == 0 else random.choice(recordings)
        lines = _session(random)
        label = f"seed {seed} ({os.path.basename(recording)})"
        with Tidy(context, recording, label) as tidy:
            lines += [b"end"] * 3  # of bodies that one of them may have begun
            result = context.run([context.pastcone, "debug", recording], stdin=b"\n".join(lines) + b"\nquit 0\n", env=tidy.env, label=label, timeout=300)
            expect_plain(context, label, result, len(lines))
            context.expect(result.status == 0, f"{label}: status {result.status} after quit 0", result)
