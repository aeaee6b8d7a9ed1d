"""docs/tutorial.md: its commands still do what it says."""
import os
import re

from catalogue import PROGRAMS
from debugging import debug
from lost_update import record_until_lost
from terminal import Terminal

DOCUMENT = os.path.join(os.path.dirname(PROGRAMS), "..", "docs", "tutorial.md")
PROMPT = re.compile(r"\((p\d+):\d+\) (.+)")
STOP = "stop if p2: v == 1 && p3: v == 2"


def _told():
    """The session: focus before it, command, and what it prints, one after the other."""
    steps = []
    with open(DOCUMENT, encoding="utf-8") as file:
        for block in re.findall(r"(?ms)^```\n(.*?)^```", file.read()):
            if not PROMPT.match(block):
                continue
            for line in block.splitlines():
                if prompt := PROMPT.fullmatch(line):
                    steps.append((*prompt.groups(), []))
                else:
                    steps[-1][2].append(line)
    return steps


def _key_lines(command, lines):
    """What must be the same in each recording: source lines, frames, values. How far the others have come is not."""
    if command == "where" or command.startswith("focus"):
        return []
    keys = [line for line in lines if re.match(r"\d+\t|\$\d+ = |Breakpoint|#\d|.* in \w+ \(|\w+ \(", line)]
    return [_plain(line) for line in keys]


def _plain(line):
    line = re.sub(r"0x[0-9a-f]+", "0x", line)
    line = re.sub(r"[^\s(]*/(\w+\.c)\b", r"\1", line)  # wherever it was built
    line = re.sub(r"\bclient=\d", "client=", line)  # whoever was accepted first has the lower descriptor
    return re.sub(r"\b(p\d+):\d+", r"\1:", line)


def _recording_as_told(context):
    """One in which replica 1 is met just when it takes the 1, as in most."""
    for _ in range(20):
        recording, _ = record_until_lost(context)
        if b"kv.c:47 in serve_request\n" in re.findall(rb"(?m)^  p2:.*\n", debug(context, recording, STOP, "continue").stdout)[0]:
            return recording
    context.expect(False, "20 recordings, and replica 1 was always met later")


def test_debug_tutorial(context):
    """All commands of the tutorial, in one session: each prints the lines that it shows there, with that process in focus."""
    context.need("gdb")
    steps = _told()
    context.expect(len(steps) > 20, f"the tutorial has {len(steps)} commands")
    recording = _recording_as_told(context)
    terminal = Terminal(context, [context.pastcone, "debug", recording], "the tutorial", env={"TERM": "dumb"})
    for number, (focus, command, lines) in enumerate(steps):
        terminal.wait_for_prompt()
        printed = terminal.since_last_prompt()
        if number > 0:
            _check(context, steps[number - 1], printed)
        context.expect(printed[-1].startswith(f"({focus}:"), f"before `{command}` {focus} should be in focus: {printed}")
        terminal.type(command.encode() + b"\n")
    terminal.wait_for_prompt()
    _check(context, steps[-1], terminal.since_last_prompt())
    terminal.type(b"quit\n")
    context.expect(terminal.finish() == 0, f"the tutorial: {terminal.seen[-800:]!r}")
    context.expect_nobody_left("the tutorial")


def _check(context, step, output):
    printed = [_plain(line) for line in output]
    for line in _key_lines(*step[1:]):
        context.expect(line in printed, f"`{step[1]}` should print {line!r}, printed {output}")
