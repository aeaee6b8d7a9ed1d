"""pastcone demo: the tour, without a terminal and with one, and left to the user."""
import os
import re
import shutil

from building import compile_c
from lost_update import LOST
from terminal import Terminal

# What the tour goes by, in this order.
WAY = (r"\$ while pastcone record -- kv; do true; done\n(v=2\n)*" + LOST.decode(),
       r"\$ pastcone replay\n" + LOST.decode(),
       r"\(p1:\d+\) stop if p2: v == 1 && p3: v == 2\n",
       r"\(p1:\d+\) continue\nPredicate 1: ",
       r"\(p2:\d+\) where\n",
       r"\n\* p2:\d+ +kv\.c:(47 in serve_request|31 in send_message)",
       r"\(p2:\d+\) cause\np1:\d+ → p2:\d+",
       r" in ask \(replica=6, what=kPut, value=1\) at ",
       r"\(p1:\d+\) up\n.* in put_both \(first=6, second=5, value=1\)",
       r"\(p1:\d+\) cause\np3:\d+ → p1:\d+",
       r" in serve_request \(client=\d\) at ",
       r"\(p3:\d+\) list\n",
       r"\n45\t    readable = 1;\n",
       r"\nAnd there is the line: `readable = 1`")


def _expect_way(context, text, label):
    at = 0
    for step in WAY:
        found = re.compile(step).search(text, at)
        context.expect(found, f"{label}: there is no {step!r} in {text[at:]!r}")
        at = found.end()


def _recordings(context):
    place = context.path("home", ".local", "share", "pastcone")
    return sorted(os.listdir(place)) if os.path.isdir(place) else []


def test_demo(context):
    """Without a terminal the tour runs through, and ends at the line with the bug. Its recording is the only one that is left."""
    context.need("gdb")
    for number in range(context.rounds(1, 20)):
        result = context.run([context.pastcone, "demo"], label="demo")
        context.expect_nobody_left("demo")
        context.expect(result.status == 0 and result.stderr == b"", "demo", result)
        _expect_way(context, result.stdout.decode(), "demo")
        context.expect(len(_recordings(context)) == number + 1, f"recordings: {_recordings(context)}")
    newest = context.run([context.pastcone, "replay"], label="replay")
    context.expect(newest.status == 0 and newest.stdout == LOST, "the newest recording should be that of the tour", newest)


def test_demo_terminal(context):
    """On a terminal it waits for the reader; Enter goes on at once."""
    context.need("gdb")
    terminal = Terminal(context, [context.pastcone, "demo"], "demo")
    status = terminal.finish(meanwhile=b"\n")
    context.expect_nobody_left("demo")
    # What is waited for is taken back; the Enters typed meanwhile are seen behind it.
    shown = re.sub(r"\x1b\[\d*m|\r(?!\n)\x1b\[K[^\r\n\x1b]*(?:\r\n)*|\r", "", terminal.seen.decode())
    context.expect(status == 0 and "Enter goes on" in shown, f"demo: status {status}, showed {shown!r}")
    _expect_way(context, re.sub(r"\n+", "\n", shown), "demo")


def test_demo_interrupted(context):
    """Ctrl-C ends it, while it records, while it waits and in the debugger; nothing is left running, and no recording that is not whole."""
    context.need("gdb")
    for until in (b"pastcone record", b"pastcone replay", b"pastcone debug", b"continue"):
        terminal = Terminal(context, [context.pastcone, "demo"], "demo")
        terminal.wait_for(until, meanwhile=b"\n")
        terminal.type(b"\x03")
        status = terminal.finish()
        context.expect_nobody_left("demo")
        context.expect(status == 130, f"Ctrl-C after {until!r}: status {status}, showed {terminal.seen[-800:]!r}")
    for name in _recordings(context):
        replay = context.run([context.pastcone, "replay", name], label="replay")
        context.expect(replay.status == 0 and replay.stdout == LOST, f"{name} was left", replay)


def test_demo_interactive(context):
    """--interactive records likewise and says what to try; the commands do what it says."""
    context.need("gdb")
    terminal = Terminal(context, [context.pastcone, "demo", "--interactive"], "demo --interactive")
    terminal.wait_for(b"Commands to try", meanwhile=b"\n")
    terminal.wait_for(b"(p1:2) ")
    listed = re.findall(r"(?m)^    ([a-z].*?)(?:  .*)?\r$", terminal.seen.decode().split("Commands to try")[1])
    context.expect(len(listed) > 8, f"commands to try: {listed}")
    prompts = {"stop if": b"(p1:", "continue": b"(p2:", "focus p3": b"(p3:", "focus p2": b"(p2:"}
    causes = [b"(p1:", b"(p3:"]
    prompt = b"(p1:"
    for command in listed:
        terminal.type(command.encode() + b"\n")
        for begin, new in prompts.items():
            prompt = new if command.startswith(begin) else prompt
        prompt = causes.pop(0) if command == "cause" else prompt
        prompt = b"(p1:" if command == "back" else prompt
        terminal.wait_for(prompt)
    context.expect(b"readable = 1;" in terminal.seen, f"showed {terminal.seen!r}")
    terminal.type(b"quit\n")
    status = terminal.finish()
    context.expect_nobody_left("demo --interactive")
    context.expect(status == 0, f"demo --interactive: status {status}, showed {terminal.seen[-800:]!r}")


def _demo_with(context, source):
    """The tour with another program in place of kv."""
    shutil.copytree(os.path.join(context.options.build, "bin"), context.path("other", "bin"), dirs_exist_ok=True)
    os.makedirs(context.path("other", "examples"), exist_ok=True)
    shutil.move(compile_c(context, "kv", source), context.path("other", "examples", "kv"))
    return context.run([context.path("other", "bin", "pastcone"), "demo"], label="demo", timeout=300)


def test_demo_says_what_is_wrong(context):
    """If nothing fails, if something else fails, if there is no program and no gdb: one line, and no recording is left."""
    context.need("gdb")
    sound = _demo_with(context, '#include <stdio.h>\nint main(void) { puts("v=2"); return 0; }')
    context.expect_one_line("kv that never fails", sound)
    context.expect(b"has not failed in 200 runs" in sound.stderr and sound.stdout.count(b"v=2\n") == 200, "kv that never fails", sound)
    broken = _demo_with(context, '#include <stdio.h>\nint main(void) { puts("v=3"); return 1; }')
    context.expect(broken.status == 1 and b"failed; `pastcone doctor`" in broken.stderr, "kv that fails otherwise", broken)
    os.remove(context.path("other", "examples", "kv"))
    missing = context.run([context.path("other", "bin", "pastcone"), "demo"], label="demo")
    context.expect_one_line("no kv", missing)
    without = {"PATH": "/nowhere"}
    context.expect_one_line("no gdb", context.run([context.pastcone, "demo"], env=without, label="demo"))
    context.expect(_recordings(context) == [], f"recordings: {_recordings(context)}")
    doctor = context.run([context.pastcone, "doctor"], env=without, label="doctor")
    context.expect(re.search(rb"(?m)^limited +gdb: .*apt install gdb", doctor.stdout), "doctor without gdb", doctor)
    doctor = context.run([context.pastcone, "doctor"], label="doctor")
    context.expect(re.search(rb"(?m)^ok +gdb: /", doctor.stdout), "doctor", doctor)
