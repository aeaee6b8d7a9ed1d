"""The event graph: how long it takes to build, how much memory that needs, how long questions take."""
import json
import os

from measure import Missing
from report import Row

BIG = 10_000_000
SIZES = ((1_000_000, 64), (3_000_000, 64), (BIG, 64), (3 * BIG, 64), (BIG, 512))
QUESTIONS = {"cone": "past cone", "future": "future cone", "hb": "happened before", "path": "path", "cut": "consistency of a cut",
             "transit": "in transit", "longest": "longest chain of the run", "chains": "longest chain"}
SECONDS = {"build": 10, "races": 5, "on_the_fly": None, "luck": None, "open": 1}


def parts(context):
    if not os.path.exists(os.path.join(context.options.build, "bench", "graph")):
        raise Missing("bench/graph is not built")
    return [lambda: measure(context)]


def one(context, events, threads):
    output = context.path("graph.json")
    with open(output, "wb") as file:
        context.run([context.helper("graph"), str(events), str(threads)], None, file)
    with open(output, encoding="ascii") as file:
        return json.load(file)


def measure(context):
    samples = {size: [] for size in SIZES}
    for number in range(context.rounds):
        for events, threads in SIZES:
            context.progress(f"graph: {events:,} events, {threads} threads: round {number + 1} of {context.rounds}")
            samples[events, threads].append(one(context, events, threads))
    rows = []
    for (events, threads), results in samples.items():
        rows += rows_of(f"{events // 1_000_000} M, {threads} threads", results, events == BIG)
    for events, tenth in ((BIG, BIG // 10), (3 * BIG, 3 * BIG // 10)):
        growth = [a["build"] / b["build"] / 10 for a, b in zip(samples[events, 64], samples[tenth, 64])]
        rows.append(Row(f"growth, {tenth // 1_000_000} to {events // 1_000_000} M", growth, "x", 1.1))
    return rows


def rows_of(name, results, bounded):
    def values(key):
        return [result[key] for result in results]

    def bound(value):
        return value if bounded else None

    rows = [Row(f"{name}: {key.replace('_', ' ')}", values(key), "s", bound(limit)) for key, limit in SECONDS.items()]
    rows.append(Row(f"{name}: peak memory", values("peak"), "MB", bound(1536)))
    rows.append(Row(f"{name}: graph.idx", values("flat"), "MB", None))
    if bounded:
        rows += [Row(f"{name}: {text}", values(key), "ms", 50) for key, text in QUESTIONS.items()]
    return rows
