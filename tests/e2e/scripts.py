"""Random scripts for tests/programs/scripted.c.

A script is made by acting it out once in some order: whatever the program's own order will be, nobody waits for ever. Processes
fork, connect, send, receive, wait, come and go; the ends of a link may pass to a child. Values of x and y are small, so conditions
hold several times; some changes are taken back at once; 9 never comes up.
"""
VALUES = range(5)
KINDS = ("pipe", "polled", "pair", "tcp")


class _Link:
    def __init__(self, kind, ends):
        self.kind, self.owners, self.used = kind, list(ends), [0, 0]
        self.connected, self.accepted = kind != "tcp", kind != "tcp"


class Script:
    def __init__(self, random, processes, actions):
        self.random, self.lines, self.links = random, [], []
        self.queued = {}  # channel → messages under way
        self.children = {process: [] for process in range(processes)}
        self.live, self.ended = [0], set()
        self.unborn = list(range(1, processes))
        self.value = {0: {"x": 0, "y": 0}}
        for first in range(processes):
            for second in range(first + 1, processes):
                if random.random() < 0.9:
                    self.links.append(_Link(random.choice(KINDS), random.sample((first, second), 2)))
        while self.unborn:
            self._act(random.choice(self.live))
        for _ in range(actions):
            self._act(random.choice(self.live))
        while self.live:
            self._finish(random.choice(self.live))

    def text(self):
        return "".join(f"link {link.kind}\n" for link in self.links) + "".join(f"do {line}\n" for line in self.lines)

    def _do(self, process, what, argument=0):
        self.lines.append(f"{process} {what} {argument}")

    def _act(self, process):
        moves = [self._change] * 5 + [self._message] * 6 + [self._fork] * 3 + [self._wait, self._work]
        if self.random.random() < 0.02 and process != 0 and not (self.unborn and len(self.live) == 1):
            self._finish(process)
        else:
            self.random.choice(moves)(process)

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
        if not self.unborn:
            return
        child = self.unborn.pop(0)
        self._do(process, "fork", child)
        self.live.append(child)
        self.children[process].append(child)
        self.value[child] = dict(self.value[process])
        for link in self.links:  # who keeps an open end after the fork?
            for end in (0, 1):
                if link.owners[end] == process and link.owners[1 - end] != child and self.random.random() < 0.2:
                    link.owners[end] = child

    def _wait(self, process):
        gone = [child for child in self.children[process] if child in self.ended]
        if gone:
            child = self.random.choice(gone)
            self.children[process].remove(child)
            self._do(process, "wait", child)

    def _message(self, process):
        """Something with one of its links: connect, accept, send or receive."""
        mine = [(number, end) for number, link in enumerate(self.links) for end in (0, 1) if link.owners[end] == process]
        if not mine:
            return
        number, end = self.random.choice(mine)
        link, out, into = self.links[number], 2 * number + end, 2 * number + 1 - end
        if end == 0 and not link.connected:
            link.connected = True
            self._do(process, "connect", number)
        elif end == 1 and link.connected and not link.accepted:
            link.accepted = True
            self._do(process, "accept", number)
        elif link.connected and (end == 0 or link.accepted):
            back = link.kind in ("pair", "tcp")
            if self.queued.get(into) and self.random.random() < 0.6:
                self._receive(process, into)
            elif link.kind == "polled" and end == 1:
                self._do(process, "try", into)
            elif (end == 0 or back) and link.owners[1 - end] not in self.ended:
                self._do(process, "send", out)
                self.queued[out] = self.queued.get(out, 0) + (link.kind != "polled")

    def _receive(self, process, channel):
        self.queued[channel] -= 1
        self._do(process, "recv", channel)

    def _finish(self, process):
        """Takes all that is under way to it, and ends."""
        for number, link in enumerate(self.links):
            for end in (0, 1):
                channel = 2 * number + 1 - end
                if link.owners[end] != process:
                    continue
                if end == 1 and link.connected and not link.accepted:
                    link.accepted = True
                    self._do(process, "accept", number)
                while self.queued.get(channel):
                    self._receive(process, channel)
        self._do(process, "end")
        self.live.remove(process)
        self.ended.add(process)
