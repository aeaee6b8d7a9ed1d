"""What recording costs PostgreSQL, whose processes share memory and so run one at a time, under pgbench from outside."""
import functools
import os
import re
import shutil
import signal
import subprocess
import time

from measure import Broken, Missing, Usage, discard, in_turn
from report import Row, ratios

SECONDS, CLIENTS, NOBODY = 5, 4, 65534
BOUND = 1.25


def parts(context):
    base = "/usr/lib/postgresql"
    found = [os.path.join(base, version, "bin") for version in sorted(os.listdir(base))] if os.path.isdir(base) else []
    found = [path for path in found if os.path.exists(os.path.join(path, "initdb"))]
    if not found:
        raise Missing("postgresql is not installed")
    context.need("pgbench", "taskset", "setpriv")
    postgres = Postgres(context, found[-1])
    pinned = {"server on one core": (["taskset", "-c", "0"], ["taskset", "-c", "1"], BOUND)} if os.cpu_count() > 1 else {}
    return [functools.partial(measure, context, postgres, name, *how)
            for name, how in {**pinned, "server on all cores": ([], [], None)}.items()]


def ticks(pid):
    """Seconds of CPU time of a process, and of those it has waited for."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK"), sum(map(int, fields[13:15])) / os.sysconf("SC_CLK_TCK")


class Postgres:
    """A directory with the data pgbench wants, and servers on copies of it."""

    def __init__(self, context, programs):
        self.context, self.programs, self.home = context, programs, context.path("postgres")
        self.user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "env", f"XDG_CACHE_HOME={self.home}/cache",
                     f"XDG_DATA_HOME={self.home}/data-home"] if os.geteuid() == 0 else []
        os.mkdir(self.home)
        if self.user:  # it refuses to run as root
            os.chmod(context.directory, 0o755)
            os.chown(self.home, NOBODY, NOBODY)
        self.call([f"{programs}/initdb", "-D", "template", "-A", "trust", "-N"])
        running = self.start("template", [])
        self.call(["pgbench", "-h", self.home, "-i", "-q", "postgres"])
        self.stop("template", running)

    def call(self, argv):
        done = subprocess.run([*self.user, *argv], cwd=self.home, env={**self.context.env, "LC_ALL": "C"}, capture_output=True,
                              text=True, check=False)
        if done.returncode:
            raise Broken(f"{' '.join(argv)}: {done.stderr.strip()[-200:]}")
        return done.stdout

    def start(self, data, where, recording=None):
        record = [self.context.pastcone, "record", "--quiet", "-o", recording, "--"] if recording else []
        running = self.context.start([*self.user, *record, *where, f"{self.programs}/postgres", "-D", os.path.join(self.home, data),
                                      "-k", self.home, "-c", "listen_addresses="])
        for _ in range(600):
            if os.path.exists(os.path.join(self.home, ".s.PGSQL.5432")) and not self.answers():
                return running
            if running.has_ended():
                running.finish()
            time.sleep(0.05)
        raise Broken("postgres does not answer")

    def answers(self):
        return subprocess.run(["psql", "-h", self.home, "-U", "nobody" if self.user else os.environ.get("USER", ""), "-d", "postgres",
                               "-c", "select 1"], capture_output=True, check=False).returncode

    def server(self, data):
        with open(os.path.join(self.home, data, "postmaster.pid"), encoding="ascii") as file:
            return int(file.readline())

    def cpu(self, data):
        """Of the server and all its processes, those that have ended included."""
        first = self.server(data)
        total = sum(ticks(first))
        for name in os.listdir("/proc"):
            try:
                if name.isdigit() and int(open(f"/proc/{name}/stat", encoding="ascii").read().rsplit(")", 1)[1].split()[1]) == first:
                    total += ticks(name)[0]
            except (FileNotFoundError, ProcessLookupError):
                pass
        return total

    def stop(self, data, running):
        os.kill(self.server(data), signal.SIGINT)
        running.finish()

    def transaction(self, where, client, recording=None):
        """What one costs."""
        data = os.path.join(self.home, "data")
        shutil.rmtree(data, ignore_errors=True)
        self.call(["cp", "-a", "template", "data"])
        running = self.start("data", where, recording)
        before = self.cpu("data")
        said = self.call([*client, "pgbench", "-h", self.home, "-c", str(CLIENTS), "-T", str(SECONDS), "-n", "postgres"])
        cost = self.cpu("data") - before
        self.stop("data", running)
        number = int(re.search(r"actually processed: (\d+)", said)[1])
        return Usage(cost / number, SECONDS / number)


def measure(context, postgres, name, where, client, bound):
    native, recorded = [], []
    for number in range(context.rounds):
        context.progress(f"postgres: {name}: round {number + 1} of {context.rounds}")
        recording = os.path.join(postgres.home, "recording")
        pair = in_turn(number, lambda: postgres.transaction(where, client),
                       lambda: postgres.transaction(where, client, recording))
        native.append(pair[0])
        recorded.append(pair[1])
        if number == 0:
            context.replay(recording)
        discard(recording)
    return [Row(f"pgbench -c {CLIENTS}, {name}", ratios(recorded, native), "x", bound, native, recorded, 1e6, "us")]
