"""Parallel mode on programs that do not keep to locks: replay is exact by luck, or says who went another way, and what to do."""
import re

PARALLEL = ["--threads=parallel"]


def diverges(context, program, rounds):
    """Records until a replay diverges; its report, or None."""
    for number in range(rounds):
        recording = context.path(f"{program}{number}")
        recorded = context.record(recording, [context.program(program)], PARALLEL)
        context.expect(recorded.status == 0, "record", recorded)
        replayed = context.replay(recording, timeout=60)
        if replayed.status == 0:
            context.expect_equal("replay", recorded, replayed)
            continue
        said = replayed.stderr.decode(errors="replace")
        context.expect(replayed.status == 1 and re.search(r"p\d+(\.\d+)?:\d+ diverged", said), "a divergence names the event", replayed)
        return said
    return None


def test_limit_parallel_data_race(context):
    """Threads that count without a lock: found, with the thread, the event, and the hint to record serially."""
    said = diverges(context, "thread_data_race", 20)
    context.expect(said is not None, "none of 20 replays found the race")
    context.expect("--threads=parallel" in said, f"the report should say what to do: {said!r}")


def test_limit_parallel_atomics(context):
    """A queue and a spinlock made of atomic variables: exact or told, never a hang."""
    for program in ("thread_lockfree_queue", "thread_spinlock"):
        diverges(context, program, 3)


def test_limit_parallel_cancel(context):
    """A thread that is cancelled while it waits for a condition: its mutex comes back in an order that is not recorded."""
    diverges(context, "thread_cancel", 3)
