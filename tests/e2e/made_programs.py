"""Random C programs of several processes that log their states (logged.h). Every action has a line of its own.

A program is made by acting it out once, as in scripts.py: whatever the order will be, nobody waits for ever. Unlike the script's
interpreter these have loops, functions with local variables, executed children, signals, readiness and all kinds of sockets.
"""
VALUES = range(5)
KINDS = {  # how it is made, and whether it goes both ways
    "pipe": ("make_pipe({n}, 0)", False), "polled": ("make_pipe({n}, O_NONBLOCK)", False),
    "pair": ("make_pair({n}, SOCK_STREAM)", True), "seqpacket": ("make_pair({n}, SOCK_SEQPACKET)", True),
    "dgram": ("make_pair({n}, SOCK_DGRAM)", True), "tcp": ("make_tcp({n})", True), "unix": ("make_unix({n})", True),
    "named": ("make_named({n})", False)}
OTHERS = ("(void)getppid();", "usleep(300);", "free(malloc(100000));", 'if (write(2, "", 0)) fail("write");',
          "for (volatile int i = 0; i < 100000; i++) {}", "(void)clock();")


class _Link:
    def __init__(self, kind, ends):
        self.kind, self.owners = kind, list(ends)
        self.connected = self.accepted = kind not in ("tcp", "unix")


