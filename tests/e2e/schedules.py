"""Random runs of several processes, acted out once in some order: whatever order the program will have, nobody waits for ever. Processes
fork, connect, send, receive, wait, come and go; the ends of a link may pass to a child. What that looks like in a program, others
say (scripts.py, made_programs.py)."""
CONNECTED = ("tcp", "unix")  # later than they are made
BOTH_WAYS = ("pair", "seqpacket", "dgram", *CONNECTED)


class Link:
    def __init__(self, kind, ends):
        self.kind, self.owners = kind, list(ends)
        self.connected = self.accepted = kind not in CONNECTED


class Schedule:
    """It is made by its constructor: those that inherit it have to have what they need before. They give `moves`, and what is done by name:
    do_connect, do_accept, do_send, do_receive, do_try, do_wait, and do_end if that is anything."""
    most_under_way = None  # in a channel

    def __init__(self, random, processes, actions, kinds):
        self.random, self.links = random, []
        self.queued = {}  # channel → messages under way
        self.children = {process: [] for process in range(processes)}
        self.live, self.ended, self.unborn = [0], set(), list(range(1, processes))
        for first in range(processes):
            for second in range(first + 1, processes):
                if random.random() < 0.9:
                    self.links.append(Link(random.choice(kinds), random.sample((first, second), 2)))
        while self.unborn:
            self._act(random.choice(self.live))
        for _ in range(actions):
            self._act(random.choice(self.live))
        while self.live:
            self._finish(random.choice(self.live))

    def do_end(self, process):
        pass

    def _act(self, process):
        if self.random.random() < 0.02 and process != 0 and not (self.unborn and len(self.live) == 1):
            self._finish(process)
        else:
            self.random.choice(self.moves())(process)

    def birth(self, process):
        """The next child; none if all are there."""
        if not self.unborn:
            return None
        child = self.unborn.pop(0)
        self.live.append(child)
        self.children[process].append(child)
        return child

    def pass_ends(self, process, child):
        """Who keeps an open end after the fork?"""
        for link in self.links:
            for end in (0, 1):
                if link.owners[end] == process and link.owners[1 - end] != child and self.random.random() < 0.2:
                    link.owners[end] = child

    def wait(self, process):
        gone = [child for child in self.children[process] if child in self.ended]
        if gone:
            child = self.random.choice(gone)
            self.children[process].remove(child)
            self.do_wait(process, child)

    def message(self, process):
        """Something with one of its links: connect, accept, send or receive."""
        mine = [(number, end) for number, link in enumerate(self.links) for end in (0, 1) if link.owners[end] == process]
        if not mine:
            return
        number, end = self.random.choice(mine)
        link, out, into = self.links[number], 2 * number + end, 2 * number + 1 - end
        if end == 0 and not link.connected:
            link.connected = True
            self.do_connect(process, number)
        elif end == 1 and link.connected and not link.accepted:
            self._accept(process, number)
        elif link.connected and (end == 0 or link.accepted):
            room = self.most_under_way is None or self.queued.get(out, 0) < self.most_under_way
            if self.queued.get(into) and self.random.random() < 0.6:
                self._receive(process, into)
            elif link.kind == "polled" and end == 1:
                self.do_try(process, number)
            elif (end == 0 or link.kind in BOTH_WAYS) and link.owners[1 - end] not in self.ended and room:
                self.do_send(process, number, end)
                self.queued[out] = self.queued.get(out, 0) + (link.kind != "polled")

    def _accept(self, process, number):
        self.links[number].accepted = True
        self.do_accept(process, number)

    def _receive(self, process, channel):
        self.queued[channel] -= 1
        self.do_receive(process, channel)

    def _finish(self, process):
        """Takes all that is under way to it, and ends."""
        for number, link in enumerate(self.links):
            for end in (0, 1):
                channel = 2 * number + 1 - end
                if link.owners[end] != process:
                    continue
                if end == 1 and link.connected and not link.accepted:
                    self._accept(process, number)
                while self.queued.get(channel):
                    self._receive(process, channel)
        self.do_end(process)
        self.live.remove(process)
        self.ended.add(process)
