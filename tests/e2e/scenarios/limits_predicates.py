"""What a predicate cannot be about: one line says so, and the session goes on."""
from building import compile_c
from debugging import debug

SOURCE = r"""#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
int* shared;
__attribute__((noinline)) int spin(int n) {
  int s = 0;
  for (int i = 0; i < n; i++) s += 2 * i ^ (s << 1);
  return s;
}
int main(void) {
  shared = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (fork() == 0) {
    *shared = 3;
    _exit(spin(7) == 1);
  }
  wait(0);
  return spin(9) == 1;
}
"""


def _refused(context, recording, predicate, why):
    result = debug(context, recording, f"stop if {predicate}", "continue", "delete 1", "print 6 * 7", label=predicate)
    context.expect(len(result.stderr.splitlines()) == 1 and why in result.stderr, f"{predicate} should be refused", result)
    context.expect(b"$1 = 42\n" in result.stdout, "the session should go on", result)


def test_limit_predicate_memory(context):
    """Memory that is shared with other processes in parallel mode and with '->', registers of an optimised function."""
    context.need("gdb")
    for how, options, predicate, why in (("-O0", ["--threads=parallel"], "p1: *shared == 3", b"parallel mode"),
                                         ("-O0", [], "p2: *shared == 3 -> p1: *shared == 3", b"MAP_SHARED"),
                                         ("-O2", [], "p1: s == 3 in spin", b"optimised")):
        recording = context.path("recording" + how)
        context.record(recording, [compile_c(context, "subject" + how, SOURCE, "-g", how)], options)
        _refused(context, recording, predicate, why)
    there = debug(context, context.path("recording-O0"), "stop if p2: *shared == 3 at spin", "continue", "print *shared", label="at")
    context.expect(b"$1 = 3\n" in there.stdout, "at a place it can be told", there)


KILLED = r"""#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
int x, reaped;
int main(int argc, char** argv) {
  if (fork() == 0) {
    x = 5;
    if (argc > 1) _exit(0);
    raise(SIGKILL);
  }
  wait(0);
  reaped = argc;
  return 0;
}
"""


KILLED_COMPUTING = r"""
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
volatile long x;
int main(void) {
  int ends[2];
  char byte;
  if (pipe(ends) != 0) return 1;
  pid_t child = fork();
  if (child == 0) {
    if (write(ends[1], "", 1) != 1) return 1;
    for (long i = 0; i < 500000000; i++) x = i;
    x = -1;
    getppid();
    return 0;
  }
  if (read(ends[0], &byte, 1) != 1) return 1;
  kill(child, SIGKILL);
  return waitpid(child, 0, 0) != child;
}
"""


def test_limit_killed_computing(context):
    """Who was killed in a computation is replayed up to its next call, which is not done any more."""
    context.need("gdb")
    recording = context.path("computing.rec")
    context.record(recording, [compile_c(context, "computing", KILLED_COMPUTING, "-O0")])
    said = debug(context, recording, "break p2: computing.c:14", "continue all", "continue all", "print x", "where")
    context.expect(b"Breakpoint 1, " in said.stdout and b"$1 = -1" in said.stdout, "behind the computation", said)
    context.expect(b"was killed" in said.stdout, "at its next call", said)


def test_limit_predicate_of_killed(context):
    """Of a process that was killed a predicate holds even when it has been waited for; of one that has exited it does not."""
    context.need("gdb")
    program = compile_c(context, "killed", KILLED, "-O0")
    for arguments, said in (([], b"$1 = 1\n"), (["exits"], b"never holds")):
        recording = context.path("killed" + "".join(arguments))
        context.record(recording, [program, *arguments])
        result = debug(context, recording, "stop if p1: reaped && p2: x == 5", "continue", "focus p1", "print reaped", label="killed")
        context.expect(said in result.stdout, f"{arguments}: {said!r}", result)


THREAD_OWN = r"""#include <unistd.h>
__thread volatile int own = 1;
volatile int rounds;
int main(void) {
  for (int i = 0; i < 5; i++) {
    own = i;
    rounds = i;
    getppid();
  }
  return 0;
}
"""


def test_limit_variables_of_threads(context):
    """A thread's own variables in programs that are linked in rare ways: refused, or, with musl and statically, not found."""
    for compiler, flags, refused in (("gcc", ["-O0", "-static-pie"], True), ("musl-gcc", ["-O0"], True), ("musl-gcc", ["-O0", "-static"], False)):
        recording = context.path(f"own{compiler}{len(flags)}")
        recorded = context.record(recording, [compile_c(context, "own", THREAD_OWN, *flags, compiler=compiler)])
        context.expect(recorded.status == 0, "record", recorded)
        said = debug(context, recording, "stop if p1: own == 3", "continue", label=f"{compiler} {flags}")
        if refused:
            context.expect(said.status == 1 and b"Cannot find thread-local storage" in said.stderr, f"{compiler} {flags}: not refused", said)
        else:
            context.expect(b"held never" in said.stdout, "found after all: the limit is gone", said)
