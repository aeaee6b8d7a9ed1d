"""The debugger against the logs of random programs that are compiled for it: whole sessions, in which each command begins where the last
one ended. The state after each is the least one, and nothing beyond it has run."""
import random

from debugging import debug
from logged_states import NO_LINE, Condition
from made_runs import VARIABLES, MadeRun


def _in_c(expression):
    return expression.replace(" and ", " && ").replace(" or ", " || ").replace("z", "last.value")


def _condition(made, name):
    """A condition on one process that mostly holds at some time, perhaps briefly; and as the debugger reads it."""
    chosen, who, states = made.random, made.names[name], made.run.states[name]
    kind, index = chosen.random(), chosen.randrange(len(states) - 1)
    state, following = states[index], states[index + 1]
    if kind < 0.15 and made.is_plain() and following.what not in NO_LINE and made.has_line(following):
        expression = chosen.choice((f"x == {state.x}", f"y == {state.y}", f"z == {state.z}", "1"))
        return Condition(name, expression, line=following.line), f"{who}: {_in_c(expression)} at {made.file}:{following.line}"
    locals_of_it = [each for each in states if each.what == "local"]
    if kind > 0.85 and made.is_plain() and locals_of_it:
        state = chosen.choice(locals_of_it)
        expression = chosen.choice((f"local == {state.local}", f"local == {state.local} and x == {state.x}"))
        return Condition(name, expression, function=state.function), f"{who}: {_in_c(expression)} in {state.function}"
    expression = chosen.choice((f"x == {state.x}", f"y == {state.y}", f"x == {state.x} and y == {state.y}", f"x + y == {state.x + state.y}",
                                f"z == {state.z}", f"z == {state.z} and x == {state.x}", f"x != {chosen.randrange(5)}",
                                f"(x == {state.x} or y == {chosen.randrange(5)})", f"x * 2 + z == {2 * state.x + state.z}",
                                "x == 9" if chosen.random() < 0.3 else f"x == {state.x}"))
    return Condition(name, expression), f"{who}: {_in_c(expression)}"


def _conjunction(made, most=5):
    names = made.random.sample(made.run.names, made.random.randrange(1, min(most, len(made.run.names)) + 1))
    pairs = [_condition(made, name) for name in names]
    return [condition for condition, _ in pairs], " && ".join(text for _, text in pairs)


