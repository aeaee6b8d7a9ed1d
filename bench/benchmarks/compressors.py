"""Programs whose threads compute for long between two locks: what --threads=parallel costs them."""
import functools
import os
import random
import time

from measure import Missing, discard, in_turn
from report import Row, ratios

COMMANDS = {"pigz -p 4": ["pigz", "-p", "4", "-k", "-c", "text"], "pbzip2 -p4": ["pbzip2", "-p4", "-k", "-c", "text"],
            "xz -T4": ["xz", "-T4", "-1", "--block-size=1MiB", "-k", "-c", "text"]}
MEGABYTES, BOUND, REPLAY_BOUND = 100, 1.02, 1.3


def parts(context):
    dice = random.Random(1)
    words = [bytes(dice.choices(range(97, 123), k=dice.randint(2, 9))) for _ in range(5000)]
    with open(context.path("text"), "wb") as file:
        for _ in range(MEGABYTES):
            file.write(b" ".join(dice.choices(words, k=200_000))[:1_000_000])
    return [functools.partial(measure, context, name) for name in COMMANDS]


def measure(context, name):
    argv = COMMANDS[name]
    try:
        context.need(argv[0])
    except Missing as error:
        context.problems.append(str(error))
        return []
    native, recorded, replayed = [], [], []
    for number in range(context.rounds):
        context.progress(f"compressors: {name}: round {number + 1} of {context.rounds}")
        recording = context.new_recording()

        def run(record=()):
            context.fresh_work()
            os.symlink(context.path("text"), os.path.join(context.work, "text"))
            return context.run([*record, *argv])
        pair = in_turn(number, run,
                       lambda: run([context.pastcone, "record", "--quiet", "--threads=parallel", "-o", recording, "--"]))
        native.append(pair[0])
        recorded.append(pair[1])
        began = time.monotonic()
        if context.replay(recording):
            replayed.append((time.monotonic() - began) / pair[0].wall)
        discard(recording)
    return [Row(name, ratios(recorded, native), "x", BOUND, native, recorded),
            Row(f"{name}: replay, wall", replayed, "x", REPLAY_BOUND)]
