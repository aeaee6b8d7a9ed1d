"""Recorded runs of random scripts: what pastcone calls the processes and events of their logs."""
import json
import os

from lattice import Run
from scripts import Script


class ScriptedRun:
    """One script, recorded once."""

    def __init__(self, context, seed, random):
        self.context, self.seed = context, seed
        script = Script(random, random.randrange(2, 7), random.choice((20, 60, 150)))
        path, logs = context.write(f"script{seed}", script.text()), os.path.join(context.work, f"logs{seed}")
        os.mkdir(logs)
        self.recording = context.path(f"scripted{seed}")
        recorded = context.record(self.recording, [context.program("scripted"), path, logs])
        context.expect(recorded.status == 0, f"seed {seed}: recording", recorded)
        self.run = Run(logs)
        self.names = self._names()
        self.events = self._events()

    def _json(self, *command):
        done = self.context.run([self.context.pastcone, *command], label=command[0])
        self.context.expect(done.status == 0, f"seed {self.seed}: {command}", done)
        return done.stdout.decode()

    def _names(self):
        """process of the script → pN; the pids are in the logs."""
        listed = json.loads(self._json("ps", self.recording, "--json"))
        by_pid = {process["pid"]: process["process"] for process in listed}
        return {name: by_pid[process.pid] if process.pid else "p1" for name, process in self.run.processes.items()}

    def _events(self):
        """process of the script → the event number of each of its states, None where that is a change of a variable."""
        of = {name: [] for name in self.names.values()}
        for line in self._json("events", self.recording, "--json").splitlines():
            event = json.loads(line)
            name, number = event["event"].split(":")
            if event["kind"] in ("connect", "accept", "wait4", "exit_group") or "created" in event or (
                    event["kind"] in ("read", "write") and "channel" in event):
                of[name].append(int(number))
        result = {}
        for name, process in self.run.processes.items():
            mine = iter(of[self.names[name]])
            result[name] = [1 if state.what == "birth" else next(mine) if state.is_event() else None for state in process.states]
            self.context.expect(next(mine, None) is None, f"seed {self.seed}: {self.names[name]} has more events than its log")
        return result

    def event(self, name, index):
        return f"{self.names[name]}:{self.events[name][index]}"

    def expect_cone(self, name, index):
        """pastcone's graph says the same as the logs: who had to come how far."""
        cut = self.run.least({}, {name: index})
        cone = json.loads(self._json("cone", self.event(name, index), self.recording, "--json"))
        places = {thread["thread"]: thread for thread in cone["threads"]}
        for other, known in cut.items():
            place = places[self.names[other]]
            reached = int(place["event"].split(":")[1]) + place["entering"] if place["event"] else 0
            last = [at for at, event in enumerate(self.events[other]) if event is not None and event <= reached]
            found = max(last) if last else 0 if other == 0 else None
            self.context.expect(found == known, f"seed {self.seed}, {self.event(name, index)}: in the cone {self.names[other]} comes to "
                                f"state {found}, by the logs to {known}")
