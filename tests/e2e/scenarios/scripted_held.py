"""Held replays against the logs of random programs: the counters of the program itself say that nothing beyond the cone has run."""
import random
import re
import struct
import subprocess

from holding import hold_at, release, WAYS
from scripted_runs import ScriptedRun

VARIABLES = ("state_number", "x", "y", "after_event")
PROGRAMS = 0x550000000000  # position independent programs lie from here on; pastcone's runtime below


def _addresses(program):
    listed = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    return {name: int(re.search(rf"^([0-9a-f]+) \w {name}$", listed, re.M)[1], 16) for name in VARIABLES}


def _look(process, addresses):
    """The variables in the memory of a process that stands."""
    with open(f"/proc/{process}/maps", encoding="utf-8") as maps:
        base = min(start for start in (int(line.split("-")[0], 16) for line in maps) if start >= PROGRAMS)
    with open(f"/proc/{process}/mem", "rb") as memory:
        found = {}
        for name, address in addresses.items():
            memory.seek(base + address)
            found[name] = struct.unpack("<i", memory.read(4))[0]
    return found


def test_scripted_held(context):
    """replay --to a random event of a random program: everybody has the values that its log has at the frontier of the cone."""
    context.need("nm")
    addresses = _addresses(context.program("scripted"))
    for _ in range(context.rounds(2, 40)):
        seed = context.random.randrange(1 << 32)
        chosen = random.Random(seed)
        run = ScriptedRun(context, seed, chosen)
        places = [(name, index) for name, events in run.events.items() for index, event in enumerate(events) if event and index]
        for name, index in chosen.sample(places, min(len(places), 4)):
            event, cut = run.event(name, index), run.run.least({}, {name: index})
            running, stands = hold_at(context, run.recording, event, chosen.choice(WAYS))
            tids = {place.thread: place.tid for place in stands}
            for other in cut:
                shown, tid = run.run.shown(other, cut), tids.get(run.names[other], 0)
                if shown and any(shown.values()):  # the first process may not have got to its program yet
                    found = _look(tid, addresses) if tid else None
                    context.expect(found == shown, f"seed {seed}, {event}: {run.names[other]} has {found} instead of {shown}")
            release(running)