class MadeProgram:
    def __init__(self, random, processes, actions, kinds):
        self.random = random
        self.code = {process: [] for process in range(processes)}
        self.functions, self.links = [], []
        self.queued = {}  # channel → messages under way
        self.children = {process: [] for process in range(processes)}
        self.live, self.ended, self.unborn = [0], set(), list(range(1, processes))
        self.signalled, self.executed = set(), set()
        for first in range(processes):
            for second in range(first + 1, processes):
                if random.random() < 0.9:
                    self.links.append(_Link(random.choice(kinds), random.sample((first, second), 2)))
        while self.unborn:
            self._act(random.choice(self.live))
        for _ in range(actions):
            self._act(random.choice(self.live))
        while self.live:
            self._finish(random.choice(self.live))

    def text(self):
        parts = ['#include "logged.h"\nstatic const char* program;\n']
        parts += [f"static void process{process}(void);\n" for process in self.code] + self.functions
        for process, lines in self.code.items():
            body = "".join(f"  {line}\n" for line in lines)
            parts.append(f"static void process{process}(void) {{\n  int ready = 0;\n  (void)ready;\n{body}}}\n")
        parts.append("int main(int argc, char** argv) {\n  program = argv[0];\n  folder = argv[1];\n  catch_signals();\n"
                     "  if (argc > 2) {\n    self = atoi(argv[2]);\n    noted = 1000;\n")
        parts += [f"    if (self == {process}) {{ process{process}(); END(); }}\n" for process in sorted(self.executed)]
        made = "".join(f"  {KINDS[link.kind][0].format(n=number)};\n" for number, link in enumerate(self.links))
        parts.append("    return 3;\n  }\n" + made + "  process0();\n  END();\n}\n")
        return "".join(parts)

    def _do(self, process, line):
        self.code[process].append(line)

    def _act(self, process):
        moves = ([self._change] * 5 + [self._message] * 7 + [self._fork] * 3 +
                 [self._wait, self._function, self._loop, self._other, self._signal])
        if self.random.random() < 0.02 and process != 0 and not (self.unborn and len(self.live) == 1):
            self._finish(process)
        else:
            self.random.choice(moves)(process)

    def _change(self, process):
        name = self.random.choice("xy")
        for _ in range(self.random.choice((1, 1, 2, 3))):
            self._do(process, f"SET({name}, {self.random.choice(VALUES)});")

    def _loop(self, process):
        times, of = self.random.randrange(3, 60), self.random.randrange(2, 5)
        self._do(process, f"for (int i = 0; i < {times}; i++) SET({self.random.choice('xy')}, i % {of});")

    def _function(self, process):
        number, value = len(self.functions), self.random.choice(VALUES)
        body = [self.random.choice((f"LOCAL({value} + argument);", f"SET(x, {value});", f"SET(y, {value});", "(void)time(NULL);"))
                for _ in range(self.random.randrange(1, 5))]
        self.functions.append(f"__attribute__((noinline)) static void f{number}(int argument) {{\n  volatile int local = -1;\n" +
                              "".join(f"  {line}\n" for line in body) + "  (void)local;\n}\n")
        self._do(process, f"f{number}({self.random.choice((0, 0, 1))});")

    def _other(self, process):
        self._do(process, self.random.choice(OTHERS))

    def _fork(self, process):
        if not self.unborn:
            return
        child = self.unborn.pop(0)
        self.live.append(child)
        self.children[process].append(child)
        # Descriptors are inherited by an executed program, what is known of links is not.
        if self.random.random() < 0.25 and all(child not in link.owners for link in self.links):
            self.executed.add(child)
            self._do(process, f"FORK_EXEC({child});")
            return
        self._do(process, f"FORK({child});")
        for link in self.links:
            for end in (0, 1):
                if link.owners[end] == process and link.owners[1 - end] != child and self.random.random() < 0.2:
                    link.owners[end] = child

    def _wait(self, process):
        gone = [child for child in self.children[process] if child in self.ended]
        if gone:
            child = self.random.choice(gone)
            self.children[process].remove(child)
            self._do(process, f"WAIT({child});")

    def _signal(self, process):
        if process in self.signalled:
            self.signalled.remove(process)
            self._do(process, "SUSPEND();")
            return
        targets = [child for child in self.children[process]
                   if child in self.live and child not in self.executed and child not in self.signalled]
        if targets:
            child = self.random.choice(targets)
            self.signalled.add(child)
            self._do(process, f"KILL({child});")

    def _message(self, process):
        """Something with one of its links: connect, accept, send or receive."""
        mine = [(number, end) for number, link in enumerate(self.links) for end in (0, 1) if link.owners[end] == process]
        if not mine:
            return
        number, end = self.random.choice(mine)
        link, out, into = self.links[number], 2 * number + end, 2 * number + 1 - end
        if end == 0 and not link.connected:
            link.connected = True
            self._do(process, f"CONNECT({number}, {'in' if link.kind == 'tcp' else 'un'});")
        elif end == 1 and link.connected and not link.accepted:
            link.accepted = True
            self._do(process, f"ACCEPT({number});")
        elif link.connected and (end == 0 or link.accepted):
            if self.queued.get(into) and self.random.random() < 0.6:
                self._receive(process, into)
            elif link.kind == "polled" and end == 1:
                self._do(process, f"TRY(read(links[{number}].ends[1], &last, sizeof last), {into});")
            elif (end == 0 or KINDS[link.kind][1]) and link.owners[1 - end] not in self.ended and self.queued.get(out, 0) < 8:
                self._send(process, number, end)

    def _send(self, process, number, end):
        kind, channel, fd = self.links[number].kind, 2 * number + end, f"links[{number}].ends[{end}]"
        if kind == "named":
            call = f"sendto({fd}, &message, sizeof message, 0, (struct sockaddr*)&links[{number}].un, sizeof links[{number}].un)"
        elif kind in ("pipe", "polled") or self.random.random() < 0.5:
            call = f"write({fd}, &message, sizeof message)"
        else:
            call = f"send({fd}, &message, sizeof message, MSG_NOSIGNAL)"
        self._do(process, f"SEND({call}, {channel}, {self.random.choice(VALUES)});")
        self.queued[channel] = self.queued.get(channel, 0) + (kind != "polled")

    def _receive(self, process, channel):
        self.queued[channel] -= 1
        number = channel // 2
        fd, kind = f"links[{number}].ends[{1 - channel % 2}]", self.links[number].kind
        how = self.random.choice(("0", "MSG_WAITALL")) if kind in ("pair", "tcp", "unix") else "0"
        plain = kind == "pipe" or self.random.random() < 0.5
        call = f"read({fd}, &last, sizeof last)" if plain else f"recv({fd}, &last, sizeof last, {how})"
        if self.random.random() < 0.75:
            self._do(process, f"RECV({call}, {channel});")
            return
        if self.random.random() < 0.5:
            self._do(process, f"{{ struct pollfd set = {{{fd}, POLLIN, 0}};")
            self._do(process, "READY(poll(&set, 1, -1)); }")
        else:
            self._do(process, f"{{ struct epoll_event event; int set = watch({fd}, &event);")
            self._do(process, "READY(epoll_wait(set, &event, 1, -1));")
            self._do(process, "close(set); }")
        self._do(process, f"RECV_READY({call}, {channel});")

    def _finish(self, process):
        """Takes all that is under way to it, and ends."""
        for number, link in enumerate(self.links):
            for end in (0, 1):
                channel = 2 * number + 1 - end
                if link.owners[end] != process:
                    continue
                if end == 1 and link.connected and not link.accepted:
                    link.accepted = True
                    self._do(process, f"ACCEPT({number});")
                while self.queued.get(channel):
                    self._receive(process, channel)
        if process in self.signalled:
            self.signalled.remove(process)
            self._do(process, "SUSPEND();")
        self.live.remove(process)
        self.ended.add(process)
