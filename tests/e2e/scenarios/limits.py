"""docs/limitations.md, line by line: what is not supported is refused, declined, run outside or recorded up to there, and
said by name. Nothing hangs, and no replay shows something else without saying so. The sections are in limits_*.py."""
import os
import re

from catalogue import PROGRAMS, programs


DOCUMENT = os.path.join(os.path.dirname(PROGRAMS), "..", "docs", "limitations.md")


def test_limit_lines(context):
    """Every line of docs/limitations.md names a test, and that test exists."""
    names = {program.name for program in programs()}
    for folder in ("scenarios", "real"):
        place = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), folder)
        for file in filter(lambda name: name.endswith(".py"), os.listdir(place)):
            with open(os.path.join(place, file), encoding="utf-8") as module:
                names.update(re.findall(r"(?m)^def test_(\w+)", module.read()))
    with open(DOCUMENT, encoding="utf-8") as file:
        items = re.findall(r"(?ms)^- .*?(?=^- |^\S|^$)", file.read())
    context.expect(len(items) > 15, "the document has no lines")
    for item in items:
        tests = [name for mark in re.findall(r"†((?:[ \n,]+`\w+`)+)", item) for name in re.findall(r"`(\w+)`", mark)]
        context.expect(tests, f"no test is named in {item!r}")
        for name in tests:
            context.expect(name in names, f"there is no test {name}, which is named in {item!r}")


def test_limit_debugger(context):
    """Without a recording, without gdb, with a condition over two processes: one line says so."""
    context.need("gdb")
    context.expect_one_line("debug without a recording", context.run([context.pastcone, "debug"]))
    recording = context.path("recording")
    context.record(recording, ["/bin/sh", "-c", "(:); (:)"])
    without = context.run([context.pastcone, "debug", recording, "--batch", "-ex", "bt"], env={"PATH": "/nowhere"}, label="without gdb")
    context.expect(without.status == 1 and without.stderr == b"gdb is not installed; apt install gdb\n", "without gdb", without)
    both = context.run([context.pastcone, "debug", recording, "--batch", "-ex", "stop if p1: x == p2: x"], label="two processes")
    context.expect(both.status == 1 and len(both.stderr.splitlines()) == 1 and b"p2" in both.stderr, "two processes", both)
    asked = context.path("asked")
    context.record(asked, [context.program("asked_predicates")])
    for what, why in (("says(1) == 2", b"only pure functions"), ("number == 3 + own2 in handle", b"own2")):
        refused = context.run([context.pastcone, "debug", asked, "--batch", "-ex", f"stop if p1: {what}", "-ex", "continue"], label=what)
        context.expect(len(refused.stderr.splitlines()) == 1 and why in refused.stderr, what, refused)
    context.expect_nobody_left("debug")
