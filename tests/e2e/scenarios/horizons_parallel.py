"""replay --to where threads ran in parallel: also locks are taken only as far as the event needs."""
import json
import os
import re
import shutil
import struct

from holding import PLACE, WAYS, events_of, expect_same_stops, release

POINT = re.compile(r"up to point (\d+) of its locks")
PARALLEL = ["--threads=parallel"]


class Place:
    """Where a thread stands, as replay --to prints it."""

    def __init__(self, line):
        self.thread, event, rest, tid = PLACE.match(line).groups()
        self.event, self.tid = int(event or 0), int(tid or 0)
        point = POINT.search(rest)
        self.point = int(point[1]) if point else 0
        self.beyond = bool(point) or "on its way" in rest

    def has_begun(self, event):
        """Whether what the program does after this event may have run."""
        return event < self.event + self.beyond


def record(context, command):
    recording = context.path(f"recording of {command[0].split('/')[-1]}")
    recorded = context.record(recording, command, PARALLEL)
    context.expect(recorded.status == 0, "record", recorded)
    return recording, recorded


def counters(place, address):
    """Calls and uses of locks that the thread has counted, from the memory of the replayed process."""
    number = int(place.thread.split(".")[1]) if "." in place.thread else 1
    with open(f"/proc/{place.tid}/mem", "rb") as memory:
        values = []
        for of_kind in (address, address + 64):
            memory.seek(of_kind + 8 * (number - 1))
            values.append(struct.unpack("l", memory.read(8))[0])
        return values


def expect_at(context, recording, event, way, address, steps, counts_locks=True):
    """The event is the last of its thread; nobody has made a call or used a lock beyond where he stands. Returns where all stand."""
    running = context.start([context.pastcone, "replay", recording, "--to", event, *way, "--hold", "--verify"], label=f"--to {event}")
    running.wait_for_output(b"held")
    places = [Place(line) for line in running.output["stdout"].decode().splitlines() if PLACE.match(line)]
    where = {place.thread: place for place in places}
    thread, number = event.split(":")
    context.expect(thread in where and where[thread].event == int(number) and not where[thread].beyond,
                   f"--to {event}: {thread} is elsewhere")
    for place in places:
        if not place.tid or place.thread == "p1":
            continue
        calls, locks = counters(place, address)
        expected = sum(place.has_begun(step) for step in steps.get(place.thread, []))
        context.expect(calls == expected, f"--to {event}: {place.thread}:{place.event} has counted {calls} calls, not {expected}")
        # It stands inside the function that uses the lock, some of which do so twice.
        inside = place.point - locks
        context.expect(not counts_locks or not place.point or "." not in place.thread or inside in (1, 2),
                       f"--to {event}: {place.thread} has counted {locks} uses of locks at point {place.point}")
    result = release(running)
    context.expect(b"diverged" not in result.stderr, f"--to {event}", result)
    return {place.thread: (place.event, place.beyond, place.point) for place in places}


def expect_counted(context, program, usual, counts_locks):
    """Random events of a program that counts. Returns how often somebody stood at a lock."""
    recording, recorded = record(context, [context.program(program)])
    address = int(re.search(rb"counters at 0x([0-9a-f]+)", recorded.stdout)[1], 16)
    events = events_of(context, recording)
    steps = {thread: [int(event["event"].split(":")[1]) for event in list if event["kind"] == "getppid"]
             for thread, list in events.items()}
    everything = [event["event"] for list in events.values() for event in list]
    points = 0
    for event in context.random.sample(everything, min(len(everything), context.rounds(usual, 500))):
        before, by_demand = [expect_at(context, recording, event, way, address, steps, counts_locks) for way in WAYS]
        context.expect(before == by_demand, f"--to {event}: {before}, but by demand {by_demand}")
        points += sum(point > 0 for _, _, point in before.values())
    return points


def test_horizons_parallel(context):
    """A program that counts its calls and what it does with locks of every kind."""
    context.expect(expect_counted(context, "counted_locks", 20, True), "nobody ever stood at a lock")


def test_horizons_parallel_processes(context):
    """Processes with several threads each, which count their calls."""
    expect_counted(context, "counted_steps", 10, False)


