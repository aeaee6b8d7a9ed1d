"""What single calls cost, recorded and not: the price list behind the other figures."""
import statistics

from measure import Usage, discard, in_turn
from report import Row, ratios

CALLS = {"getppid": "getppid", "clock_gettime": "clock_gettime (vDSO)", "pipe": "write and read of 1 byte, pipe"}
WAYS = {"median": statistics.median, "min": min}


def batches(context, recording=None):
    """Per call the (CPU, wall) nanoseconds of every batch."""
    output = context.path("micro.txt")
    with open(output, "wb") as file:
        context.run([context.helper("micro")], recording, file)
    found = {call: [] for call in CALLS}
    with open(output, encoding="ascii") as file:
        for line in file:
            call, cpu, wall = line.split()
            found[call].append((float(cpu), float(wall)))
    return found


def parts(context):
    return [lambda: measure(context)]


def measure(context):
    pairs = []
    for number in range(-1, context.rounds):  # round 0 is for the caches
        context.progress(f"micro: round {number + 1} of {context.rounds}")
        recording = context.new_recording()
        pair = in_turn(number, lambda: batches(context),
                       lambda: batches(context, recording))
        context.replay(recording)
        discard(recording)
        if number >= 0:
            pairs.append(pair)
    rows = []
    for call, name in CALLS.items():
        for way, of in WAYS.items():
            native, recorded = ([Usage(*(of(times) * 1e-9 for times in zip(*p[side][call]))) for p in pairs]
                                for side in (0, 1))
            rows.append(Row(f"{name}, {way}", ratios(recorded, native), "x", None, native, recorded, 1e9, "ns"))
    return rows
