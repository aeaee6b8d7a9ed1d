"""pastcone debug with a stdin, stdout, home and disk of every kind: it ends, with its status, and leaves nothing."""
import os
import subprocess

from building import mount_small
from robust import Tidy, expect_plain, recorded
from terminal import Terminal


def _debug(context, tidy, label, *arguments, stdin=b"", env=None, **rest):
    result = context.run([context.pastcone, "debug", tidy.recording, *arguments], stdin=stdin, env={**tidy.env, **(env or {})}, label=label, **rest)
    context.expect_nobody_left(label)
    return result


def test_debug_stdin(context):
    """Bytes that are no text, a line without an end, an empty file, a closed descriptor, a directory."""
    context.need("gdb")
    with Tidy(context, recorded(context), "stdin") as tidy:
        garbage = context.random.randbytes(20_000)
        result = _debug(context, tidy, "garbage", stdin=garbage.replace(b"q", b"").replace(b"!", b""))
        expect_plain(context, "garbage", result)
        expect_plain(context, "NUL bytes", _debug(context, tidy, "NUL bytes", stdin=b"\0" * 10_000 + b"\nwhere\n\0where"))
        half = _debug(context, tidy, "no end of line", stdin=b"run to p1:40\nwhe\nwhere")
        context.expect(half.status == 0 and half.stdout.count(b"\n* p1:40 ") == 2, "what stands before the end of stdin is done", half)
        context.expect(_debug(context, tidy, "empty").status == 0, "an empty stdin is no mistake")
        for name, redirection in (("closed", "<&-"), ("a directory", "</")):
            shell = f'exec "$0" debug "$1" -ex where {redirection}'
            result = context.run(["/bin/sh", "-c", shell, context.pastcone, tidy.recording], env=tidy.env, label=name)
            context.expect(result.status == 0 and b"* p1:" in result.stdout, f"stdin is {name}", result)


def test_debug_stdout(context):
    """Nobody reads what it prints, it is closed, or its disk is full: it ends at once, without a fuss."""
    context.need("gdb")
    commands = " ".join(["-ex 'x/3000xb main' -ex where -ex 'help all'"] * 20)
    with Tidy(context, recorded(context), "stdout") as tidy:
        for name, redirection, statuses in (("read by nobody", "| head -1", (0,)), ("closed", ">&-", (0, 1)), ("full", ">/dev/full", (1,)),
                                            ("all closed", ">&- 2>&- <&-", (0, 1))):
            shell = f'"$0" debug "$1" --batch -ex "run to p1:40" {commands} {redirection}'
            result = context.run(["/bin/sh", "-c", shell, context.pastcone, tidy.recording], env=tidy.env, label=name)
            context.expect(result.status in statuses, f"stdout is {name}: status {result.status}", result)
            context.expect(len(result.stderr.splitlines()) <= 1, f"stdout is {name}: more than a line", result)
            context.expect_nobody_left(name)
        little = context.run(["/bin/sh", "-c", 'exec "$0" debug "$1" --batch -ex "run to p1:40" -ex where > /dev/full', context.pastcone, tidy.recording],
                             env=tidy.env, label="little")
        reason = little.stderr.decode().partition("cannot write the output")[2].strip()
        context.expect(little.status == 1 and reason in ("", ": No space left on device"), f"a full disk is called {reason!r}", little)
        unread = subprocess.run(["/bin/bash", "-c", f'"$0" debug "$1" --batch -ex "run to p1:40" {commands} | head -1; exit ${{PIPESTATUS[0]}}',
                                 context.pastcone, tidy.recording], env={**context.env, **tidy.env}, capture_output=True, timeout=60, check=False)
        context.expect(unread.returncode == 141, f"as others it ends by SIGPIPE, not with {unread.returncode}: {unread.stderr!r}")


def test_debug_homes(context):
    """No HOME, one that is not there, one that may not be written to, no room for the history: the session goes on without."""
    context.need("gdb")
    recording = recorded(context)
    nowhere = context.path("file")
    with open(nowhere, "wb"):
        pass
    homes = [("unset", {"HOME": ""}), ("not there", {"HOME": "/nowhere/at/all"}), ("a file", {"HOME": nowhere})]
    if os.geteuid() == 0:
        full = mount_small(context, "4k")
        with open(os.path.join(full, "fill"), "wb") as file, open(os.devnull, "wb"):
            try:
                file.write(b"x" * 100_000)
                file.flush()
            except OSError:
                pass
        homes.append(("full", {"XDG_STATE_HOME": full}))
    cache = context.path("cache")
    with Tidy(context, recording, "homes") as tidy:
        for name, env in homes:
            terminal = Terminal(context, [context.pastcone, "debug", recording], f"home is {name}",
                                env={**tidy.env, "XDG_CACHE_HOME": cache, **env, "TERM": "dumb"})
            terminal.wait_for_prompt()
            terminal.type(b"run to p1:40\n")
            terminal.wait_for_prompt()
            context.expect(any("p1:40" in line or "subject.c" in line for line in terminal.since_last_prompt()), f"home is {name}: {terminal.seen!r}")
            terminal.type(b"quit\n")
            context.expect(terminal.finish() == 0, f"home is {name}: status")
