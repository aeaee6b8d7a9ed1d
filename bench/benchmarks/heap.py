"""Our heap against libc's malloc: what a malloc with its free costs, and the most memory that is taken."""
import os
import shutil

from measure import Missing, Usage, in_turn
from report import Row, ratios

CASES = {"churn": (1, 4), "large": (1, 4), "scopes": (1, 4), "grow": (1, 4), "pass": (1, 2), "threads": (1, 4),
         "phases": (1, 4)}
TIME_BOUND, MEMORY_BOUND = 1.05, 1.3
UNBOUNDED_MEMORY = {"phases"}


def parts(context):
    library = os.path.join(context.options.build, "bench", "libheap_preload.so")
    if not os.path.exists(library):
        raise Missing("libheap_preload.so is not built")
    ours = context.path("libheap_preload.so")
    shutil.copy(library, ours)
    return [lambda case=case, threads=threads: measure(context, ours, case, threads)
            for case, counts in CASES.items() for threads in counts]


def one(context, case, threads, library=None):
    """(Usage per malloc, peak in MB) of one run."""
    output = context.path("heap.txt")
    with open(output, "wb") as file:
        preload = ["env", f"LD_PRELOAD={library}"] if library else []
        context.run([*preload, context.helper("heap"), case, str(threads)], None, file)
    with open(output, encoding="ascii") as file:
        cpu, wall, peak = map(float, file.read().split())
    return Usage(cpu * 1e-9, wall * 1e-9), peak / 1024


def measure(context, library, case, threads):
    base, ours = [], []
    for number in range(context.rounds):
        context.progress(f"heap: {case}, {threads}: round {number + 1} of {context.rounds}")
        pair = in_turn(number, lambda: one(context, case, threads), lambda: one(context, case, threads, library))
        base.append(pair[0])
        ours.append(pair[1])
    name = f"{case}, {threads}"
    peaks = [o[1] / b[1] for b, o in zip(base, ours)]
    base_usages, usages = [b[0] for b in base], [o[0] for o in ours]
    return [Row(name, ratios(usages, base_usages), "x", TIME_BOUND, base_usages, usages, 1e9, "ns"),
            Row(f"{name}: memory", peaks, "x", None if case in UNBOUNDED_MEMORY else MEMORY_BOUND)]
