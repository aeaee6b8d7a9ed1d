"""Random C programs of several processes that log their states (logged.h). Every action has a line of its own.

What they do is a schedule, as that of scripts.py. Unlike the script's interpreter these have loops, functions with local variables,
executed children, signals, readiness and all kinds of sockets.
"""
from schedules import Schedule

VALUES = range(5)
KINDS = {  # how it is made
    "pipe": "make_pipe({n}, 0)", "polled": "make_pipe({n}, O_NONBLOCK)",
    "pair": "make_pair({n}, SOCK_STREAM)", "seqpacket": "make_pair({n}, SOCK_SEQPACKET)",
    "dgram": "make_pair({n}, SOCK_DGRAM)", "tcp": "make_tcp({n})", "unix": "make_unix({n})",
    "named": "make_named({n})"}
OTHERS = ("(void)getppid();", "usleep(300);", "free(malloc(100000));", 'if (write(2, "", 0)) fail("write");',
          "for (volatile int i = 0; i < 100000; i++) {}", "(void)clock();")


class MadeProgram(Schedule):
    most_under_way = 8

    def __init__(self, random, processes, actions, kinds):
        self.code = {process: [] for process in range(processes)}
        self.functions, self.signalled, self.executed = [], set(), set()
        super().__init__(random, processes, actions, kinds)

    def text(self):
        parts = ['#include "logged.h"\nstatic const char* program;\n']
        parts += [f"static void process{process}(void);\n" for process in self.code] + self.functions
        for process, lines in self.code.items():
            body = "".join(f"  {line}\n" for line in lines)
            parts.append(f"static void process{process}(void) {{\n  int ready = 0;\n  (void)ready;\n{body}}}\n")
        parts.append("int main(int argc, char** argv) {\n  program = argv[0];\n  folder = argv[1];\n  catch_signals();\n"
                     "  if (argc > 2) {\n    self = atoi(argv[2]);\n    noted = 1000;\n")
        parts += [f"    if (self == {process}) {{ process{process}(); END(); }}\n" for process in sorted(self.executed)]
        made = "".join(f"  {KINDS[link.kind].format(n=number)};\n" for number, link in enumerate(self.links))
        parts.append("    return 3;\n  }\n" + made + "  process0();\n  END();\n}\n")
        return "".join(parts)

    def _do(self, process, line):
        self.code[process].append(line)

    def moves(self):
        return ([self._change] * 5 + [self.message] * 7 + [self._fork] * 3 +
                [self.wait, self._function, self._loop, self._other, self._signal])

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
        child = self.birth(process)
        if child is None:
            return
        # Descriptors are inherited by an executed program, what is known of links is not.
        if self.random.random() < 0.25 and all(child not in link.owners for link in self.links):
            self.executed.add(child)
            self._do(process, f"FORK_EXEC({child});")
            return
        self._do(process, f"FORK({child});")
        self.pass_ends(process, child)

    def do_wait(self, process, child):
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

    def do_connect(self, process, number):
        self._do(process, f"CONNECT({number}, {'in' if self.links[number].kind == 'tcp' else 'un'});")

    def do_accept(self, process, number):
        self._do(process, f"ACCEPT({number});")

    def do_try(self, process, number):
        self._do(process, f"TRY(read(links[{number}].ends[1], &last, sizeof last), {2 * number});")

    def do_send(self, process, number, end):
        kind, channel, fd = self.links[number].kind, 2 * number + end, f"links[{number}].ends[{end}]"
        if kind == "named":
            call = f"sendto({fd}, &message, sizeof message, 0, (struct sockaddr*)&links[{number}].un, sizeof links[{number}].un)"
        elif kind in ("pipe", "polled") or self.random.random() < 0.5:
            call = f"write({fd}, &message, sizeof message)"
        else:
            call = f"send({fd}, &message, sizeof message, MSG_NOSIGNAL)"
        self._do(process, f"SEND({call}, {channel}, {self.random.choice(VALUES)});")

    def do_receive(self, process, channel):
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

    def do_end(self, process):
        if process in self.signalled:
            self.signalled.remove(process)
            self._do(process, "SUSPEND();")
