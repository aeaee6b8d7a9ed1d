"""What the debugger says of values is so: counts of what never held, traced values, processes that have ended, programs by what they are called."""
import os

from building import compile_c
from debugging import debug

COUNTED = r"""#include <pthread.h>
#include <unistd.h>
int a, b, c, d, e, f, g;
static __thread int own;
static void tick(int i) { a = i; b = 2 * i; c = i % 3; d = i % 2; e = i % 5; f = i % 4; g = -i; }
static void* work(void* unused) {
  (void)unused;
  for (int i = 0; i < 5; i++) own++;
  return NULL;
}
int main(void) {
  pthread_t thread;
  for (int i = 0; i < 10; i++) {
    tick(i);
    if (write(1, ".", 1) != 1) return 1;
  }
  for (int i = 0; i < 2; i++) {
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
  }
  return 0;
}
"""

SERVED = r"""#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
int served;
char last[16];
static int serve(void) {
  char name[16] = "";
  while (read(0, name, sizeof name) > 0) {
    served++;
    strcpy(last, name);
    if (write(0, "", 1) != 1) return 1;
  }
  return 0;
}
static int ask(int fd, int round) {
  int asked = round;
  char answer;
  if (write(fd, round == 0 ? "first" : "other", 6) != 6 || read(fd, &answer, 1) != 1) return -1;
  return asked;
}
int main(int argc, char** argv) {
  int ends[2], fds[2];
  if (argc > 1) return serve();
  for (int i = 0; i < 2; i++) {
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return 1;
    if (fork() == 0) {
      dup2(ends[1], 0);
      execl(argv[0], i == 0 ? "one" : "two", "serves", (char*)NULL);
      _exit(1);
    }
    close(ends[1]);
    fds[i] = ends[0];
  }
  for (int i = 0; i < 3; i++) ask(fds[1], i);
  for (int i = 0; i < 2; i++) close(fds[i]);
  while (wait(NULL) > 0) continue;
  return 0;
}
"""

THREADS = r"""#include <pthread.h>
static int done;
static void* work(void* unused) { done++; return unused; }
int main(void) {
  for (int i = 0; i < 100; i++) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
  }
  return 0;
}
"""


def _recorded(context, name, source, *flags):
    context.need("gdb")
    recording = context.path("recording")
    done = context.record(recording, [compile_c(context, name, source, "-g", "-O0", *flags)])
    context.expect(done.status == 0, "recording", done)
    return recording


def _lines(context, recording, *commands):
    result = debug(context, recording, *commands)
    return result, (result.stdout + result.stderr).decode().splitlines()


def test_debug_told_counts(context):
    """How often each part of a predicate held that never holds, also of parts that are not looked at because another one does not hold."""
    recording = _recorded(context, "counted", COUNTED, "-pthread")
    for predicate, counts in (
            ("p1: a == 3 && p1: b == 4 && p1: c == 1 && p1: d == 1 && p1: e == 2 && p1: f == 1 && p1: g == 99",
             "p1: a == 3 held 1 time, p1: b == 4 held 1 time, p1: c == 1 held 3 times, p1: d == 1 held 5 times, p1: e == 2 held 2 times, "
             "p1: f == 1 held 3 times, p1: g == 99 held never"),
            ("p1: d == 1 && p1: a == 99 at tick", "p1: d == 1 held 5 times, p1: a == 99 at tick held never"),
            ("p1.2: own == 3 && p1.3: own == 2", "p1.2: own == 3 held 1 time, p1.3: own == 2 held 1 time")):
        result, lines = _lines(context, recording, f"stop if {predicate}", "run")
        context.expect(f"{predicate} never holds from here on: {counts}" in lines, f"{predicate}: not {counts}", result)


def test_debug_told_in_order(context):
    """What the debugger says and what the program writes come in the order in which they happen, in a pipe too."""
    recording = _recorded(context, "counted", COUNTED, "-pthread")
    result = debug(context, recording, "echo before\\n", "run")
    context.expect(result.stdout.decode().startswith("before\np1:2\n.........."), "order", result)


def test_debug_told_traces(context):
    """Values are those of the thread or process that is named, in the frame that is shown, and of `any` of a program those of who has made it hold."""
    recording = _recorded(context, "counted", COUNTED, "-pthread")
    result, lines = _lines(context, recording, "trace p1.2: own, p1: own if p1.2: own == 3", "run")
    context.expect(any("Trace 1: p1.2:" in line and ": own = 3, p1:" in line and line.endswith(": own = 0") for line in lines), "threads", result)


