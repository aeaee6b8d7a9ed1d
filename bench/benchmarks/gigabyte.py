"""Bound 4: a gigabyte of random bytes between two recorded processes."""
import functools

from measure import discard, in_turn, size_of
from report import Row, ratios, replay_rows

SIZE = 1 << 30
KINDS = {"pipe": "pipe", "unix": "Unix socket", "tcp": "TCP"}


def parts(context):
    return [functools.partial(measure, context, kind) for kind in KINDS]


def measure(context, kind):
    argv = [context.helper("stream"), kind, str(SIZE)]
    recording = context.new_recording()
    context.run([*argv[:2], "1000"], recording)  # for the caches
    discard(recording)
    native, recorded, replayed, sizes = [], [], [], []
    rounds = (context.rounds + 1) // 2
    for number in range(rounds):
        context.progress(f"gigabyte: {KINDS[kind]}, round {number + 1} of {rounds}")
        recording = context.new_recording()
        pair = in_turn(number, lambda: context.run(argv),
                       lambda: context.run(argv, recording))
        native.append(pair[0])
        recorded.append(pair[1])
        sizes.append(size_of(recording) / 1e3)
        replayed.append(context.replay(recording))
        discard(recording)
    name = KINDS[kind]
    return [
        Row(f"{name}: size", sizes, "KB", 1000),
        Row(f"{name}: recorded / native, wall", ratios(recorded, native, lambda u: u.wall), "x", None, native,
            recorded),
        Row(f"{name}: recorded / native, CPU", ratios(recorded, native), "x", None, native, recorded),
        *replay_rows(name, native, recorded, replayed),
    ]
