"""Recorded runs of shared_words.c, and the states that their logs say there were: the processes that share memory have one turn, so
their changes have an order, and the one beside them has its own."""
import json
import os
from types import SimpleNamespace

from building import compile_c
from steps import Skip

CELLS = 6
NOBODY = SimpleNamespace(order=0, x=0, y=0, cell=(0,) * CELLS, mine={}, last={}, there=set(), needs=0)


class SharedRun:
    """What shared_words does with this seed: `states` of those that share, `beside` of the other one."""

    def __init__(self, context, seed, members, mapped, options=()):
        self.seed, self.members, self.mapped = seed, members, mapped
        here = os.path.dirname(os.path.abspath(__file__))
        with open(os.path.join(here, "shared_words.c"), encoding="utf-8") as source:
            program = compile_c(context, "shared_words", source.read(), "-O0")
        for attempt in range(20):
            pids, entries, notes = self._record(context, program, f"{seed}.{attempt}", options)
            if all(entry[0] == entry[-1] for entry in entries):  # else one was interrupted between a number and what it is for
                break
        else:
            raise Skip("under this load they do not come to the end of a line in their turns")
        listed = json.loads(context.run([context.pastcone, "ps", self.recording, "--json"], label="ps").stdout)
        names = {process["pid"]: process["process"] for process in listed}
        self.names = [names[pids[0]]] + [names[pid] for pid in pids[2:]]
        self.beside_name = names[pids[1]]
        self._read_beside(notes)
        self._read(entries)

    def _record(self, context, program, name, options):
        log, how = context.path(f"log{name}"), context.path(f"memory{name}") if self.mapped else "inherited"
        self.recording = context.path(f"shared{name}")
        recorded = context.record(self.recording, [program, str(self.seed), str(self.members), how, log], options)
        context.expect(recorded.status == 0, f"seed {self.seed}: recording", recorded)
        with open(log, encoding="utf-8") as lines:
            pids = [int(pid) for pid in lines.readline().split()]
            entries = [line.split() for line in lines]
        with open(log + ".beside", encoding="utf-8") as lines:
            return pids, entries, [line.split() for line in lines]

    def _read_beside(self, notes):
        self.beside = [SimpleNamespace(steps=0, got=0, answered=0, needs=0)]
        for steps, what, value, needs in notes:
            now = SimpleNamespace(**vars(self.beside[-1]))
            now.steps = int(steps)
            if what == "g":
                now.got, now.needs = int(value), max(now.needs, int(needs))
            else:
                now.answered = int(value)
            self.beside.append(now)

    def _read(self, entries):
        first = SimpleNamespace(**vars(NOBODY))
        if not self.mapped:
            first.there = {0}
        self.states = [first]
        read = 0
        for order, member, what, *rest in entries:
            member = int(member)
            value, place, x, x_steps, steps, _ = (int(number) for number in rest)
            before = self.states[-1]
            if x_steps != read:  # an answer was read into x since, which has no number of its own
                read = x_steps
                self._add(x=x, needs=max(before.needs, x_steps))
            self._add(order=int(order), last={**before.last, member: int(order)}, needs=max(self.states[-1].needs, steps))
            now = self.states[-1]
            if what in "xy":
                setattr(now, what, value)
            elif what == "c":
                now.cell = now.cell[:place] + (value,) + now.cell[place + 1:]
            elif what == "v":
                now.mine = {**now.mine, member: value}
            elif what == "m":
                now.there = now.there | {member}
            elif what == "f":
                now.there = now.there | {place}
                now.mine, now.last = {**now.mine, place: now.mine.get(0, 0)}, {**now.last, place: now.order}
            elif what == "e":
                now.leaves = member
        self.acts = {member: [int(entry[0]) for entry in entries if int(entry[1]) == member] for member in range(self.members)}

    def _add(self, **changes):
        before = self.states[-1]
        now = SimpleNamespace(**{**vars(before), **changes})
        if getattr(before, "leaves", None) is not None:
            now.there, now.leaves = before.there - {before.leaves}, None
        self.states.append(now)

    def holds(self, part, at):
        """A condition on one process, as Python reads it, in one of its states."""
        who, condition = part
        if who is None:
            state = self.beside[at]
            return bool(eval(condition, {"got": state.got, "answered": state.answered}))  # pylint: disable=eval-used
        state = self.states[at]
        return who in state.there and bool(eval(condition, {"s": state, "mine": state.mine.get(who, 0)}))  # pylint: disable=eval-used

    def _solutions(self, parts, start):
        ours = [part for part in parts if part[0] is not None]
        others = [part for part in parts if part[0] is None]
        good = [at for at in range(start[0], len(self.states)) if all(self.holds(part, at) for part in ours)]
        there = [at for at in range(start[1], len(self.beside)) if all(self.holds(part, at) for part in others)]
        return [(a, b) for a in good for b in there
                if self.states[a].needs <= self.beside[b].steps and self.beside[b].needs <= self.states[a].order]

    def least(self, parts, start=(0, 0)):
        """(state of those that share, of the one beside) in which all hold first; None: never."""
        found = self._solutions(parts, start)
        if not found:
            return None
        first = (min(a for a, _ in found), min(b for _, b in found))
        assert first in found
        return first

    def again(self, parts, held):
        """All minimal ones in which they hold again, one of them having been false since."""
        def fell(part, at):
            k = 0 if part[0] is not None else 1
            return any(not self.holds(part, between) for between in range(held[k], at[k] + 1))
        found = [at for at in self._solutions(parts, held) if any(fell(part, at) for part in parts)]
        return [at for at in found if not any(other != at and other[0] <= at[0] and other[1] <= at[1] for other in found)]
