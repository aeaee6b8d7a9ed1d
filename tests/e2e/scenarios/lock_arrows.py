"""Each kind of thing that threads and processes meet at leaves its arrow, and nothing else does."""
import json

from holding import events_of

# What leads from the first of a pair to the second: see tests/programs/lock_arrows.c.
THREADS = {"mutex": {"object"}, "trylock": {"object"}, "write_write": {"object"}, "write_read": {"object"}, "read_write": {"object"},
           "read_read": set(), "spin": {"object"}, "posted": {"object", "condition"}, "kept": {"object"}, "once": {"object"},
           "named_write_write": {"object"}, "named_write_read": {"object"}, "named_read_write": {"object"}, "stream": {"object"},
           "nothing": set()}
PROCESSES = {"mutex": {"object"}, "write_write": {"object"}, "write_read": {"object"}, "read_write": {"object"},
             "posted": {"object", "condition"}, "named_write_write": {"object"}, "sysv_semaphore": {"object"}, "sysv_queue": {"object"},
             "event": {"object"}, "nothing": set()}


def pairs():
    """What they meet at, the first, the second, by which arrows."""
    for number, (name, kinds) in enumerate(THREADS.items()):
        yield name, f"p1.{2 * number + 2}", f"p1.{2 * number + 3}", kinds
    for number, (name, kinds) in enumerate(PROCESSES.items()):
        yield name, f"p{2 * number + 2}", f"p{2 * number + 3}", kinds


class Recorded:
    def __init__(self, context, mode):
        self.context, self.recording = context, context.path(mode)
        recorded = context.record(self.recording, [context.program("lock_arrows")], [f"--threads={mode}"])
        context.expect(recorded.status == 0, "record", recorded)
        self.events = events_of(context, self.recording)
        asked = context.run([context.pastcone, "sql", self.recording, "SELECT DISTINCT from_event, to_event, kind FROM edges WHERE causal",
                             "--json"], label="edges")
        context.expect(asked.status == 0, "edges", asked)
        self.arrows = {}
        for row in map(json.loads, asked.stdout.splitlines()):
            ends = tuple(row[end].split(":")[0].removeprefix("into ") for end in ("from_event", "to_event"))
            self.arrows.setdefault(ends, set()).add(row["kind"])

    def marked(self, thread, call):
        return next(event["event"] for event in self.events[thread] if event["kind"] == call)

    def relation(self, a, b):
        compared = self.context.run([self.context.pastcone, "hb", a, b, self.recording, "--json"], label="hb")
        self.context.expect(compared.status == 0, "hb", compared)
        return json.loads(compared.stdout)

    def expect_pair(self, name, first, second, kinds):
        found = self.arrows.get((first, second), set())
        self.context.expect(found == kinds, f"{name}: from {first} to {second} by {found}")
        answer = self.relation(self.marked(first, "getuid"), self.marked(second, "getgid"))
        self.context.expect(answer["relation"] == ("before" if kinds else "concurrent"), f"{name}: {answer}")


def test_lock_arrows(context):
    """In parallel mode everything has an arrow; a barrier between all who meet, and a thread has those of its creation and its end."""
    recorded = Recorded(context, "parallel")
    for pair in pairs():
        recorded.expect_pair(*pair)
    last = 2 * len(THREADS) + 2
    one, other, alone = (f"p1.{last + number}" for number in range(3))
    for a, b in ((one, other), (other, one)):
        answer = recorded.relation(recorded.marked(a, "getuid"), recorded.marked(b, "getgid"))
        kinds = {arrow["kind"] for arrow in answer["chain"]}
        context.expect(answer["relation"] == "before" and kinds == {"barrier"}, f"barrier: {answer}")
    inside = recorded.marked(alone, "getgid")
    for a, b, kind in ((recorded.marked("p1", "getpgid"), inside, "create"), (inside, recorded.marked("p1", "getsid"), "join")):
        answer = recorded.relation(a, b)
        context.expect(answer["relation"] == "before" and [arrow["kind"] for arrow in answer["chain"]] == [kind], f"{kind}: {answer}")


def test_lock_arrows_serial(context):
    """In serial mode those things have one that the program names."""
    recorded = Recorded(context, "serial")
    for name, first, second, kinds in pairs():
        recorded.expect_pair(name, first, second, kinds if name.startswith("named") else set())
