"""Bound 2: what recording costs redis-server per request, clients outside, and what a request leaves behind."""
import functools

from measure import Usage, discard, in_turn, size_of
from redis_server import Load, requests_for, serve
from report import Row, ratios

LOADS = (Load("50 clients, SET", "set", 1), Load("50 clients, GET", "get", 1),
         Load("50 clients -P 16, SET", "set", 16), Load("50 clients -P 16, GET", "get", 16))


def parts(context):
    context.need("redis-server", "redis-benchmark")
    recording = context.new_recording()
    serve(context, recording=recording)  # for the caches
    discard(recording)
    serve(context, recording=recording)
    empty = size_of(recording)
    discard(recording)
    return [functools.partial(measure, context, load, empty) for load in LOADS]


def measure(context, load, empty):
    requests = int(requests_for(context, load))
    native, recorded, sizes = [], [], []
    for number in range(context.rounds):
        context.progress(f"redis: {load.name}, {requests:,} requests, round {number + 1} of {context.rounds}")
        recording = context.new_recording()
        pair = in_turn(number, lambda: serve(context, load, requests),
                       lambda: serve(context, load, requests, recording))
        native.append(pair[0])
        recorded.append(pair[1])
        sizes.append((size_of(recording) - empty) / requests)
        if number == 0:
            context.replay(recording)
        discard(recording)

    def each(runs, part):
        return [Usage(getattr(r, part).cpu / requests, getattr(r, part).wall / requests) for r in runs]

    server = each(native, "server"), each(recorded, "server")
    together = each(native, "together"), each(recorded, "together")
    return [
        Row(f"{load.name}: server", ratios(server[1], server[0]), "x", 1.18 if load.pipeline > 1 else 1.12, *server,
            1e6, "us"),
        Row(f"{load.name}: server and recorder", ratios(together[1], together[0]), "x", 1.25, *together, 1e6, "us"),
        Row(f"{load.name}: bytes per request", sizes, "B", 24 if load.command == "set" else None),
    ]