def expect_random(context, command):
    """Random events of a program, both ways."""
    recording, _ = record(context, command)
    expect_same_stops(context, recording, context.rounds(6, 500))
    shutil.rmtree(recording)


def test_horizons_parallel_programs(context):
    """Threads and processes with locks, objects, pipes, signals and System V semaphores."""
    for program in ("counted_steps", "thread_condvar", "locks_every_kind", "parallel_barriers", "parallel_fork", "parallel_held_before", "parallel_inner_locks", "parallel_robust_processes",
                    "parallel_heap_vfork", "sendfile_socket", "parallel_meetings", "parallel_meetings_threads", "locks_between_processes", "parallel_stdio_threads", "parallel_pipe_pieces",
                    "parallel_hardly_begun"):
        context.fresh_work()
        expect_random(context, [context.program(program)])


def test_horizons_parallel_primes(context):
    """By threads and by processes, which name what they share."""
    for kind in ("threads", "processes"):
        expect_random(context, [os.path.join(context.options.build, "examples", f"primes-{kind}"), "100", "3", "4000"])


def test_horizons_parallel_pbzip2(context):
    """A program of others."""
    with open(context.path("input"), "wb") as file:
        file.write(context.random.randbytes(1_500_000))
    expect_random(context, ["pbzip2", "-k", "-f", "-p3", "-b1", context.path("input")])


def test_limit_horizons_unordered(context):
    """A thread sleeps at a futex of its own for one that has stopped: said in one line."""
    recording, _ = record(context, [context.program("own_futex")])
    context.expect_same("replay", context.record(context.path("again"), [context.program("own_futex")], PARALLEL), context.replay(recording))
    events = events_of(context, recording)
    event = next(event["event"] for event in events["p1"] if event["kind"] == "getuid")
    refused = context.replay(recording, "--to", event)
    context.expect(b"cannot stop there: p1:" in refused.stderr, "not said why", refused)
    context.expect(b"it sleeps in futex, and nobody wakes it; the call is in lib" in refused.stderr, "not said where", refused)
    context.expect_one_line("--to", refused)


def relation(context, recording, a, b):
    compared = context.run([context.pastcone, "hb", a, b, recording, "--json"], label="hb")
    context.expect(compared.status == 0, "hb", compared)
    return json.loads(compared.stdout)


def only(events, kind):
    return [event["event"] for event in events if event["kind"] == kind]


def test_limit_lock_arrows(context):
    """With the mutex a signal comes before who is woken; without, only what was done with the mutex does. In serial mode neither."""
    for mode in ("parallel", "serial"):
        recording = context.path(mode)
        context.record(recording, [context.program("condition_signals")], [f"--threads={mode}"])
        events = events_of(context, recording)
        woken = only(events["p1.2"], "getuid")
        inside, outside = only(events["p1"], "getgid")[0], only(events["p1"], "getegid")[0]
        found = relation(context, recording, inside, woken[0])
        context.expect(found["relation"] == ("before" if mode == "parallel" else "concurrent"), f"{mode}: {found}")
        if mode == "parallel":
            kinds = {arrow["kind"] for arrow in found["chain"]}
            context.expect(kinds & {"object", "condition"}, f"by {kinds}")
        found = relation(context, recording, outside, woken[1])
        context.expect(found["relation"] == "concurrent", f"{mode}: {found}")


def test_locks_by_luck(context):
    """Who of two threads had a lock first was luck; that one was woken by the other was not."""
    recording, _ = record(context, [context.program("condition_signals")])
    shown = context.run([context.pastcone, "races", "--locks", recording, "--json"], label="races --locks")
    context.expect(shown.status == 0, "races --locks", shown)
    found = json.loads(shown.stdout)
    woken = only(events_of(context, recording)["p1.2"], "getuid")[0]
    # It waits twice: the first time it was woken by one who had the mutex, the second time by one who had given it back.
    lucky = [(each["kind"], order["access"]) for each in found["objects"] for order in each["orders"]]
    context.expect(lucky == [("mutex", woken)], f"{found}")
