"""replay --to: everybody goes as far as the event needs, and no further."""
import re
import signal
import struct

from holding import WAYS, events_of, expect_same_stops, hold_at, release


def counter(place, address):
    """What the thread has counted, from the memory of the replayed process."""
    number = int(place.thread.split(".")[1]) if "." in place.thread else 1
    with open(f"/proc/{place.tid}/mem", "rb") as memory:
        memory.seek(address + 8 * (number - 1))
        return struct.unpack("l", memory.read(8))[0]


def expect_at(context, recording, event, way, address, steps):
    """The event is the last of its thread, and nobody has counted a step that lies beyond where he stands. Returns where all stand."""
    running, places = hold_at(context, recording, event, way)
    where = {place.thread: place for place in places}
    thread, number = event.split(":")
    context.expect(thread in where and where[thread].event == int(number), f"--to {event}: {thread} is elsewhere")
    for place in places:
        if not place.tid or place.thread == "p1":
            continue
        expected = sum(place.has_begun(step) for step in steps.get(place.thread, []))
        counted = counter(place, address)
        context.expect(counted == expected, f"--to {event}: {place.thread}:{place.event} has counted {counted}, not {expected}")
    result = release(running)
    context.expect(b"diverged" not in result.stderr, f"--to {event}", result)
    return {place.thread: (place.event, place.entered) for place in places}


def test_horizons(context):
    """Random events of a program that counts after each of its calls."""
    recording = context.path("recording")
    recorded = context.record(recording, [context.program("counted_steps")])
    context.expect(recorded.status == 0, "record", recorded)
    address = int(re.search(rb"counters at 0x([0-9a-f]+)", recorded.stdout)[1], 16)
    events = events_of(context, recording)
    steps = {thread: [int(event["event"].split(":")[1]) for event in list if event["kind"] == "getppid"]
             for thread, list in events.items()}
    everything = [event["event"] for list in events.values() for event in list]
    for event in context.random.sample(everything, context.rounds(25, 500)):
        before, by_demand = [expect_at(context, recording, event, way, address, steps) for way in WAYS]
        context.expect(before == by_demand, f"--to {event}: {before}, but by demand {by_demand}")


def test_horizons_left(context):
    """A process that left the recording stands where it did, and it is said why."""
    recording = context.path("recording")
    context.record(recording, [context.program("leaves_recording")])
    events = events_of(context, recording)
    stop, last = events["p2"][-1], events["p1"][-1]
    context.expect(stop["kind"] == "stop", f"p2 ends with {stop}")
    expected = f"{stop['event']}, where it left the recording: an unsupported call".encode()
    for event in (stop["event"], last["event"]):
        for way in WAYS:
            replay = context.replay(recording, "--to", event, *way)
            context.expect(replay.status == 0 and expected in replay.stdout.splitlines(), f"--to {event} {replay.stdout}", replay)
    expect_same_stops(context, recording, 10)


def test_horizons_errors(context):
    """An event that is not there is said in one line."""
    context.record(context.path("serial"), ["true"])
    for event in ("p1:9999", "p2:1", "nonsense", "p1:5,p1:7"):
        context.expect_one_line(event, context.replay(context.path("serial"), "--to", event))


def test_horizons_unread(context):
    """More output than somebody wants to read is no fault."""
    recording = context.path("recording")
    recorded = context.record(recording, ["bash", "-c", "for i in {1..400}; do echo $i; done | cat"])
    context.expect(recorded.status == 0, "record", recorded)
    last = [events[-1]["event"] for events in events_of(context, recording).values()
            if sum(event["kind"] == "write" for event in events) >= 400]
    command = [context.pastcone, "replay", recording, "--verify", "--to", last[0]]
    whole = context.run(command, label="all of it")
    context.expect(whole.status == 0 and len(whole.stdout) > 8192, "many in transit", whole)
    some = context.run(["bash", "-c", "set -o pipefail; \"$@\" | head -1", "-", *command], label="one line of it")
    context.expect(some.status in (0, 128 + signal.SIGPIPE) and not some.stderr, "one line", some)


def expect_random(context, command):
    """Random events of a program, both ways."""
    recording = context.path(f"recording of {command[0].split('/')[-1]}")
    recorded = context.record(recording, command)
    context.expect(recorded.status == 0, "record", recorded)
    expect_same_stops(context, recording, context.rounds(8, 500))


def test_horizons_shell(context):
    """A shell with its children."""
    expect_random(context, ["bash", "-c", "seq 100 | sort -r | head -3; (exit 3); echo $?; ls / | wc -l"])


def test_horizons_python(context):
    """Threads that make children by vfork."""
    expect_random(context, ["python3", "-c", "import subprocess, threading\n"
                            "t = [threading.Thread(target=lambda: subprocess.run(['true'])) for _ in range(3)]\n"
                            "for x in t: x.start()\nfor x in t: x.join()"])


def test_horizons_channels(context):
    """Processes that write into one pipe; a server and a client that wait for each other by all means there are; one that forks."""
    for program in ("pipe_shared_writers", "graph_arrows", "echo_server_tcp"):
        expect_random(context, [context.program(program)])


def test_horizons_turns(context):
    """Threads and processes of one turn: condition variables, forks, shared memory, sockets."""
    for program in ("thread_condvar", "thread_fork", "shared_mutex_processes", "epoll_threads"):
        expect_random(context, [context.program(program)])


def test_horizons_fifo(context):
    """Threads that share sockets for messages and a FIFO: equal bytes, read in another order than the turns' that follow."""
    recording = context.path("recording")
    recorded = context.record(recording, [context.program("packets_threads")], timeout=60)
    context.expect(recorded.status == 0, "record", recorded)
    everything = [event["event"] for list in events_of(context, recording).values() for event in list]
    for event in context.random.sample(everything, context.rounds(10, 250)):
        cone = context.run([context.pastcone, "cone", event, recording], label="cone")
        context.expect(cone.status == 0, f"cone {event}", cone)
        replay = context.replay(recording, "--to", event)
        context.expect(replay.status == 0 and f"\n{event}".encode() in b"\n" + replay.stdout, f"--to {event}", replay)
