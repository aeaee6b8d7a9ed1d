"""Random scripts for tests/programs/scripted.c. Values of x and y are small, so conditions hold several times; some changes are taken back
at once; 9 never comes up."""
from schedules import Schedule

VALUES = range(5)
KINDS = ("pipe", "polled", "pair", "tcp")


class Script(Schedule):
    def __init__(self, random, processes, actions):
        self.lines = []
        self.value = {0: {"x": 0, "y": 0}}
        super().__init__(random, processes, actions, KINDS)

    def text(self):
        return "".join(f"link {link.kind}\n" for link in self.links) + "".join(f"do {line}\n" for line in self.lines)

    def moves(self):
        return [self._change] * 5 + [self.message] * 6 + [self._fork] * 3 + [self.wait, self._work]

    def _do(self, process, what, argument=0):
        self.lines.append(f"{process} {what} {argument}")

    def _change(self, process):
        name, values = self.random.choice("xy"), self.value[process]
        before, values[name] = values[name], self.random.choice(VALUES)
        self._do(process, name, values[name])
        if self.random.random() < 0.4:
            values[name] = before
            self._do(process, name, before)

    def _work(self, process):
        self._do(process, "work", self.random.randrange(1, 200))

    def _fork(self, process):
        child = self.birth(process)
        if child is None:
            return
        self._do(process, "fork", child)
        self.value[child] = dict(self.value[process])
        self.pass_ends(process, child)

    def do_connect(self, process, number):
        self._do(process, "connect", number)

    def do_accept(self, process, number):
        self._do(process, "accept", number)

    def do_send(self, process, number, end):
        self._do(process, "send", 2 * number + end)

    def do_receive(self, process, channel):
        self._do(process, "recv", channel)

    def do_try(self, process, number):
        self._do(process, "try", 2 * number)

    def do_wait(self, process, child):
        self._do(process, "wait", child)

    def do_end(self, process):
        self._do(process, "end")
