"""What every end-to-end test is given: its directories, its processes, and the oracle.

The oracle: a program runs natively, then recorded into a fresh directory, then is replayed twice: once where it was
recorded (nothing there may change), once from / with another environment after its working directory is gone. The exit
status must be the native one, and what the replays print must be what the recorded run printed, byte for byte.
"""
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import uuid

from compare import first_difference, tree_state
from steps import STEP_SECONDS, Failure, Running, Skip

FAILURES = "/tmp/pastcone-e2e-fail"
NOBODY = 65534


class Context:
    """One run of one test: its directories, its processes, its options."""

    def __init__(self, name, options):
        self.name, self.options, self.results, self.cleanups = name, options, [], []
        self.sessions = set()
        self.pastcone = os.path.join(options.build, "bin", "pastcone")
        self.dir = tempfile.mkdtemp(prefix="pastcone-e2e-")
        os.chmod(self.dir, 0o755)
        self.work = self.path("work")
        os.mkdir(self.path("home"))
        os.mkdir(self.work)
        self.seed = random.randrange(1 << 32) if options.seed is None else options.seed
        self.random = random.Random(self.seed)
        self.debug_sessions = 0
        self.mark = "PASTCONE_E2E=" + uuid.uuid4().hex
        self.env = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": self.path("home"),
                    "LANG": "C.UTF-8", "PASTCONE_E2E": self.mark.split("=")[1]}

    # Places.
    def path(self, *names):
        return os.path.join(self.dir, *names)

    def program(self, name):
        return os.path.join(self.options.build, "tests", "programs", name)

    def fresh_work(self):
        shutil.rmtree(self.work, ignore_errors=True)
        os.mkdir(self.work)

    def write(self, name, text, mode=0o644):
        path = os.path.join(self.work, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    # What the machine has.
    def need(self, *commands):
        for command in commands:
            if not shutil.which(command, path=self.env["PATH"]):
                raise Skip(f"{command} is not installed")

    def need_root(self):
        if os.geteuid() != 0:
            raise Skip("needs root")

    def free_port(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return probe.getsockname()[1]

    def rounds(self, usual, soak):
        return soak if self.options.soak else usual

    # Steps.
    def start(self, argv, label=None, cwd=None, env=None, stdin=None, user=None, streams=None):
        """Starts a step in a session of its own; `streams` replaces stdin, stdout and stderr (for terminals)."""
        identity = {} if user is None else {"user": user, "group": user, "extra_groups": []}
        source = subprocess.DEVNULL if stdin is None else stdin
        into = dict(zip(("stdin", "stdout", "stderr"), streams)) if streams else {
            "stdin": source, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        process = subprocess.Popen(argv, cwd=cwd or self.work, env={**self.env, **(env or {})},
                                   start_new_session=True, **into, **identity)
        self.sessions.add(process.pid)
        return Running(self, label or os.path.basename(argv[0]), process)

    def run(self, argv, label=None, cwd=None, env=None, stdin=None, timeout=STEP_SECONDS, user=None):
        if stdin is None:
            return self.start(argv, label, cwd, env, user=user).finish(timeout)
        read_end, write_end = os.pipe()
        running = self.start(argv, label, cwd, env, read_end, user)
        os.close(read_end)
        feeder = threading.Thread(target=self._feed, args=(write_end, stdin), daemon=True)
        feeder.start()
        return running.finish(timeout)

    @staticmethod
    def _feed(fd, data):
        try:
            with os.fdopen(fd, "wb") as pipe:
                pipe.write(data)
        except BrokenPipeError:
            pass

    def start_record(self, recording, argv, options=(), **rest):
        return self.start([self.pastcone, "record", *options, "-o", recording, "--", *argv], label="record", **rest)

    def record(self, recording, argv, options=(), **rest):
        result = self.run([self.pastcone, "record", *options, "-o", recording, "--", *argv], label="record", **rest)
        self.expect_nobody_left("record")
        return result

    def replay(self, recording, *options, label="replay", **rest):
        result = self.run([self.pastcone, "replay", recording, *options], label=label, **rest)
        self.expect_nobody_left(label)
        return result

    # Processes. Ours are known by the session we started them in, by the mark in their environment if they left it, and
    # by their directory if they wrote over that as well (redis and nginx do, for their titles).
    def mine(self):
        found, alive, mark = [], set(), self.mark.encode()
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                    fields = file.read().rsplit(")", 1)[1].split()
                if fields[0] in "ZX":
                    continue
                session = int(fields[3])
                alive.add(session)
                if session in self.sessions or self._marked(pid, mark):
                    found.append(int(pid))
            except OSError:
                pass
        self.sessions &= alive  # ids are used again
        return found

    def _marked(self, pid, mark):
        with open(f"/proc/{pid}/environ", "rb") as file:
            if mark in file.read():
                return True
        return os.readlink(f"/proc/{pid}/cwd").startswith(self.dir + "/")

    def kill_all(self):
        for _ in range(200):
            pids = self.mine()
            if not pids:
                return
            self.random.shuffle(pids)
            for pid in pids:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            time.sleep(0.01)

    def expect_nobody_left(self, label):
        end = time.monotonic() + 2
        while left := self.mine():
            if time.monotonic() > end:
                self.kill_all()
                raise Failure(f"{label}: left {len(left)} processes behind")
            time.sleep(0.01)

    # Judgements.
    def expect(self, condition, what, result=None):
        if not condition:
            raise Failure(what + (f"; status {result.status}, stderr: {result.stderr[-600:].decode(errors='replace')!r}"
                                  if result else ""))

    def expect_same(self, label, recorded, replayed):
        self.expect(replayed.status == 0, f"{label}: exit status {replayed.status} instead of 0", replayed)
        self.expect_equal(label, recorded, replayed)

    def expect_equal(self, label, first, second):
        """The same output, byte for byte."""
        for stream, was, now in (("stdout", first.stdout, second.stdout),
                                 ("stderr", first.program_stderr(), second.program_stderr())):
            self.expect(was == now, f"{label}: {stream} differs, {first_difference(was, now)}", second)

    def expect_one_line(self, label, result):
        """A mistake or damage gets one line on stderr and a status that is neither success nor a crash."""
        self.expect(0 < result.status < 128, f"{label}: should fail with a plain status", result)
        self.expect(len(result.tool_lines()) == 1, f"{label}: should say one line", result)

    def exact(self, argv, prepare=None, stable=False, status=None, stdin=None, timeout=STEP_SECONDS, soak=20, user=None,
              env=None, options=()):
        """The oracle. `argv` may be a function called in each fresh working directory, after `prepare`; `options` are those
        of record."""
        rounds = max(self.options.repeat, soak if self.options.soak else 1)
        make = argv if callable(argv) else lambda: argv
        native = None
        for number in range(rounds):
            where = f"round {number + 1} of {rounds}: " if rounds > 1 else ""
            try:
                if native is None or self.options.native_only:
                    before, native = native, self._native(make, prepare, status, stdin, timeout, user, env)
                    if stable and before:
                        self.expect_equal("native", before, native)
                if not self.options.native_only:
                    self._recorded(number, make, prepare, native, stable, stdin, timeout, user, env, options)
            except Failure as failure:
                raise Failure(where + str(failure)) from None

    def _fresh_command(self, make, prepare, user):
        self.fresh_work()
        if prepare:
            prepare()
        command = make()
        if user is not None:
            for folder, _, files in os.walk(self.dir):
                for name in [""] + files:
                    os.chown(os.path.join(folder, name), user, user, follow_symlinks=False)
        return command

    def _native(self, make, prepare, status, stdin, timeout, user, env):
        command = self._fresh_command(make, prepare, user)
        native = self.run(command, label="native", stdin=stdin, timeout=timeout, user=user, env=env)
        if status is not None:
            self.expect(native.status == status, f"native: exit status {native.status} instead of {status}", native)
        return native

    def _recorded(self, number, make, prepare, native, stable, stdin, timeout, user, env, options):
        recording = self.path(f"recording{number}")
        command = self._fresh_command(make, prepare, user)
        recorded = self.record(recording, command, options, stdin=stdin, timeout=timeout, user=user, env=env)
        self.expect(recorded.status == native.status,
                    f"record: exit status {recorded.status}, native {native.status}", recorded)
        if stable:
            self.expect_equal("record against native", native, recorded)
        before = tree_state(self.work)
        self.expect_same("first replay", recorded,
                         self.replay(recording, label="first replay", timeout=timeout, user=user))
        self.expect(tree_state(self.work) == before, "first replay: changed a file of the program")
        shutil.rmtree(self.work)
        self.expect_same("second replay", recorded,
                         self.replay(recording, label="second replay", timeout=timeout, user=user, cwd="/",
                                     env={"ANOTHER_VARIABLE": "x" * self.random.randrange(1, 100)}))
        self.expect(not os.path.exists(self.work), "second replay: wrote into the world")
        if number == 0:
            verify = self.replay(recording, "--verify", label="verify", timeout=timeout, user=user, cwd="/")
            said = (verify.stdout + verify.stderr).decode(errors="replace")
            self.expect(verify.status == 0 and len(said.splitlines()) == 1 and re.search(r"\bok\b", said, re.I),
                        f"verify: should say OK in one line, said {said[:300]!r}", verify)
        shutil.rmtree(recording)

    # The end.
    def close(self, failed, keep):
        """Undoes what the test set up; returns where its files are if they stay."""
        self.kill_all()
        for undo in reversed(self.cleanups):
            undo()
        if not failed and not keep:
            shutil.rmtree(self.dir, ignore_errors=True)
            return None
        for number, result in enumerate(self.results):
            label = re.sub(r"\W+", "-", result.label)
            for stream, data in (("stdout", result.stdout), ("stderr", result.stderr)):
                with open(self.path(f"step{number:03}-{label}.{stream}"), "wb") as file:
                    file.write(data)
        if not failed:
            return self.dir
        if not os.path.isdir(FAILURES):
            os.mkdir(FAILURES)
            os.chmod(FAILURES, 0o1777)
        kept = os.path.join(FAILURES, f"{self.name.replace('/', '-')}-{os.path.basename(self.dir)[-8:]}")
        shutil.move(self.dir, kept)
        return kept
