"""Ctrl-C and terminals: what reaches the program is what would reach it natively."""
import os
import pty
import signal
import time


def test_interrupt_handled(context):
    """SIGINT to the whole group: the program's handler runs, its status is passed through, replay shows it again."""
    recording = context.path("recording")
    running = context.start_record(recording, [context.program("interrupted"), "1"])
    running.wait_for_output(b"ready\n")
    os.killpg(running.process.pid, signal.SIGINT)
    recorded = running.finish()
    context.expect(recorded.status == 42 and recorded.stdout == b"ready\ninterrupted 1\n", "record", recorded)
    context.expect_same("replay", recorded, context.replay(recording))


def test_interrupt_default(context):
    """SIGINT without a handler ends the program, with the status a shell would show."""
    recording = context.path("recording")
    running = context.start_record(recording, ["sh", "-c", "echo ready; sleep 60"])
    running.wait_for_output(b"ready\n")
    time.sleep(0.1)
    os.killpg(running.process.pid, signal.SIGINT)
    recorded = running.finish()
    context.expect(recorded.status == 130, "record: status should be 130", recorded)
    context.expect_same("replay", recorded, context.replay(recording))


def test_second_interrupt(context):
    """A program that ignores SIGINT: the second one ends the recording cleanly."""
    recording = context.path("recording")
    running = context.start_record(recording, [context.program("interrupted"), "0"])
    running.wait_for_output(b"ready\n")
    for _ in range(2):
        os.killpg(running.process.pid, signal.SIGINT)
        time.sleep(0.4)
    end = time.monotonic() + 10
    while running.process.poll() is None and time.monotonic() < end:
        time.sleep(0.02)
    ended = running.process.poll() is not None
    context.kill_all()
    running.finish(60)
    context.expect(ended, "record: still there after the second SIGINT")
    replay = context.replay(recording)
    context.expect(replay.status == 0 and replay.stdout == b"ready\n", "replay", replay)


def test_interrupt_computing(context):
    """SIGINT into `while True: pass`."""
    recording = context.path("recording")
    program = "try:\n  print('ready', flush=True)\n  while True: pass\nexcept KeyboardInterrupt:\n  print('interrupted')"
    running = context.start_record(recording, ["/usr/bin/python3", "-c", program])
    running.wait_for_output(b"ready\n")
    time.sleep(0.2)
    os.killpg(running.process.pid, signal.SIGINT)
    recorded = running.finish()
    context.expect(recorded.status == 0 and recorded.stdout == b"ready\ninterrupted\n", "record", recorded)
    context.expect_same("replay", recorded, context.replay(recording))


def read_terminal(master, until, seconds=20):
    seen, end = b"", time.monotonic() + seconds
    os.set_blocking(master, False)
    while until not in seen and time.monotonic() < end:
        try:
            seen += os.read(master, 65536)
        except BlockingIOError:
            time.sleep(0.01)
        except OSError:  # the other side is closed
            break
    return seen


def test_terminal(context):
    """On a terminal: input is typed, isatty and the size are seen, Ctrl-C is typed too; replay needs no terminal."""
    recording = context.path("recording")
    script = ("test -t 0 && test -t 1 && echo terminal; stty size; read -r line; echo \"got $line\"; "
              "trap 'echo trapped; exit 7' INT; echo waiting; while :; do sleep 0.1; done")
    master, slave = pty.openpty()
    argv = [context.pastcone, "record", "-o", recording, "--", "bash", "-c", script]
    setup = ["/usr/bin/python3", "-c", "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
             "os.execv(sys.argv[1], sys.argv[1:])", *argv]
    running = context.start(setup, label="record", streams=(slave, slave, slave))
    os.close(slave)
    os.write(master, b"hello\n")
    seen = read_terminal(master, b"waiting")
    os.write(master, b"\x03")
    seen += read_terminal(master, b"trapped")
    result = running.finish()
    os.close(master)
    context.expect(result.status == 7, f"record: status {result.status}, terminal showed {seen!r}")
    context.expect(b"got hello" in seen, f"record: terminal showed {seen!r}")
    replay = context.replay(recording)
    context.expect(replay.status == 0 and replay.stdout.startswith(b"terminal\n0 0\ngot hello\nwaiting\n")
                   and replay.stdout.endswith(b"trapped\n"), f"replay printed {replay.stdout!r}", replay)
