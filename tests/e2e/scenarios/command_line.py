"""Mistakes on the command line, and looking at a recording."""
import json
import os
import re
import shutil

from steps import Failure


def parse_json(context, label, text):
    """One document, or one per line."""
    try:
        try:
            return json.loads(text)
        except ValueError:
            return [json.loads(line) for line in text.splitlines()]
    except ValueError as error:
        raise Failure(f"{label}: no JSON: {error}: {text[:200]!r}") from None


def test_unknown_subcommand(context):
    """A mistyped subcommand is an error with a suggestion, never a program to record."""
    for typed, meant in (("recrod", "record"), ("repaly", "replay"), ("inof", "info"), ("event", "events")):
        result = context.run([context.pastcone, typed], label=typed)
        context.expect_one_line(typed, result)
        context.expect(meant in result.stderr.decode(), f"{typed}: does not suggest {meant}", result)


def test_bad_usage(context):
    """Missing command, unknown option, a program that does not exist: one line; the last one like a shell."""
    for label, argv in (("no command", ["record", "-o", context.path("a"), "--"]),
                        ("unknown option", ["replay", "--no-such-option"]),
                        ("unknown option of record", ["record", "--no-such-option", "--", "true"])):
        context.expect_one_line(label, context.run([context.pastcone, *argv], label=label))
    result = context.record(context.path("b"), ["./no-such-program"])
    context.expect_one_line("missing program", result)
    context.expect(result.status == 127, "missing program: status should be 127", result)
    context.write("plain", "text\n")
    result = context.record(context.path("c"), ["./plain"])
    context.expect(result.status == 126, "not executable: status should be 126", result)


def test_looking(context):
    """info, ps, events: readable on a terminal and as JSON, with the names of the design."""
    recording = context.path("recording")
    recorded = context.record(recording, [context.program("fork_tree")])
    context.expect(recorded.status == 0, "record", recorded)
    context.expect(len([line for line in recorded.tool_lines() if line.startswith("pastcone: ")]) == 1,
                   "record: should close with one line", recorded)
    for command in ("info", "ps", "events"):
        text = context.run([context.pastcone, command, recording], label=command)
        context.expect(text.status == 0 and text.stdout.strip(), f"{command}: should print something", text)
        data = context.run([context.pastcone, command, recording, "--json"], label=f"{command} --json")
        context.expect(data.status == 0 and parse_json(context, command, data.stdout), f"{command} --json", data)
    ps = context.run([context.pastcone, "ps", recording], label="ps").stdout.decode()
    for process in range(1, 8):
        context.expect(f"p{process}" in ps, f"ps: p{process} of 7 is missing in {ps!r}")
    events = context.run([context.pastcone, "events", recording, "p3"], label="events p3")
    context.expect(events.status == 0 and b"p3:" in events.stdout and b"p2:" not in events.stdout, "events p3", events)


def test_default_place(context):
    """Without -o a recording goes below the user's data directory; without REC the newest is meant."""
    recorded = context.run([context.pastcone, "record", "--", "echo", "kept"], label="record")
    context.expect(recorded.status == 0 and recorded.stdout == b"kept\n", "record", recorded)
    context.expect(os.path.isdir(context.path("home", ".local", "share", "pastcone")), "not below the data directory")
    replay = context.run([context.pastcone, "replay"], label="replay")
    context.expect_same("replay", recorded, replay)
    listed = context.run([context.pastcone, "ls"], label="ls")
    context.expect(listed.status == 0 and listed.stdout.strip(), "ls: should name the recording", listed)


def test_no_home(context):
    """A home that cannot be made: one line says what to set, and with that it works."""
    context.write("file", "")
    home, kept = os.path.join(context.work, "file", "home"), context.path("recording")
    recorded = context.record(kept, ["true"])
    context.expect(recorded.status == 0, "record", recorded)
    for argv, variable in ((["record", "--", "true"], "XDG_DATA_HOME"),
                           (["record", "-o", context.path("other"), "--", "true"], "XDG_CACHE_HOME"),
                           (["replay", kept], "XDG_CACHE_HOME"), (["debug", kept, "--batch"], "XDG_CACHE_HOME")):
        result = context.run([context.pastcone, *argv], label=argv[0], env={"HOME": home})
        context.expect_one_line(argv[0], result)
        context.expect(f"set {variable} to" in result.stderr.decode(), f"{argv[0]}: should name {variable}", result)
    for command in ("replay", "debug"):
        result = context.run([context.pastcone, command, kept], label=f"{command} with a cache", stdin=b"",
                             env={"HOME": home, "XDG_CACHE_HOME": context.path("cache")})
        context.expect(result.status == 0, f"{command} with a cache", result)


def test_doctor(context):
    """doctor says what this machine can do, one line each."""
    result = context.run([context.pastcone, "doctor"], label="doctor")
    context.expect(result.status < 128 and len(result.stdout.splitlines()) >= 4, "doctor", result)


def test_other_build(context):
    """A tool and a runtime of different builds: record and replay say so in one line, and what to do; nothing runs, nothing is left."""
    recording, other = context.path("recording"), context.path("other-runtime")
    context.expect(context.record(recording, ["echo", "ran"]).status == 0, "record")
    shutil.copy(os.path.join(context.options.build, "bin", "pastcone-runtime"), other)
    with open(other, "r+b") as file:
        note = re.search(rb"\x09\0\0\0\x04\0\0\0\x01\0\0\0pastcone\0\0\0\0", file.read())
        context.expect(note, "the runtime has no note")
        file.seek(note.end())
        file.write(b"else")
    for label, argv in (("record", ["record", "-o", context.path("none"), "--", "echo", "ran"]), ("replay", ["replay", recording]),
                        ("verify", ["replay", "--verify", recording])):
        result = context.run([context.pastcone, *argv], env={"PASTCONE_RUNTIME": other}, label=label)
        context.expect_one_line(label, result)
        said = result.stderr.decode()
        context.expect("other-runtime are of different builds; build or install" in said and result.stdout == b"", label, result)
    context.expect(not os.path.exists(context.path("none")), "a recording was left")
