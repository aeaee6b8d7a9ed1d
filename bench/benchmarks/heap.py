"""Our heap against libc's malloc: what a malloc with its free costs, and the most memory that is taken. Preloaded, and as the runtime has
it in parallel mode."""
import os
import shutil

from measure import Missing, Usage, discard
from report import Row, ratios

CASES = {"churn": (1, 4), "large": (1, 4), "scopes": (1, 4), "grow": (1, 4), "pass": (1, 2), "threads": (1, 4),
         "phases": (1, 4), "shift": (1, 4), "alike": (1, 4)}
TIME_BOUND, MEMORY_BOUND = 1.05, 1.3
UNBOUNDED_RECORDED = {"threads"}  # recording a thread's start and end costs more than its blocks, and so does its log
RUNTIME_MB = 1  # of the runtime itself, which has nothing to do with the heap


def parts(context):
    library = os.path.join(context.options.build, "bench", "libheap_preload.so")
    if not os.path.exists(library):
        raise Missing("libheap_preload.so is not built")
    ours = context.path("libheap_preload.so")
    shutil.copy(library, ours)
    return [lambda case=case, threads=threads: measure(context, ours, case, threads)
            for case, counts in CASES.items() for threads in counts]


def one(context, case, threads, before=()):
    """(Usage per malloc, peak in MB) of one run."""
    output = context.path("heap.txt")
    with open(output, "wb") as file:
        context.run([*before, context.helper("heap"), case, str(threads)], None, file)
    with open(output, encoding="ascii") as file:
        cpu, wall, peak = map(float, file.read().split())
    return Usage(cpu * 1e-9, wall * 1e-9), peak / 1024


def recorded(context, case, threads, replays):
    recording = context.new_recording()
    usage, peak = one(context, case, threads, [context.pastcone, "record", "--quiet", "--threads=parallel", "-o", recording, "--"])
    if replays:
        context.replay(recording)
    discard(recording)
    return usage, peak - RUNTIME_MB


def measure(context, library, case, threads):
    runs = [lambda _: one(context, case, threads),
            lambda _: one(context, case, threads, ["env", f"LD_PRELOAD={library}"]),
            lambda number: recorded(context, case, threads, number == 0)]
    samples = [[], [], []]
    for number in range(context.rounds):
        context.progress(f"heap: {case}, {threads}: round {number + 1} of {context.rounds}")
        for i in range(3):
            which = (number + i) % 3
            samples[which].append(runs[which](number))
    name = f"{case}, {threads}"
    bounds = (None, None) if case in UNBOUNDED_RECORDED else (TIME_BOUND, MEMORY_BOUND)
    return [*rows(name, samples[0], samples[1], TIME_BOUND, MEMORY_BOUND),
            *rows(f"{name}, recorded", samples[0], samples[2], *bounds)]


def rows(name, base, ours, time_bound, memory_bound):
    peaks = [o[1] / b[1] for b, o in zip(base, ours)]
    base_usages, usages = [b[0] for b in base], [o[0] for o in ours]
    return [Row(name, ratios(usages, base_usages), "x", time_bound, base_usages, usages, 1e9, "ns"),
            Row(f"{name}: memory", peaks, "x", memory_bound)]
