"""The two sessions of P2 (dbxR), figures 8 and 9, with examples/primes: a demand point; a demand point and a breakpoint."""
import json
import os
import re

from debugging import debug
from flow import Flow, primes_order
from holding import events_of

WORKERS = ("p2", "p3", "p4")
BEHIND_TOTAL = "primes.c:57"  # a worker has added what it found, and not taken its next piece


def _histories_of(text):
    return [(int(word[0]), word[1]) for word in text.split()]


def _figure():
    """The recorded run in P2's figures: objects 0 and 1 are the work and the total, process 0 the parent."""
    histories = {"work": _histories_of("1w 2w 3w 1w 2w 3w 1w"), "total": _histories_of("1w 2w 3w 3w 1w 1w 2w 0w")}
    return Flow(histories, primes_order(histories, (1, 2, 3)), 0, (1, 2, 3))


def test_debug_figures_by_rule(context):
    """The oracle itself: the marks that P2 prints in figures 8 and 9, from its rules."""
    only_demand = _figure().run_to(("work", 5))
    context.expect(only_demand.marks("work") == "0: 1w* 1: 2w* 2: 3w* 3: 1w* 4: 2w* 5: 3w* 6: 1w", "figure 8, line 30")
    context.expect(only_demand.marks("total") == "0: 1w* 1: 2w* 2: 3w* 3: 3w 4: 1w 5: 1w 6: 2w 7: 0w", "figure 8, line 32")
    context.expect([only_demand.state(process) for process in range(4)] == ["ARRIVE_3DP", "ARRIVE_2DP", "ARRIVE_2DP", "ARRIVE_DP"],
                   "figure 8, states")
    with_break = _figure().run_to(("work", 5), [(1, ("total", 0))])
    context.expect(with_break.marks("work") == "0: 1w* 1: 2w* 2: 3w* 3: 1w$ 4: 2w$ 5: 3w$ 6: 1w", "figure 9, line 32")
    context.expect(with_break.marks("total") == "0: 1w* 1: 2w* 2: 3w* 3: 3w 4: 1w 5: 1w 6: 2w 7: 0w", "figure 9, line 34")
    context.expect([with_break.state(process) for process in range(4)] == ["ARRIVE_3DP", "ARRIVE_BP", "ARRIVE_2BP", "ARRIVE_2BP"],
                   "figure 9, states")


def _record(context):
    """A run in which every worker has taken a piece before one of them takes its second; its flow."""
    program = [os.path.join(context.options.build, "examples", "primes-processes"), "100000", "3", "500000"]
    for number in range(50):
        recording = context.path(f"primes{number}")
        recorded = context.record(recording, program, ["--threads=parallel"])
        context.expect(recorded.status == 0, "recording", recorded)
        shown = json.loads(context.run([context.pastcone, "show", "obj", "all", "--json", recording], label="show obj").stdout)
        histories = {each["name"]: [(access["thread"], access["access"]) for access in each["accesses"]]
                     for each in shown if each["name"] in ("work", "total")}
        if {process for process, _ in histories["work"][:3]} == set(WORKERS):
            return recording, Flow(histories, primes_order(histories, WORKERS), "p1", WORKERS)
    context.expect(False, "in 50 recordings the workers never worked at the same time")


def test_debug_figures_by_graph(context):
    """The oracle against pastcone's own graph: the cone of the line that a worker writes after each piece."""
    recording, flow = _record(context)
    events = events_of(context, recording)
    for worker in WORKERS:
        added = [node for node in flow.nodes[worker] if node[0] == "total"]
        written = [event["event"] for event in events[worker] if event["kind"] == "write"]
        for node, event in zip(added, written, strict=True):
            expected = flow.run_to(node)
            cone = json.loads(context.run([context.pastcone, "cone", event, recording, "--json"], label="cone").stdout)
            for thread in cone["threads"]:
                process = thread["thread"]
                if process not in WORKERS or process == worker:
                    continue
                accesses = (thread["point"] or 0) // 2  # a point is its beginning or its end
                context.expect(accesses == max(0, expected.at[process]),
                               f"{event}: {process} makes {accesses} accesses in the cone, {expected.at[process]} by P2's rules")


def _expect_shown(context, what, text, stand):
    """show obj all and show proc, line by line."""
    lines = text.splitlines()
    for name in ("work", "total"):
        heads = [number for number, line in enumerate(lines) if re.match(rf"obj \d+ {name}\b", line)]
        context.expect(heads, f"{what}: show obj does not show {name}: {text[-500:]!r}")
        found = lines[heads[-1] + 1].strip()
        context.expect(found == stand.marks(name), f"{what}: {name}: {found!r} instead of {stand.marks(name)!r}")
    for process in ("p1", *WORKERS):
        words = [line for line in lines if re.match(rf"\s*{process}\b.*ARRIVE_", line)]
        expected = stand.state(process)
        context.expect(bool(words) == bool(expected) and (not expected or re.search(rf"\b{expected}\b", words[-1])),
                       f"{what}: {process} should be {expected}, shown {words}")


def _session(context, recording, *commands):
    return debug(context, recording, *commands, "show obj all", "show proc", label="; ".join(commands)).stdout.decode()


def test_debug_figure_8(context):
    """run to obj: everything that the demand point needs is done, and nothing else."""
    recording, flow = _record(context)
    listed = context.run([context.pastcone, "show", "obj", "all", recording], label="show obj").stdout.decode()
    numbers = {name: number for number, name in re.findall(r"^obj (\d+) (work|total)\b", listed, re.MULTILINE)}
    for number in range(len(flow.histories["work"])):
        expected = flow.run_to(("work", number))
        for name in ("work", numbers["work"]):
            _expect_shown(context, f"work#{number}", _session(context, recording, f"run to obj {name}#{number}"), expected)
    for number in range(len(flow.histories["total"]) - 1):  # the last is the parent's
        _expect_shown(context, f"total#{number}", _session(context, recording, f"run to obj total#{number}"),
                      flow.run_to(("total", number)))


def test_debug_figure_9(context):
    """The same with a breakpoint in one worker, or in all: who waits for it is at a secondary breakpoint."""
    recording, flow = _record(context)
    first = {worker: next(node for node in flow.nodes[worker] if node[0] == "total") for worker in WORKERS if
             any(node[0] == "total" for node in flow.nodes[worker])}
    cases = [([f"break {worker}: {BEHIND_TOTAL}"], [(worker, node)]) for worker, node in first.items()]
    cases.append(([f"break all primes-processes: {BEHIND_TOTAL}"], list(first.items())))
    for number in (3, 5, 6):
        for commands, stops in cases:
            expected = flow.run_to(("work", number), stops)
            text = _session(context, recording, *commands, f"run to obj work#{number}")
            _expect_shown(context, f"work#{number}, {commands[0]}", text, expected)
