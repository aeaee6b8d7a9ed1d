"""Traces and predicates beside breakpoints; disabled ones; processes by their ids; what `where` says of programs without symbols."""
import json
import re

from building import compile_c
from debugging import debug, expect_lines, places

SERVER = r"""#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
int served;
static void serve(int fd) {
  int n;
  while (read(fd, &n, sizeof n) == sizeof n) {
    served++;
    if (write(fd, &n, sizeof n) != sizeof n) _exit(1);
  }
  if (served != 3) abort();
  _exit(0);
}
int main(int argc, char** argv) {
  int fds[2], ends[2], n = 0;
  for (int i = 0; i < 2; i++) {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 1;
    if (fork() == 0) serve(ends[1]);
    close(ends[1]);
    fds[i] = ends[0];
  }
  for (int i = 0; i < 6; i++) {
    if (i == 5 && argc > 1) break;
    if (write(fds[i % 2], &n, sizeof n) != sizeof n || read(fds[i % 2], &n, sizeof n) != sizeof n) return 1;
  }
  for (int i = 0; i < 2; i++) shutdown(fds[i], SHUT_RDWR);
  while (wait(0) > 0) continue;
  return 0;
}
"""


def _recorded(context, *arguments, flags=("-O0",)):
    program = compile_c(context, "server", SERVER, *flags)
    recording = context.path("server.rec")
    context.record(recording, [program, *arguments])
    return recording


def test_debug_trace_up_to_stop(context):
    """What is traced is printed up to where the run stops, once, and the rest when it goes on; the hits of the breakpoint are counted once."""
    commands = [f"trace p3: served if p3: served == {count}" for count in (1, 2, 3)]
    text = debug(context, _recorded(context), *commands, "break p2: server.c:10 if served == 2", "continue", "info breakpoints",
                 "continue").stdout.decode()
    expect_lines(context, text, "Trace 1: p3:", "Breakpoint 4, serve", "hit 1 time", "Trace 2: p3:", "Trace 3: p3:",
                 "the recording ends here")
    context.expect(len(re.findall(r"^Trace \d: p3:\d+", text, re.MULTILINE)) == 3, f"each once:\n{text}")


def test_debug_continue_all_to_predicates(context):
    """Whoever is let run on, predicates stop it and traces are printed."""
    text = debug(context, _recorded(context), "trace p2: served if p2: served == 1", "stop if p3: served == 2", "continue all", "print served",
                 "continue all").stdout.decode()
    expect_lines(context, text, "Trace 1: p2:", "Predicate 2: ", "$1 = 2", "does not hold again", "the recording ends here")


def test_debug_disabled_predicates(context):
    """A predicate that is disabled stops nothing until it is enabled again."""
    text = debug(context, _recorded(context), "stop if p2: served == 2", "disable 1", "info predicates", "run", "enable 1", "run", "print served",
                 "disable", "run", "delete", "info predicates").stdout.decode()
    expect_lines(context, text, "held 0 times, disabled", "the recording ends here", "Predicate 1: ", "$1 = 2", "the recording ends here",
                 "No predicates.")


def test_debug_predicate_by_pid(context):
    recording = _recorded(context)
    listed = json.loads(context.run([context.pastcone, "ps", recording, "--json"], label="ps").stdout)
    pid = next(process["pid"] for process in listed if process["process"] == "p3")
    text = debug(context, recording, f"stop if {pid}: served == 1", "continue", "print served").stdout.decode()
    context.expect("\n  p3:" in text and "$1 = 1" in text, f"the process {pid} is p3:\n{text}")


def test_debug_where_without_symbols(context):
    """Of a program without symbols `where` says the file and the offset, and of one that aborts that it does."""
    recording = _recorded(context, "less", flags=("-O0", "-s"))
    text = debug(context, recording, "run to send 1 of p1->p2", "where", "continue all", "restart", "bt 1").stdout.decode()
    before, found = places(text), places(debug(context, recording, "continue all", "where").stdout.decode())
    context.expect(re.search(r"server\+0x\w+; received signal SIGABRT, Aborted$", found["p3"]), f"p3: {found}")
    context.expect("unknown" not in text and re.search(r"server\+0x", before["p1"]), f"p1: {before}")
    context.expect(re.search(r"^#0 .* in _start \(\) from ", text, re.MULTILINE), f"at the beginning, again:\n{text}")


COUNTER = r"""volatile int value, other;
int main(void) {
  for (int i = 0; i < 1000; i++) {
    value = 0;
    other++;
    value = i;
  }
  return 0;
}
"""


def _counted(context):
    recording = context.path("counter.rec")
    context.record(recording, [compile_c(context, "counter", COUNTER, "-O0")])
    return recording


def test_debug_predicate_beside_breakpoint(context):
    """A breakpoint that does not stop lies at an instruction that writes what the predicate reads: that counts on the way, too."""
    text = debug(context, _counted(context), "break counter.c:4 if other < 0", "stop if p1: value == 900", "continue", "print value",
                 "print other").stdout.decode()
    expect_lines(context, text, "$1 = 900", "$2 = 901")


