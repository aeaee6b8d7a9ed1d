"""Parallel mode on programs that do not keep to locks: replay is exact by luck, or says who went another way, and what to do."""
import re

from limit_checks import expect_exact_or_hinted

PARALLEL = ["--threads=parallel"]


def record_and_replay(context, program, number, output):
    """One recording, which is as it is natively, and its replays; the first report, or None."""
    recording = context.path(f"{program}{number}")
    recorded = context.record(recording, [context.program(program)], PARALLEL)
    context.expect(recorded.status == 0 and re.fullmatch(output, recorded.stdout), f"record printed {recorded.stdout!r}", recorded)
    told = expect_exact_or_hinted(context, "replay", recording, recorded)
    again = expect_exact_or_hinted(context, "verify", recording, recorded, "--verify")
    return told or again


def expect_found(context, program, output, rounds=20):
    """What is not ordered makes a difference sooner or later, and that is found."""
    for number in range(rounds):
        if record_and_replay(context, program, number, output):
            return
    context.expect(False, f"none of {rounds} replays of {program} found that it is not ordered")


def test_limit_parallel_data_race(context):
    """Threads that count without a lock: found, with the thread, the event, and the hint to record serially."""
    expect_found(context, "thread_data_race", rb"sum \d+ of 12000\n")


def test_limit_parallel_atomics(context):
    """A queue and a spinlock made of atomic variables: the same."""
    expect_found(context, "thread_lockfree_queue", rb"order [0-9a-f]{8}, waits \d+\n")
    expect_found(context, "thread_spinlock", rb"sums 6000 6000, who had each hundredth: [abc]{60}\n")


def test_limit_parallel_fork_copy(context):
    """A child that uses what another thread changed while it was made, without taking the lock around its fork: the same."""
    expect_found(context, "parallel_fork_copy", rb"(\d+\n){5}")
