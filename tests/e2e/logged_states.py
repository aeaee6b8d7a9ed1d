"""The oracle for made programs: what the logs of logged.h say, without pastcone's graph.

A position in a process is 2i directly behind its state i, 2i + 1 where the line of its next action begins; None is before its birth.
A global state is a position for each process. It is consistent if nothing in it needs something outside it.
"""
import os

EVENTS = ("send", "recv", "try", "ready", "connect", "accept", "fork", "forkexec", "wait", "kill", "end")
NO_LINE = ("signal", "woken", "birth", "start", "exec", "end")  # their line does not begin directly before them


class State:
    """Directly behind one action."""

    def __init__(self, what, about, noted, line, x, y, z, process, needed, local):
        self.what, self.about, self.noted, self.line = what, about, noted, line
        self.x, self.y, self.z, self.local = x, y, z, local
        self.process, self.needed, self.function = process, needed, None


class Condition:
    """About one process: an expression of Python over x, y, z and local; a line it stands at; a function it is in."""

    def __init__(self, name, expression, line=None, function=None):
        self.name, self.expression, self.line, self.function = name, expression, line, function


class LoggedRun:
    def __init__(self, folder, functions):
        """functions: name → first and last line"""
        self.states, self.pids = {}, {}
        for name in filter(str.isdigit, os.listdir(folder)):
            with open(os.path.join(folder, name), encoding="ascii") as file:
                lines = [line.split() for line in file]
            self.pids[int(name)] = int(lines[0][1])
            self.states[int(name)] = [State(row[0], *map(int, row[1:])) for row in lines[1:]]
        self.names = sorted(self.states)
        self._add_beginnings()
        for state in (state for states in self.states.values() for state in states):
            state.function = next((name for name, (first, last) in functions.items() if first <= state.line <= last), None)
        self.needs = self._needs()  # (process, index) → what it needs

    def _add_beginnings(self):
        """Those that nobody could log."""
        self.states[0].insert(0, State("start", 0, -1, 0, 0, 0, 0, -1, 0, 0))
        for name in self.names:
            for state in self.states[name]:
                if state.what == "forkexec":
                    birth = State("birth", 0, state.noted, state.line, state.x, state.y, state.z, name, state.noted, 0)
                    self.states[state.about][:0] = [birth, State("exec", 0, -1, 0, 0, 0, 0, -1, 0, 0)]

    def _needs(self):
        number = {(name, state.noted): index for name in self.names for index, state in enumerate(self.states[name])}
        connects = {state.about: (name, index) for name in self.names for index, state in enumerate(self.states[name])
                    if state.what == "connect"}
        takers = {}
        for name in self.names:
            for state in self.states[name]:
                if state.what == "recv":
                    takers.setdefault(state.about, set()).add(name)
        needs = {}
        for name in self.names:
            for index, state in enumerate(self.states[name]):
                # What an end was ready for that several receive from is not known.
                unsure = state.what == "ready" and len(takers[self.states[name][index + 1].about]) > 1
                if state.process >= 0 and not unsure:
                    needs[name, index] = (state.process, number[state.process, state.needed])
                elif state.what == "accept":
                    needs[name, index] = connects[state.about]
                elif state.what == "wait":
                    needs[name, index] = (state.about, len(self.states[state.about]) - 1)
        return needs

    # Single processes.
    def end(self, name):
        return 2 * (len(self.states[name]) - 1)

    def gone(self, name, at):
        return at is None or at >= self.end(name)

    def holds(self, condition, at):
        name = condition.name
        if self.gone(name, at):
            return False
        state = self.states[name][at // 2]
        if condition.line is not None:
            following = self.states[name][at // 2 + 1] if at % 2 else None
            if following is None or following.what in NO_LINE or following.line != condition.line:
                return False
        values = {"x": state.x, "y": state.y, "z": state.z}
        if condition.function is not None:
            values["local"] = self._local(name, at // 2, condition.function)
            if values["local"] is None:
                return False
        return bool(eval(condition.expression, {}, values))

    def _local(self, name, index, function):
        """The value of its local variable while the function runs, from the first assignment on; else None."""
        for state in reversed(self.states[name][:index + 1]):
            if state.function != function:
                return None
            if state.what == "local":
                return state.local
        return None

    def shown(self, name, at):
        """What a process shows there; None if it is not there. noted goes up only behind a state."""
        if self.gone(name, at):
            return None
        state = self.states[name][at // 2]
        noted = max(0, self.states[name][at // 2 + at % 2].noted)
        return {"x": state.x, "y": state.y, "last.value": state.z, "noted": noted}

    # All of them.
    def beginning(self):
        return {name: None if name else 0 for name in self.names}

    def ending(self):
        return {name: self.end(name) for name in self.names}

    def within(self, a, b):
        return all((-1 if a[name] is None else a[name]) <= (-1 if b[name] is None else b[name]) for name in self.names)

    def least(self, conditions, at_least):
        """The least state that is not before at_least, in which all conditions hold; None if there is none. Each step is forced."""
        cut = {**self.beginning(), **{name: at for name, at in at_least.items() if at is not None}}
        while True:
            for (name, index), (other, needed) in self.needs.items():
                if cut[name] is not None and cut[name] >= 2 * index and (cut[other] is None or cut[other] < 2 * needed):
                    cut[other] = 2 * needed
                    break
            else:
                wrong = next((each for each in conditions if not self.holds(each, cut[each.name])), None)
                if wrong is None:
                    return cut
                cut[wrong.name] = 0 if cut[wrong.name] is None else cut[wrong.name] + 1
                if cut[wrong.name] > self.end(wrong.name):
                    return None

    def cone(self, name, index):
        return self.least([], {name: 2 * index})

    def minimal(self, cuts):
        found = [cut for number, cut in enumerate(cuts) if cut is not None and cut not in cuts[:number]]
        return [cut for cut in found if not any(other is not cut and self.within(other, cut) for other in found)]

    def again(self, conditions, held):
        """The minimal states in which all hold again, one having been false since."""
        found = []
        for condition in conditions:
            at = held[condition.name]
            while at <= self.end(condition.name) and self.holds(condition, at):
                at += 1
            if at <= self.end(condition.name):
                found.append(self.least(conditions, {**held, condition.name: at}))
        return self.minimal(found)

    def linked(self, before, conditions, here):
        """The minimal states of before -> conditions, not before `here`: one of those that hold could know that `before`
        has held, whenever that was."""
        first = next((at for at in range(self.end(before.name)) if self.holds(before, at)), None)
        found = []
        for knower in (condition.name for condition in conditions if first is not None):
            if knower == before.name:
                known = first
            else:
                cones = ((index, self.cone(knower, index)[before.name]) for index in range(len(self.states[knower])))
                index = next((index for index, known in cones if known is not None and known > first), None)
                known = None if index is None else 2 * index
            later = {**here, knower: max(known, -1 if here[knower] is None else here[knower])} if known is not None else None
            found.append(None if later is None else self.least(conditions, later))
        return self.minimal(found)

    def demanded(self, name, index, stops, start):
        """Where everybody stands after a demand for that state, by P2's rules; see Run.demanded in lattice.py. stops: breakpoints,
        (process, index) → how far beyond that state they are. Also says whether one was hit."""
        at = {other: None if place is None else place // 2 for other, place in start.items()}
        wanted, node, hit, waiting, moved = dict(at), (name, index), {}, set(), True
        while node:
            wanted[node[0]] = max(-1 if wanted[node[0]] is None else wanted[node[0]], node[1])
            node = self.needs.get(node)
        while moved:
            moved, waiting = False, set()
            for other in self.names:
                while wanted[other] is not None and (at[other] is None or at[other] < wanted[other]):
                    if (other, at[other]) in stops:
                        hit[other] = stops[other, at[other]]
                        break
                    following = 0 if at[other] is None else at[other] + 1
                    need = self.needs.get((other, following))
                    if need and (at[need[0]] is None or at[need[0]] < need[1]):
                        if wanted[need[0]] is None or wanted[need[0]] < need[1]:
                            wanted[need[0]], moved = need[1], True
                        waiting.add(other)
                        break
                    at[other], moved = following, True
        beyond = {**{other: 1 for other in waiting}, **hit}
        return {other: None if place is None else 2 * place + beyond.get(other, 0) for other, place in at.items()}, bool(hit)