def test_debug_trace_within_computation(context):
    """States that follow each other without an event between them are gone through one after the other, and exact: also from a breakpoint on."""
    text = debug(context, _counted(context), "trace p1: other if p1: value % 100 == 99", "continue").stdout.decode()
    expect_lines(context, text, *(f": other = {i + 1}" for i in range(99, 1000, 100)))
    text = debug(context, _counted(context), "trace p1: other if p1: i % 300 == 299 at counter.c:6", "continue").stdout.decode()
    expect_lines(context, text, *(f": other = {i + 1}" for i in (299, 599, 899)))
    text = debug(context, _counted(context), "stop if p1: value % 250 == 249", *["continue", "print value", "print other"] * 4).stdout.decode()
    expect_lines(context, text, *(f"= {i + more}" for i in (249, 499, 749, 999) for more in (0, 1)))


IN_A_ROW = """int x, y;
int main(void) {
  for (int i = 0; i < 6; i++) {
    x = i;
    y = x;
  }
  return y != 5;
}
"""


def test_debug_trace_in_a_row(context):
    """Where it holds each time that a line is come to, all of these states are gone to, from one to the next."""
    recording = context.path("row.rec")
    context.record(recording, [compile_c(context, "row", IN_A_ROW, "-O0")])
    for condition in ("1", "x >= 0", "x != 3"):
        said = debug(context, recording, f"trace p1: x, p1: $pc if p1: {condition} at row.c:5", "continue")
        traced = re.findall(r"x = (\d), .*<(main\+\d+)>", said.stdout.decode())
        context.expect([int(value) for value, _ in traced] == [n for n in range(6) if condition != "x != 3" or n != 3],
                       f"traced {traced}", said)
        context.expect(len({place for _, place in traced}) == 1, f"traced {traced}", said)


def test_debug_continue_after_back(context):
    """Where one has been stopped before, by whatever way one has come back there, it is the next state that `continue` goes to."""
    recording = context.path("again.rec")
    context.record(recording, [compile_c(context, "row", IN_A_ROW, "-O0")])
    said = debug(context, recording, "stop if p1: x % 2 == 1", *["continue", "print x"] * 3, "back", "print x", "continue", "print x", "back 2", "print x",
                 "continue", "print x", "restart", "continue", "print x")
    context.expect(re.findall(r"^\$\d+ = (\d)$", said.stdout.decode(), re.MULTILINE) == ["1", "3", "5", "3", "5", "1", "3", "1"], "x", said)


LINKED = """#include <unistd.h>
int x, z;
int main(void) {
  for (int i = 0; i < 6; i++) {
    x = i;
    z++;
    if (i == 3 && write(1, "", 0) != 0) return 1;
  }
  return 0;
}
"""


def test_debug_linked_in_one_process(context):
    """What comes behind a state of the same process, between two events: `continue` goes to the same states as a trace."""
    recording = context.path("linked.rec")
    context.record(recording, [compile_c(context, "linked", LINKED, "-O0")])
    for behind, expected in (("1 at linked.c:6", ["1 1", "2 2", "3 3", "4 4", "5 5"]), ("z % 2 == 1", ["1 1", "2 3", "4 5"])):
        predicate = f"p1: x == 1 -> p1: {behind}"
        said = debug(context, recording, f"trace p1: x, p1: z if {predicate}", "continue").stdout.decode()
        traced = [" ".join(pair) for pair in re.findall(r"x = (\d), p1:\d+: z = (\d)", said)]
        said = debug(context, recording, f"stop if {predicate}", *["continue", 'printf "now %d %d\\n", x, z'] * len(expected), "continue").stdout.decode()
        stopped = re.findall(r"^now (\d \d)$", said, re.MULTILINE)
        context.expect(traced == expected and stopped == expected, f"{predicate}: traced {traced}, stopped at {stopped}, not at {expected}")
        context.expect("does not hold again" in said, said)


COMPUTES = r"""#include <sys/wait.h>
#include <unistd.h>
int first, second, count;
int main(void) {
  pid_t child = fork();
  if (child == 0) {
    first = 1;
    getppid();
    second = 1;
    _exit(0);
  }
  for (int i = 0; i < 50; i++) count = i;
  wait(0);
  return 0;
}
"""


def test_debug_linked_from_within(context):
    """Who stands in the middle of a computation is not led back in it by links that are about others."""
    recording = context.path("within.rec")
    context.record(recording, [compile_c(context, "within", COMPUTES, "-O0")])
    said = debug(context, recording, "stop if p1: count == 20", "continue", "stop if p2: first == 1 -> p2: second == 1 && p1: count > 5", "switch 2",
                 "continue", "focus p1", "print count", label="within")
    context.expect(b"$1 = 20" in said.stdout, "within", said)


def test_limit_linked_within(context):
    """But who is named by a link before is looked at from his last step on: what he has come past since is found, too."""
    recording = context.path("within.rec")
    context.record(recording, [compile_c(context, "within", COMPUTES, "-O0")])
    said = debug(context, recording, "stop if p1: count == 20", "continue", "stop if p1: count > 10 -> p1: count == 15", "switch 2", "continue",
                 "print count", label="within")
    context.expect(b"$1 = 15" in said.stdout, "within", said)


def test_debug_predicates_variables(context):
    """Who looks for states does not know what `set` has set, and says so."""
    recording = context.path("linked.rec")
    context.record(recording, [compile_c(context, "linked", LINKED, "-O0")])
    said = debug(context, recording, "set $k = 2", "stop if p1: x == $k", "stop if p1: x == 2 && $rsp != 0 at linked.c:6", "continue", "print x")
    context.expect(b"knows no $k; write its value" in said.stderr and b"$1 = 2" in said.stdout, "variables", said)
