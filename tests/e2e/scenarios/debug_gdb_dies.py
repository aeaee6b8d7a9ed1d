"""gdbs that are killed: there are others, at the same place, with the same displays; breakpoints and watchpoints are not theirs."""
import os
import signal
import time

from robust import Session, Tidy, recorded


def _kill_gdbs(session):
    """All that the debugger has started; how many. They are dead then."""
    killed = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                name, fields = file.read().rsplit(")", 1)
            if "(gdb" in name and int(fields.split()[1]) == session.running.process.pid and fields.split()[0] not in "ZX":
                os.kill(int(pid), signal.SIGKILL)
                killed.append(pid)
        except OSError:
            pass
    while any(_state(pid) not in "ZX" for pid in killed):
        time.sleep(0.01)
    return len(killed)


def _state(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rsplit(")", 1)[1].split()[0]
    except OSError:
        return "X"


def _expect(context, session, command, *texts):
    said = session.do(command)
    for text in texts:
        context.expect(text in said, f"{session.label}: {command} does not say {text!r}: {said!r}")
    return said


def test_debug_gdb_killed(context):
    """While idle: all that was set is there again, and the place; what is going on is found by the next command."""
    context.need("gdb")
    recording = recorded(context)
    with Tidy(context, recording, "idle") as tidy:
        session = Session(context, recording, "idle", tidy.env)
        session.wait_for_prompt()
        for command in ("break all subject: longer", "continue all", "display counter", "display/x total", "watch total", "set print address off"):
            session.do(command)
        place, killed = session.do("bt"), 0
        for command, texts in (("bt", place.split("\n")[1:-1]), ("print n", ("= 1000",)), ("info display", ("counter", "total")), ("up", ("#1", "child")),
                               ("info watchpoints", ("total",)), ("info breakpoints", ("longer",)), ("next", ("counter = ", "total = ")),
                               ("continue all", ("Breakpoint 1, ", "longer (n=1000)"))):
            killed += _kill_gdbs(session)
            _expect(context, session, command, *texts)
        context.expect(killed > 5, f"only {killed} gdbs were killed")
        session.type(b"quit\n")
        context.expect(session.finish() == 0, "status")


def test_debug_gdb_killed_at_work(context):
    """While it resumes, prints or computes: a prompt, and the process is at a place that where and gdb agree upon."""
    context.need("gdb")
    recording = recorded(context, rounds=400)
    commands = ["next 200", "continue", "stepi 3000", "x/100000xb main", "python while True: pass", "finish", "until", "info types"]
    with Tidy(context, recording, "at work") as tidy:
        session = Session(context, recording, "at work", tidy.env)
        session.wait_for_prompt()
        for number in range(context.rounds(6, 60)):
            command = commands[number % len(commands)]
            for each in ("restart", "delete", "break all subject: longer", "continue all"):
                session.do(each)
            session.type(command.encode() + b"\n")
            time.sleep(context.random.choice((0, 0.01, 0.05, 0.2)) if "True" not in command else 0.2)
            _kill_gdbs(session)
            session.wait_for_prompt()
            said = _expect(context, session, "where", "* p")
            focus = [line for line in said.split("\n") if line.startswith("* ")][0]
            if "ended" not in focus:
                _expect(context, session, "bt", "#0 ")
            _expect(context, session, "run to p1:40", "subject.c:")
            _expect(context, session, "where", "* p1:40 ")
        session.type(b"quit\n")
        context.expect(session.finish() == 0, "status")


def test_debug_process_killed(context):
    """Somebody kills a replayed process: one line says so, and restart begins again."""
    context.need("gdb")
    recording = recorded(context)
    with Tidy(context, recording, "process killed") as tidy:
        session = Session(context, recording, "process killed", tidy.env)
        session.wait_for_prompt()
        for command in ("run to p2:12", "where", "bt", "next", "continue", "continue all"):
            session.do("restart")
            session.do("run to p2:12")
            debugger = session.running.process.pid
            for pid in context.mine():
                try:
                    with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
                        is_gdb = file.read().startswith("gdb")
                    if pid != debugger and not is_gdb:
                        os.kill(pid, signal.SIGKILL)
                except OSError:
                    pass
            said = session.do(command)
            context.expect("Traceback" not in said and "std::" not in said, f"{command}: {said!r}")
        session.do("restart")
        _expect(context, session, "run to p1:40", "subject.c:")
        session.type(b"quit\n")
        status = session.finish()
        context.expect(status == 0, f"status {status}: {session.seen!r}")
