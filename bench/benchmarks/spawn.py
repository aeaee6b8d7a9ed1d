"""Bound 3, second half: a thousand /bin/true in a shell loop."""
from measure import discard, in_turn, size_of
from report import Row

COUNT = 1000
LOOP = ["bash", "-c", f"for ((i = 0; i < {COUNT}; ++i)); do /bin/true; done"]


def parts(context):
    context.need("bash", "/bin/true")
    return [lambda: measure(context)]


def measure(context):
    recording = context.new_recording()
    context.run(["bash", "-c", "/bin/true; /bin/true"], recording)  # for the caches
    discard(recording)
    native, recorded, replayed, sizes = [], [], [], []
    for number in range(context.rounds):
        context.progress(f"true: round {number + 1} of {context.rounds}")
        recording = context.new_recording()
        pair = in_turn(number, lambda: context.run(LOOP),
                       lambda: context.run(LOOP, recording))
        native.append(pair[0])
        recorded.append(pair[1])
        sizes.append(size_of(recording) / COUNT)
        replayed.append(context.replay(recording))
        discard(recording)

    def more(runs, of):
        return [(of(r) - of(n)) / COUNT * 1e3 for r, n in zip(runs, native) if r]

    return [
        Row("extra wall time each", more(recorded, lambda u: u.wall), "ms", 2.5, native, recorded),
        Row("extra CPU time each", more(recorded, lambda u: u.cpu), "ms", None, native, recorded),
        Row("bytes each", sizes, "B", 4096),
        Row("extra CPU time each in replay", more(replayed, lambda u: u.cpu), "ms", None, native, replayed),
    ]
