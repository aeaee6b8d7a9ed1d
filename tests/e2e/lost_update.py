"""Recordings of examples/kv that have lost an update."""
import itertools
import os

LOST = b"lost update: replica 1 has v=1, replica 2 has v=2\n"


def record_until_lost(context):
    """The recording of a run that failed, and what record printed."""
    program = os.path.join(context.options.build, "examples", "kv")
    for _ in range(300):
        recording = next(path for path in map(context.path, (f"kv{n}" for n in itertools.count())) if not os.path.exists(path))
        recorded = context.record(recording, [program])
        if recorded.status == 1:
            context.expect(recorded.stdout == LOST, f"kv said {recorded.stdout!r}")
            return recording, recorded
        context.expect(recorded.status == 0 and recorded.stdout == b"v=2\n", "kv", recorded)
    context.expect(False, "300 runs and no lost update")
