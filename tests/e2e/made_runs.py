"""Made programs, recorded once: what pastcone calls their processes and events, and sessions that are compared with their logs."""
import json
import os
import re
import subprocess

from debugging import GONE, VALUE, debug, places
from logged_states import EVENTS, LoggedRun
from made_programs import KINDS, MadeProgram

HERE = os.path.dirname(os.path.abspath(__file__))
FLAGS = (["-O0"], ["-O0"], ["-O2"], ["-O0", "-static"], ["-O0", "-no-pie"], ["-O1", "-no-pie"], ["-x", "c++", "-O0"])
VARIABLES = ("x", "y", "last.value", "noted")
CALLS = {"send": ("write", "sendto"), "recv": ("read", "recvfrom"), "try": ("read",), "ready": ("poll", "epoll_wait"),
         "connect": ("connect",), "accept": ("accept",), "fork": ("clone", "fork"), "forkexec": ("clone", "fork"),
         "wait": ("wait4",), "kill": ("rt_sigqueueinfo",), "end": ("exit_group",)}
MARK, MARKED = "help forward", "forward -- Undo `back`."  # between the parts of a session's output


class MadeRun:
    def __init__(self, context, seed, random):
        self.context, self.seed, self.random = context, seed, random
        context.need("gcc")
        kinds = random.sample(sorted(KINDS), random.randrange(1, 5))
        self.text = MadeProgram(random, random.randrange(2, 7), random.choice((15, 40, 80)), kinds).text()
        self.lines, self.flags = self.text.splitlines(), random.choice(FLAGS)
        source, program = context.write(f"made{seed}.c", self.text), os.path.join(context.work, f"made{seed}")
        self.file = os.path.basename(source)
        subprocess.run(["gcc", "-g", "-w", "-D_GNU_SOURCE", "-I", HERE, *self.flags, source, "-o", program], check=True)
        logs = os.path.join(context.work, f"logs{seed}")
        os.mkdir(logs)
        self.recording = context.path(f"made{seed}")
        recorded = context.record(self.recording, [program, logs])
        context.expect(recorded.status == 0, f"seed {seed}: recording", recorded)
        self.run = LoggedRun(logs, self._functions())
        by_pid = {process["pid"]: process["process"] for process in json.loads(self._ask("ps", self.recording, "--json"))}
        self.names = {name: by_pid[pid] for name, pid in self.run.pids.items()}
        self.events = self._events()

    def is_plain(self):
        """Whether lines are where they are expected."""
        return "-O0" in self.flags

    def has_line(self, state):
        """A line that begins directly before the state's action."""
        return state.what in EVENTS + ("set", "local") and state.what != "end" and not self.lines[state.line - 1].strip().startswith("for")

    def _functions(self):
        found, name, first = {}, None, 0
        for number, line in enumerate(self.lines, 1):
            begins = re.match(r"__attribute__.* (f\d+)\(int", line)
            if begins:
                name, first = begins.group(1), number
            if line == "}" and name:
                found[name], name = (first, number), None
        return found

    def _ask(self, *command):
        done = self.context.run([self.context.pastcone, *command], label=command[0])
        self.context.expect(done.status == 0, f"seed {self.seed}: {command}", done)
        return done.stdout.decode()

    def _events(self):
        """process → the event number of each of its states; None where that is none."""
        of = {}
        for event in map(json.loads, self._ask("events", self.recording, "--where", "--json").splitlines()):
            where, (name, number) = event.get("location") or {}, event["event"].split(":")
            mine = (where.get("file") or "").endswith(self.file)
            of.setdefault(name, []).append((int(number), event["kind"], where.get("line") if mine else None))
        result = {}
        for name, states in self.run.states.items():
            all_of_it = iter(of[self.names[name]])
            result[name] = [next(number for number, kind, line in all_of_it
                                 if kind in CALLS[state.what] and (line == state.line or state.what == "end"))
                            if state.what in CALLS else None for state in states]
        return result

    def event(self, name, index):
        return f"{self.names[name]}:{self.events[name][index]}"

    def some_event(self):
        return self.random.choice([(name, index) for name, all_of_it in self.events.items()
                                   for index, event in enumerate(all_of_it) if event])

    def session(self, steps):
        """steps: (commands, states): after them, everybody is in one of these. None: nobody looks."""
        commands = []
        for step, cuts in steps:
            commands += step
            if cuts is not None:
                commands += [MARK, "where"]
                for name in self.run.names:
                    commands += [MARK, f"focus {self.names[name]}", *(f"print {each}" for each in VARIABLES)]
        self.context.write(f"commands{self.seed}", "\n".join(commands))  # if it fails they can be given again
        done = debug(self.context, self.recording, *commands, label=f"session{self.seed}")
        parts = iter(done.stdout.decode(errors="replace").split(MARKED)[1:])
        for number, (step, cuts) in enumerate(steps):
            if cuts is not None:
                what = f"seed {self.seed} ({' '.join(self.flags)}), step {number + 1} {step}"
                self._expect(what, next(parts, ""), {name: next(parts, "") for name in self.run.names}, cuts, done)

    def _expect(self, what, where, looks, cuts, done):
        there, found = places(where), {}
        for name in self.run.names:
            values = [int(match.group(1)) for match in map(VALUE.match, looks[name].splitlines()) if match]
            gone = self.names[name] not in there or GONE.search(there[self.names[name]])
            found[name] = None if gone else dict(zip(VARIABLES, values))
        expected = [{name: self.run.shown(name, cut[name]) for name in self.run.names} for cut in cuts]
        wrong = [f"{self.names[name]} shows {found[name]} instead of {expected[0][name]}" for name in self.run.names
                 if found[name] != expected[0][name]]
        self.context.expect(found in expected, f"{what}: {'; '.join(wrong)}", done)
