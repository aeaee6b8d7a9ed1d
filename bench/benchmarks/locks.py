"""Locks in parallel mode: what a pair of lock and unlock takes, what is written down for it, how long replay takes."""
import json
import subprocess
import time

from measure import Usage, discard
from report import Row, ratios

# name: threads, locks, pairs of each thread, work in between; bound
CASES = {"uncontended": (1, 1, 20_000_000, 0, 1.10), "2 threads, 1 lock": (2, 1, 3_000_000, 0, 1.15),
         "4 threads, 1 lock": (4, 1, 1_500_000, 0, 1.15), "2 threads, 1 lock, work": (2, 1, 2_000_000, 40, 1.15),
         "4 threads, 1 lock, work": (4, 1, 1_000_000, 40, 1.15), "4 threads, 64 locks": (4, 64, 3_000_000, 0, 1.6),
         "4 threads, 64 locks, work": (4, 64, 2_000_000, 40, 1.2)}
RAW_BOUND, PACKED_BOUND, REPLAY_BOUND = 2.5, 1.4, 2.0
FEW = 50_000  # hand-overs: fewer say nothing about bytes


def parts(context):
    return [lambda name=name: measure(context, name, *CASES[name]) for name in CASES]


def one(context, arguments, before=()):
    """Usage per pair, and hand-overs."""
    output = context.path("locks.txt")
    started = time.monotonic()
    with open(output, "wb") as file:
        context.run([*before, context.helper("locks"), *arguments], None, file)
    took = time.monotonic() - started
    with open(output, encoding="ascii") as file:
        wall, changes = file.read().split()
    return Usage(float(wall) * 1e-9, float(wall) * 1e-9), int(changes), took


def lock_bytes(context, recording):
    text = subprocess.run([context.pastcone, "info", "--json", recording], capture_output=True, check=True).stdout
    return json.loads(text)["streams"]["locks"]


def measure(context, name, threads, locks, pairs, work, bound):
    arguments = [str(n) for n in (threads, locks, pairs, work)]
    native, recorded, replayed, raw, packed = [], [], [], [], []
    for number in range(context.rounds):
        context.progress(f"locks: {name}: round {number + 1} of {context.rounds}")
        usage, _, native_took = one(context, arguments)
        native.append(usage)
        recording = context.new_recording()
        usage, changes, _ = one(context, arguments, [context.pastcone, "record", "--quiet", "--threads=parallel", "-o", recording, "--"])
        recorded.append(usage)
        started = time.monotonic()
        context.replay(recording)
        replayed.append((time.monotonic() - started) / native_took)
        if changes > FEW:
            size = lock_bytes(context, recording)
            raw.append(size["raw"] / changes)
            packed.append(size["packed"] / changes)
        discard(recording)
    rows = [Row(name, ratios(recorded, native), "x", bound, native, recorded, 1e9, "ns"),
            Row(f"{name}: replay", replayed, "x", REPLAY_BOUND)]
    if raw:
        rows += [Row(f"{name}: bytes a hand-over", raw, " B", RAW_BOUND), Row(f"{name}: packed", packed, " B", PACKED_BOUND)]
    return rows
