"""Bound 3, first half: what a replay costs against the native run, and how long it takes against the recorded one."""
import functools
import os
import random

from measure import discard, size_of
from redis_server import Load, requests_for, serve
from report import Row, ratios, replay_rows

PROGRAMS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "programs")


class Command:
    """A workload that is one command. Every run starts in the same fresh directory."""

    def __init__(self, name, argv, prepare=lambda context: None):
        self.name, self.argv, self.prepare = name, argv, prepare

    def run(self, context, recording=None):
        context.fresh_work()
        self.prepare(context)
        return context.run(self.argv, recording)


class Redis:
    """redis-server under a load from outside."""
    name, load, requests = "redis, 50 clients SET", Load("", "set", 1), 0

    def run(self, context, recording=None):
        self.requests = self.requests or int(requests_for(context, self.load))
        return serve(context, self.load, self.requests, recording).whole


def text_to_compress(context):
    """20 MB that gzip takes about a second for."""
    source = context.path("text")
    if not os.path.exists(source):
        dice = random.Random(1)
        words = [bytes(dice.choices(range(97, 123), k=dice.randint(2, 9))) for _ in range(5000)]
        with open(source, "wb") as file:
            file.write(b" ".join(dice.choices(words, k=4_000_000))[:20_000_000])
    os.symlink(source, os.path.join(context.work, "text"))


def inserts(context):
    """200 transactions of 200 rows."""
    source = context.path("inserts.sql")
    if not os.path.exists(source):
        with open(source, "w", encoding="ascii") as file:
            file.write("CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, value REAL); CREATE INDEX i ON t(name);\n")
            for transaction in range(200):
                rows = range(transaction * 200, transaction * 200 + 200)
                file.write("BEGIN;\n" + "".join(f"INSERT INTO t VALUES({n},'name {n * 7919 % 40009}',{n / 7});\n"
                                                for n in rows) + "COMMIT;\n")
    os.symlink(source, os.path.join(context.work, "inserts.sql"))


def workloads():
    python = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else "python3"
    return (Redis(), Command("python3, computing", [python, "-I", os.path.join(PROGRAMS, "compute.py")]),
            Command("gzip of 20 MB", ["gzip", "-f", "-k", "text"], text_to_compress),
            Command("sqlite3, 40,000 inserts", ["sqlite3", "db", ".read inserts.sql"], inserts),
            Command("bash, a loop with 400 processes", ["bash", os.path.join(PROGRAMS, "loop.sh")]))


def parts(context):
    context.need("redis-server", "redis-benchmark", "gzip", "sqlite3", "bash")
    return [functools.partial(measure, context, workload) for workload in workloads()]


def measure(context, workload):
    native, recorded, replayed, sizes = [], [], [], []
    for number in range(-1, context.rounds):  # round 0 is for the caches
        context.progress(f"replay: {workload.name}, round {number + 1} of {context.rounds}")
        recording = context.new_recording()
        runs = workload.run(context), workload.run(context, recording), context.replay(recording)
        size = size_of(recording)
        discard(recording)
        if number >= 0:
            for into, value in zip((native, recorded, replayed, sizes), (*runs, size)):
                into.append(value)
    return [
        *replay_rows(workload.name, native, recorded, replayed),
        Row(f"{workload.name}: recorded / native, CPU", ratios(recorded, native), "x", None, native, recorded),
        Row(f"{workload.name}: size", [s / 1e3 for s in sizes], "KB"),
    ]
