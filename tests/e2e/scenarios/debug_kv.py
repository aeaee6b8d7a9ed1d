"""examples/kv: the lost update is recorded, replayed, and found."""
import json
import re

from debugging import debug, places, stand
from holding import events_of
from lost_update import record_until_lost

def _first_puts(context, recording):
    """The events by which client 1 sets v: that to replica 2, and then that to replica 1."""
    sends = [event["event"] for event in events_of(context, recording)["p1"] if event.get("shape") == "send"]
    return sends[:2]


def _receive_of(context, recording, send):
    """The event that received what was sent there."""
    asked = context.run([context.pastcone, "sql", recording, f"SELECT receive FROM messages WHERE send = '{send}'", "--json"], label="sql")
    return json.loads(asked.stdout)["receive"]


def test_kv(context):
    """kv loses an update in some runs; the recording of one loses it in every replay."""
    for _ in range(context.rounds(1, 20)):
        recording, recorded = record_until_lost(context)
        context.expect_same("replay", recorded, context.replay(recording))
        first, second = (_receive_of(context, recording, send) for send in _first_puts(context, recording))
        context.expect(first.startswith("p3:") and second.startswith("p2:"), f"client 1 sets v at {first} and {second}")


def test_debug_kv(context):
    """From the first state with both values back to where replica 2 takes the value that replica 1 does not have."""
    recording, _ = record_until_lost(context)
    early, late = _first_puts(context, recording)
    stop = ["stop if p2: v == 1 && p3: v == 2", "continue"]
    values, _ = stand(context, recording, stop, ["p2", "p3"], ["v"], label="stop if")
    context.expect(values == {"p2": {"v": 1}, "p3": {"v": 2}}, f"at the stop: {values}")
    text = debug(context, recording, *stop, "where", "frame function serve_request", "print request.value").stdout.decode()
    context.expect("$1 = 1" in text, f"the request, in serve_request: {text!r}")
    at = int(_receive_of(context, recording, late).split(":")[1])
    # Where replica 2 takes the 2 only after client 1 is done, replica 1 has answered that.
    just_behind = rf"^({at}\s+kv\.c:47 in serve_request|{at + 1}\s+kv\.c:31 in send_message)"
    context.expect(re.search(just_behind, places(text)["p2"]), f"p2 should be behind p2:{at} in serve_request, line 47: {text!r}")
    once = debug(context, recording, *stop, "focus p2", "cause", "where").stdout.decode()
    at = int(late.split(":")[1]) - 1  # the answer of replica 2
    context.expect(re.search(rf"\b{at}\b.*kv\.c", places(once)["p1"]), f"cause should go to p1:{at}: {once!r}")
    twice = debug(context, recording, *stop, "focus p2", "cause", "cause", "where").stdout.decode()
    at = _receive_of(context, recording, early).split(":")[1]
    context.expect(re.search(rf"\b{at}\b.*kv\.c", places(twice)["p3"]), f"the second should go to p3:{at}: {twice!r}")