def test_debug_told_programs(context):
    """A program is known by what it is called, too; a predicate that gdb is asked about is about several processes of one program."""
    recording = _recorded(context, "served", SERVED)
    result, lines = _lines(context, recording, "trace any served: served, p1: asked, p2: served if any served: served == 2", "run")
    traced = [line.split(": ", 1)[1] for line in lines if line.startswith("Trace 1: ") and " = " in line]
    values = [value.split(": ")[1] for line in traced for value in line.split(", ")]
    context.expect(values == ["served = 2", "asked = 1", "served = 0"], f"{values}", result)
    for predicate, number in (("two: served == 3", 3), ('any served: $_streq(last, "other")', 2)):
        result, lines = _lines(context, recording, f"stop if {predicate}", "run", "print served", "break all two: serve", "info breakpoints")
        context.expect(f"$1 = {number}" in lines, predicate, result)
        context.expect(any("serve" in line and "breakpoint" in line for line in lines), "break all", result)
    result, lines = _lines(context, recording, "trace nobody: served if p1: 1", "trace p9: served if p1: 1")
    context.expect(lines == ["no process runs `nobody`; `pastcone ps` shows what they run", "there is no p9 in the recording; 'ps' shows all"], "refused", result)


def test_debug_told_of_ended(context):
    """gdb shows what a program's file has when the process is not there; that is said."""
    recording = _recorded(context, "served", SERVED)
    result, lines = _lines(context, recording, "run", "focus p3", "print served", "print 1 + 1")
    said = [line for line in lines if "this is what the file of its program has" in line]
    context.expect(said == ["p3 does not run now: this is what the file of its program has"], "it is not said", result)


def test_debug_told_of_spaces(context):
    """A program whose path has a space in it is known as others are: by who looks at its file, and by who waits for it."""
    context.need("gdb")
    recording = context.path("recording")
    program = context.path("counted it")
    os.rename(compile_c(context, "counted", COUNTED, "-g", "-O0", "-pthread"), program)
    context.record(recording, ["sh", "-c", f"'{program}'; true"])
    result, lines = _lines(context, recording, "stop if p2: i == 3 in tick", "run", "print i", "break all tick", "continue", "print i")
    context.expect([line for line in lines if line.startswith("$")] == ["$1 = 3", "$2 = 4"], "values", result)


def test_debug_told_of_other_compilers(context):
    """Variables that lie at a distance from the frame pointer, as clang says it: conditions and predicates have their values, not others."""
    context.need("gdb")
    recording = context.path("recording")
    context.record(recording, [compile_c(context, "counted", COUNTED, "-g", "-O0", "-pthread", compiler="clang")])
    for command in ("stop if p1: i == 3 in tick", "stop if p1: i == 3 at tick", "break tick if i == 3", "break all tick if i == 3"):
        result, lines = _lines(context, recording, command, "continue all", "print i")
        context.expect([line for line in lines if line.startswith("$")] == ["$1 = 3"], command, result)


def test_debug_told_of_steps(context):
    """That a step has gone through a function without lines is said, and why gdb does not go somewhere."""
    context.need("gdb")
    recording = context.path("recording")
    context.record(recording, [compile_c(context, "plain", COUNTED, "-g0", "-pthread")])
    result, lines = _lines(context, recording, "advance main", "break main", "continue", "break write", "next")
    context.expect(any("Cannot access memory" in line and line.endswith("Command aborted.") for line in lines), "advance", result)
    through = lines.index("Single stepping until exit from function main,") if "Single stepping until exit from function main," in lines else len(lines)
    context.expect(any(line.startswith("Breakpoint 2, ") for line in lines[through:]), "next", result)


def test_debug_steps_past_new_threads(context):
    """A breakpoint that gdb sets for a step while a thread is there that has not begun yet."""
    context.need("gdb")
    recording = context.path("recording")
    context.record(recording, [compile_c(context, "threads", THREADS, "-g0", "-O0", "-pthread")])
    result = debug(context, recording, "break main", "continue", "next")
    context.expect(result.status == 0 and b"Single stepping until exit from function main," in result.stdout, "next", result)
