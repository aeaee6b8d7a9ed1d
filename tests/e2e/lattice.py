"""The oracle for global predicates and demand points: what the logs of tests/programs/scripted.c say, without pastcone's graph.

A local state of a process is the number of its last action. A global state is one for each process, or None for one that is not born.
It is consistent if nothing in it needs something outside it: a receive its send, an accept its connect, a birth its fork, a wait the
end it waited for.
"""
import itertools
import os

EVENTS = ("fork", "send", "recv", "try", "connect", "accept", "wait", "end")


class State:
    """After one action."""

    def __init__(self, number, what, argument, message, x, y, after):
        self.number, self.what, self.argument, self.message = number, what, argument, message
        self.x, self.y, self.after = x, y, after

    def is_event(self):
        return self.what in EVENTS


class Process:
    """Its states in order; the first is how it was born."""

    def __init__(self, name, pid, states):
        self.name, self.pid, self.states = name, pid, states


class Run:
    """The logs of one run. Local states are counted from 0 here, None is before birth."""

    def __init__(self, folder):
        lines = {int(name): self._read(os.path.join(folder, name)) for name in os.listdir(folder)}
        born = {0: State(0, "birth", 0, 0, 0, 0, 0)}
        pids = {0: None}
        for states in lines.values():
            for state in states:
                if state.what == "fork":
                    born[state.argument] = State(state.number, "birth", 0, 0, state.x, state.y, state.after - 1)
                    pids[state.argument] = state.message
        self.processes = {name: Process(name, pids[name], [born[name]] + lines[name]) for name in sorted(lines)}
        self.needs = self._needs()  # (process, index) → (process, index)

    @staticmethod
    def _read(path):
        with open(path, encoding="ascii") as file:
            rows = [line.split() for line in file]
        return [State(int(row[0]), row[1], *map(int, row[2:])) for row in rows]

    def _needs(self):
        made, needs = {}, {}
        for process in self.processes.values():
            for index, state in enumerate(process.states):
                if state.what in ("send", "connect", "fork") and (state.what != "send" or state.message >= 0):
                    made[state.what, state.argument, state.message if state.what == "send" else 0] = (process.name, index)
        for process in self.processes.values():
            for index, state in enumerate(process.states):
                if state.what == "recv" or (state.what == "try" and state.message >= 0):
                    needs[process.name, index] = made["send", state.argument, state.message]
                elif state.what == "accept":
                    needs[process.name, index] = made["connect", state.argument, 0]
                elif state.what == "wait":
                    needs[process.name, index] = (state.argument, len(self.processes[state.argument].states) - 1)
                elif state.what == "birth" and process.name != 0:
                    needs[process.name, index] = made["fork", process.name, 0]
        return needs

    def is_consistent(self, cut):
        return all(cut[need[0]] is not None and cut[need[0]] >= need[1]
                   for (name, index), need in self.needs.items() if cut[name] is not None and cut[name] >= index)

    def holds(self, conditions, cut, after_end=False):
        """conditions: process → expression of x and y. Of a process that has ended nothing holds, unless after_end."""
        for name, expression in conditions.items():
            if cut[name] is None or (self.has_ended(name, cut) and not after_end):
                return False
            state = self.processes[name].states[cut[name]]
            if not eval(expression.replace("&&", " and ").replace("||", " or "), {}, {"x": state.x, "y": state.y}):
                return False
        return True

    def has_ended(self, name, cut):
        return cut[name] == len(self.processes[name].states) - 1

    def least(self, conditions, at_least=None, after_end=False):
        """The least consistent state in which all conditions hold and everybody has come as far as at_least says; None if there is none.
        Each step is forced: a process whose condition is false, or of whom something is needed, must go on."""
        cut = {name: None for name in self.processes}
        cut[0] = 0
        while True:
            goes_on = self._must_go_on(cut, conditions, at_least or {}, after_end)
            if goes_on is None:
                return cut
            cut[goes_on] = 0 if cut[goes_on] is None else cut[goes_on] + 1
            if cut[goes_on] == len(self.processes[goes_on].states):
                return None

    def _must_go_on(self, cut, conditions, at_least, after_end):
        for name, index in at_least.items():
            if cut[name] is None or cut[name] < index:
                return name
        for (name, index), (other, needed) in self.needs.items():
            if cut[name] is not None and cut[name] >= index and (cut[other] is None or cut[other] < needed):
                return other
        for name, expression in conditions.items():
            if not self.holds({name: expression}, cut, after_end):
                return name
        return None

    def least_by_trying_all(self, conditions):
        """The same by looking at every global state there is; only for small runs."""
        places = [[None] * (name != 0) + list(range(len(process.states))) for name, process in self.processes.items()]
        found = [cut for cut in (dict(zip(self.processes, choice)) for choice in itertools.product(*places))
                 if self.is_consistent(cut) and self.holds(conditions, cut)]
        if not found:
            return None
        least = {name: min((-1 if cut[name] is None else cut[name]) for cut in found) for name in self.processes}
        least = {name: None if index < 0 else index for name, index in least.items()}
        assert least in found, "no least state"
        return least

    def demanded(self, name, index, stop=None):
        """Where everybody stands after a demand for that state, as P2 says: a process runs as far as somebody wants it to; when it comes to
        something that needs another process, it asks that one; what the demand point needs directly, and that in turn, is asked for
        at once. `stop` is a breakpoint, directly behind a state of a process. Returns the global state, who waits at the next action, and whether
        the breakpoint was hit."""
        wanted, at = {other: None for other in self.processes}, {other: None for other in self.processes}
        wanted[0] = at[0] = 0
        node = (name, index)
        while node:
            self._ask(wanted, *node)
            node = self.needs.get(node)
        waiting, moved = set(), True
        while moved:
            moved, waiting = False, set()
            for other in self.processes:
                while wanted[other] is not None and (at[other] is None or at[other] < wanted[other]) and (other, at[other]) != stop:
                    following = 0 if at[other] is None else at[other] + 1
                    need = self.needs.get((other, following))
                    if need and (at[need[0]] is None or at[need[0]] < need[1]):
                        moved = self._ask(wanted, *need) or moved
                        waiting.add(other)
                        break
                    at[other], moved = following, True
        hit = stop is not None and at[stop[0]] == stop[1] and wanted[stop[0]] > stop[1]
        return at, {other for other in waiting if at[other] is not None}, hit

    @staticmethod
    def _ask(wanted, name, index):
        if wanted[name] is not None and wanted[name] >= index:
            return False
        wanted[name] = index
        return True

    def shown(self, name, cut, waiting=(), stop=None):
        """What a process in that state shows: state_number, x, y, after_event; None if it is not there. Directly behind an event, its
        after_event has not gone up yet."""
        if cut[name] is None or self.has_ended(name, cut):
            return None
        states, index = self.processes[name].states, cut[name]
        state, number = states[index], states[index].number
        after = state.after - (index > 0 and state.is_event())
        if name in waiting:
            number = states[index + 1].number
        if name in waiting or (name, index) == stop:
            after = state.after + (index == 0 and name != 0)
        return {"state_number": number, "x": state.x, "y": state.y, "after_event": after}
