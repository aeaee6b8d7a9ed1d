"""Running and measuring: processes with their CPU and wall time, recordings with their size."""
import dataclasses
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

LIMIT_SECONDS = 300  # a step that takes longer hangs


class Broken(Exception):
    """Something did not run, or not as it should."""


class Missing(Exception):
    """This machine lacks what the benchmark needs."""


@dataclasses.dataclass
class Usage:
    """What a process and all it waited for cost, in seconds."""
    cpu: float
    wall: float


def process_cpu(pid):
    """User and system time of all threads of a running process: utime + stime of /proc/PID/stat, to the nanosecond
    instead of the tick. It is the clock that clock_getcpuclockid(3) names."""
    return time.clock_gettime_ns((~pid << 3) | 2) / 1e9


class Running:
    """A process that was started, in a session of its own."""

    def __init__(self, context, argv, output=subprocess.DEVNULL):
        self.context, self.argv = context, argv
        self.log = open(context.path("stderr"), "w+b")
        self.started = time.monotonic()
        self.process = subprocess.Popen(argv, cwd=context.work, env=context.env, stdin=subprocess.DEVNULL,
                                        stdout=output, stderr=self.log, start_new_session=True)
        self.pid = self.process.pid
        context.running.add(self)

    def has_ended(self):
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def kill(self):
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def finish(self):
        """Waits; Broken unless it ends with status 0 in time."""
        timer = threading.Timer(LIMIT_SECONDS, self.kill)
        timer.start()
        try:
            _, status, usage = os.wait4(self.pid, 0)
        finally:
            timer.cancel()
        wall = time.monotonic() - self.started
        self.process.returncode = os.waitstatus_to_exitcode(status)
        self.context.running.discard(self)
        self.log.seek(0)
        said = self.log.read().decode(errors="replace").strip().splitlines()
        self.log.close()
        if self.process.returncode != 0:
            why = f"status {self.process.returncode} after {wall:.1f} s"
            raise Broken(f"{' '.join(self.argv)[:150]}: {why}" + (f": {said[-1]}" if said else ""))
        return Usage(usage.ru_utime + usage.ru_stime, wall)


class Context:
    """What every benchmark is given: the tool, places for files, how to run things."""

    def __init__(self, directory, options):
        self.directory, self.options, self.running, self.recordings = directory, options, set(), 0
        self.rounds, self.problems = options.rounds, []
        self.work = self.path("work")
        os.mkdir(self.work)
        self.env = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": directory, "LANG": "C.UTF-8",
                    "XDG_CACHE_HOME": self.path("cache"), "XDG_DATA_HOME": self.path("data")}
        # A copy, so that a build in the meantime does not change what is measured.
        shutil.copytree(os.path.join(options.build, "bin"), self.path("bin"),
                        ignore=lambda _, names: [n for n in names if not n.startswith("pastcone")])
        self.pastcone = self.path("bin", "pastcone")

    def path(self, *names):
        return os.path.join(self.directory, *names)

    def progress(self, text):
        if not self.options.quiet:
            print(text, file=sys.stderr, flush=True)

    def need(self, *commands):
        for command in commands:
            if not shutil.which(command, path=self.env["PATH"]):
                raise Missing(f"{command} is not installed")

    def helper(self, name):
        """A C program of programs/: as built by cmake, or else compiled here."""
        built = os.path.join(self.options.build, "bench", name)
        ours = self.path(name)
        if os.path.exists(ours):
            return ours
        if os.path.exists(built):
            shutil.copy(built, ours)
        else:
            self.need("cc")
            source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", name + ".c")
            subprocess.run(["cc", "-O2", "-g", "-pthread", "-D_GNU_SOURCE", "-o", ours, source], check=True)
        return ours

    def fresh_work(self):
        shutil.rmtree(self.work)
        os.mkdir(self.work)

    def start(self, argv, recording=None, output=subprocess.DEVNULL):
        """Natively, or recorded into the directory."""
        if recording:
            argv = [self.pastcone, "record", "--quiet", "-o", recording, "--", *argv]
        return Running(self, argv, output)

    def run(self, argv, recording=None, output=subprocess.DEVNULL):
        return self.start(argv, recording, output).finish()

    def replay(self, recording):
        """None if it diverges: that is noted, and does not take the other figures along."""
        try:
            return self.run([self.pastcone, "replay", "--verify", recording])
        except Broken as error:
            self.problems.append(str(error))
            return None

    def new_recording(self):
        self.recordings += 1
        return self.path(f"recording-{self.recordings}")

    def end_all(self):
        """Whatever was started and not waited for."""
        for running in list(self.running):
            running.kill()
            os.waitpid(running.pid, 0)
            self.running.discard(running)


def size_of(recording):
    """Bytes in the files of a finished recording."""
    return sum(os.lstat(os.path.join(folder, name)).st_size
               for folder, _, files in os.walk(recording) for name in files)


def discard(recording):
    shutil.rmtree(recording, ignore_errors=True)


def in_turn(number, native, recorded):
    """Calls both, the other one first every other round, so that what drifts in the machine favours neither."""
    if number % 2 == 0:
        first = native()
        return first, recorded()
    second = recorded()
    return native(), second
