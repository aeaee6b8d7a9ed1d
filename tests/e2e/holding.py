"""Replays that are held at an event."""
import json
import re
import signal

# Cones that are known before, and demand while running: they end in the same state.
WAYS = ((), ("--demand",))
PLACE = re.compile(r"(p[0-9.]+)(?::(\d+))?(.*?)(?:  \(now thread (\d+)\))?$")


class Place:
    """Where a thread stands, as replay --to prints it."""

    def __init__(self, line):
        self.thread, event, rest, tid = PLACE.match(line).groups()
        self.event, self.tid = int(event or 0), int(tid or 0)
        self.entered = "on its way" in rest

    def has_begun(self, event):
        """Whether what the program does after this event may have run."""
        return event < self.event + self.entered


def events_of(context, recording):
    """thread → its events."""
    listed = context.run([context.pastcone, "events", recording, "--json"], label="events")
    result = {}
    for line in listed.stdout.decode().splitlines():
        event = json.loads(line)
        result.setdefault(event["event"].split(":")[0], []).append(event)
    return result


def hold_at(context, recording, event, way):
    """Replays up to the event; the running step, and the places of all threads."""
    running = context.start([context.pastcone, "replay", recording, "--to", event, *way, "--hold", "--verify"], label=f"--to {event}")
    running.wait_for_output(b"held")
    lines = running.output["stdout"].decode().splitlines()
    return running, [Place(line) for line in lines if PLACE.match(line)]


def release(running):
    running.process.send_signal(signal.SIGINT)
    return running.finish()


def expect_frontier(context, recording, event, places):
    """Everybody stands where the cone ends; who has ended has nothing left to enter."""
    cone = context.run([context.pastcone, "cone", event, recording, "--turns", "--json"], label="cone")
    context.expect(cone.status == 0, f"cone {event}", cone)
    last = {thread["thread"]: (thread["event"], thread["entering"]) for thread in json.loads(cone.stdout)["threads"]}
    for place in places:
        known, entering = last[place.thread]
        stands = (f"{place.thread}:{place.event}" if place.event else None, place.entered)
        context.expect(stands == (known, entering and place.tid != 0), f"--to {event}: {stands}, but the cone ends at {known, entering}")


def expect_same_stops(context, recording, count):
    """Random events: both ways arrive there, and everybody stands at the same place, where the cone ends."""
    everything = [event["event"] for list in events_of(context, recording).values() for event in list]
    for event in context.random.sample(everything, min(len(everything), count)):
        stand = []
        for way in WAYS:
            replay = context.replay(recording, "--verify", "--to", event, *way)
            context.expect(replay.status == 0 and f"\n{event}".encode() in b"\n" + replay.stdout, f"--to {event}", replay)
            stand.append(re.sub(rb"now thread \d+", b"", replay.stdout))
        expect_frontier(context, recording, event, [Place(line) for line in replay.stdout.decode().splitlines() if PLACE.match(line)])
        context.expect(stand[0] == stand[1], f"--to {event}: by demand they stand elsewhere: {stand[0]} {stand[1]}")