class _Session:
    """Commands, and the states that they should lead to."""

    def __init__(self, made):
        self.made, self.run, self.random = made, made.run, made.random
        self.here, self.steps, self.numbers, self.checks = self.run.beginning(), [], 0, 0
        self.visited = [self.here]
        self.in_the_middle = False  # somebody was stopped by a breakpoint, where no line begins

    def _do(self, commands, cuts):
        self.steps.append((commands, cuts))
        self.checks += 1

    def _go(self, commands, cut):
        self._do(commands, [cut])
        if self.visited[-1] != cut:
            self.visited.append(cut)
        self.here, self.in_the_middle = cut, False

    def restart(self):
        self._go(["restart"], self.run.beginning())

    def _never(self, text):
        self._go([f"stop if {text}", "continue", f"delete {self.numbers}"], self.run.ending())
        self.restart()

    def stop_if(self):
        """The first time, and perhaps the next ones."""
        conditions, text = _conjunction(self.made)
        cut, self.numbers = self.run.least(conditions, self.here), self.numbers + 1
        if cut is None:
            self._never(text)
            return
        self._go([f"stop if {text}", "continue"], cut)
        while self.random.random() < 0.5 and len(states := self.run.again(conditions, self.here)) == 1:
            self._go(["continue"], states[0])
        self.steps.append(([f"delete {self.numbers}"], None))

    def _stop_at_one_of(self, text, cuts):
        self.numbers += 1
        if not cuts:
            self._never(text)
            return
        self._do([f"stop if {text}", "continue"], cuts)
        for number in range(2, len(cuts) + 1):
            self._do([f"run to state {number}"], cuts)
        self.steps.append(([f"delete {self.numbers}"], None))
        self.visited = [None]  # which one came first is not known
        self.restart()

    def stop_if_one_of(self):
        options = [_conjunction(self.made, 2) for _ in range(self.random.randrange(2, 4))]
        cuts = self.run.minimal([self.run.least(conditions, self.here) for conditions, _ in options])
        self._stop_at_one_of(" || ".join(f"({text})" for _, text in options), cuts)

    def stop_if_any(self):
        condition, text = _condition(self.made, self.random.choice(self.run.names))
        each = [Condition(name, condition.expression, condition.line, condition.function) for name in self.run.names]
        program = self.made.file.removesuffix(".c")
        self._stop_at_one_of(f"any {program}{text[text.index(':'):]}",
                             self.run.minimal([self.run.least([one], self.here) for one in each]))

    def stop_if_linked(self):
        (before,), first = _conjunction(self.made, 1)
        conditions, then = _conjunction(self.made, 2)
        if any(condition.line for condition in [before, *conditions]):
            return
        self._stop_at_one_of(f"{first} -> {then}", self.run.linked(before, conditions, self.here))

    def run_to_event(self):
        name, index = self.made.some_event()
        self._go([f"run to {self.made.event(name, index)}"], self.run.cone(name, index))

    def run_to_message(self):
        received = [(*need, *at) for at, need in self.run.needs.items() if self.run.states[at[0]][at[1]].what == "recv"]
        if not received:
            return
        sender, sent, receiver, taken = self.random.choice(received)
        like_it = [each for each in received if (each[0], each[2]) == (sender, receiver)]
        which, index = self.random.choice((("send", 1), ("recv", 3)))
        number = sorted(each[index] for each in like_it).index((sent, taken)[index == 3]) + 1
        cut = self.run.cone(receiver, taken) if which == "recv" else self.run.cone(sender, sent)
        self._go([f"run to {which} {number} of {self.made.names[sender]}->{self.made.names[receiver]}"], cut)

    def run_with_breakpoints(self):
        if self.in_the_middle:
            self.restart()
        name, index = self.made.some_event()
        goal = self.run.cone(name, index)
        start = self.here if self.run.within(self.here, goal) else self.run.beginning()
        past = [(other, at) for other, place in goal.items() if place is not None for at in range(1, place // 2)
                if start[other] is None or 2 * at > start[other]]
        stops, commands = {}, []
        for other, at in self.random.sample(past, min(len(past), self.random.choice((1, 1, 2, 3)))):
            state = self.run.states[other][at]
            if self.random.random() < 0.5 and self.made.is_plain() and state.what not in NO_LINE and self.made.has_line(state):
                everybody = self.random.random() < 0.5
                commands.append(f"break {'all ' if everybody else self.made.names[other] + ': '}{self.made.file}:{state.line}")
                for who in self.run.names if everybody else [other]:
                    stops.update({(who, k - 1): 1 for k, each in enumerate(self.run.states[who])
                                  if each.line == state.line and each.what not in NO_LINE and (who, k - 1) not in stops})
            else:
                commands.append(f"break {self.made.names[other]}: note if noted == {state.noted}")
                stops[other, at] = 0
        if not commands or any(start[who] is not None and 2 * at + 1 == start[who] for who, at in stops):
            return
        cut, hit = self.run.demanded(name, index, stops, start)
        self._go(commands + [f"run to {self.made.event(name, index)}"], cut)
        self.steps.append(([f"delete {self.numbers + 1 + number}" for number in range(len(commands))], None))
        self.numbers, self.in_the_middle = self.numbers + len(commands), hit

    def back(self):
        count = self.random.randrange(1, 4)
        if len(self.visited) <= count or None in self.visited[-count - 1:] or self.in_the_middle:
            return
        del self.visited[-count:]
        self.here = self.visited[-1]
        self._do([f"back {count}"], [self.here])

    def some_step(self):
        kinds = [self.stop_if] * 4 + [self.run_to_event] * 2 + [self.run_with_breakpoints] * 3 + [
            self.run_to_message, self.stop_if_one_of, self.stop_if_any, self.stop_if_linked, self.back]
        kind = self.random.choice(kinds)
        if self.in_the_middle and kind in (self.stop_if, self.stop_if_any, self.stop_if_one_of, self.stop_if_linked):
            self.restart()
        kind()


def _made(context):
    seed = context.random.randrange(1 << 32)
    return MadeRun(context, seed, random.Random(seed))


def test_debug_made_sessions(context):
    """stop if, ||, ->, any, run to, break and back, from wherever the last command has led."""
    checks = 0
    for _ in range(context.rounds(2, 25)):
        made = _made(context)
        for _ in range(2):
            session = _Session(made)
            for _ in range(6):
                session.some_step()
            made.session(session.steps)
            checks += session.checks
    context.expect(checks >= context.rounds(1, 200), f"only {checks} states were compared")


def test_debug_repeated(context):
    """The same commands lead everybody to the same event, line and values every time: a predicate, a demand point with breakpoints."""
    for _ in range(context.rounds(1, 3)):
        made = _made(context)
        session = _Session(made)
        while session.checks < 1 or len(session.visited) < 2:
            session.stop_if()
        predicate = [command for commands, _ in session.steps for command in commands]
        event = made.event(*made.some_event())
        looks = ["where"] + [command for name in made.run.names
                             for command in (f"focus {made.names[name]}", "bt", *(f"print {each}" for each in VARIABLES))]
        for commands in (predicate, ["break all note if noted % 7 == 3", f"run to {event}"]):
            first = None
            for number in range(context.rounds(3, 20)):
                said = debug(context, made.recording, *commands, *looks, label=f"repeated{number}")
                first = first or said
                context.expect_equal(f"seed {made.seed}, {commands}, repetition {number + 1}", first, said)
