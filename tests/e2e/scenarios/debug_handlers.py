"""Handlers of signals: what is behind their end, and who does not come back from one."""
import re

from building import compile_c
from debugging import debug, expect_lines, values

RETURNS = r"""#include <signal.h>
#include <sys/time.h>
#include <unistd.h>
volatile int ticks;
int work;
static void tick(int s) {
  ticks++;
  work = s;
}
int main(void) {
  struct itimerval soon = {{0, 0}, {0, 2000}};
  signal(SIGALRM, tick);
  signal(SIGUSR1, tick);
  raise(SIGUSR1);
  work = 1;
  setitimer(ITIMER_REAL, &soon, 0);
  unsigned long x = 0;
  while (ticks < 2) x++;
  work = 2;
  setitimer(ITIMER_REAL, &soon, 0);
  pause();
  work = 3;
  return x == 0;
}
"""

# As sort and ls do: the handler lets the signal kill once it has returned.
DIES = r"""#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
volatile int after;
static void last(int s) {
  signal(s, SIG_DFL);
  raise(s);
}
int main(void) {
  pid_t child = fork();
  if (child == 0) {
    signal(SIGTERM, last);
    kill(getpid(), SIGTERM);
    after = 1;
    for (int i = 0; i < 1000; i++) after++;
    getppid();
    _exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  return !WIFSIGNALED(status);
}
"""


# Nobody reads.
BROKEN = r"""#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
volatile int after;
static void send_to(int fd) {
  write(fd, "hello", 5);
  after = 1;
  getppid();
  after = 2;
  _exit(0);
}
int main(void) {
  int pipes[2], sockets[2], statuses[2];
  if (pipe(pipes) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0) return 9;
  close(pipes[0]);
  close(sockets[0]);
  if (fork() == 0) send_to(pipes[1]);
  wait(&statuses[0]);
  if (fork() == 0) send_to(sockets[1]);
  wait(&statuses[1]);
  return !(WIFSIGNALED(statuses[0]) && WTERMSIG(statuses[0]) == 13 && WIFSIGNALED(statuses[1]) && WTERMSIG(statuses[1]) == 13);
}
"""


def _recorded(context, name, source, *flags):
    program = compile_c(context, name, source, "-O0", *flags)
    recording = context.path(name)
    context.expect(context.record(recording + ".rec", [program]).status == 0, "recording")
    return recording + ".rec"


def test_debug_next_out_of_handler(context):
    """Who steps out of a handler is where the program was interrupted: in a call, in a computation, asleep."""
    recording = _recorded(context, "returns", RETURNS)
    for command in ("next", "step", "until"):
        said = debug(context, recording, *["break tick", "continue", "delete", *[command] * 3, "up 20", "info line", "print work"])
        expect_lines(context, said.stdout.decode(), "Breakpoint 1, tick", "$1 = 10")
    # Not in a call: in main itself.
    said = debug(context, recording, "break tick", "continue", "continue", "delete", "next", "next", "next", "print work", "where",
                 "next", "next", "print work")
    text = said.stdout.decode()
    expect_lines(context, text, "Breakpoint 1, tick", "Breakpoint 1, tick", "main () at", "$1 = 14", "in main", "$2 = 2")
    # Instruction by instruction.
    said = debug(context, recording, "break tick", "continue", "delete", "finish", "stepi 3", "print work", "break returns.c:15", "continue",
                 "print work")
    expect_lines(context, said.stdout.decode(), "$1 = 10", "$2 = 10")
    context.expect(values(text) == [14, 2], "values", said)


def test_debug_dies_of_its_handler(context):
    """Who dies when its handler returns has not done what comes behind it."""
    recording = _recorded(context, "dies", DIES)
    context.expect(context.run([context.pastcone, "replay", recording, "--verify"]).status == 0, "replay")
    said = debug(context, recording, "stop if p2: after == 1", "continue all", "info predicates", "print after")
    expect_lines(context, said.stdout.decode(), "never holds", "held 0 times")
    said = debug(context, recording, "break all dies.c:14", "continue all", "where")
    context.expect(b"Breakpoint 1, " not in said.stdout, "it came behind its death", said)
    expect_lines(context, said.stdout.decode(), "p2 was killed here", "sleeps in rt_sigreturn")


def test_debug_dies_in_a_send(context):
    """Who dies because nobody reads any more has sent nothing, and not gone on."""
    recording = _recorded(context, "broken", BROKEN)
    context.expect(context.run([context.pastcone, "replay", recording, "--verify"]).status == 0, "replay")
    for process in ("p2", "p3"):
        said = debug(context, recording, f"stop if {process}: after == 1", "continue all", "continue all", "continue all", "where", "events")
        expect_lines(context, said.stdout.decode(), f"{process}: after == 1 never holds", "p2 received signal SIGPIPE, Broken pipe.", "broken.c:6",
                     "p3 received signal SIGPIPE, Broken pipe.", "broken.c:6")
        context.expect(not re.search(r"write .*= 5", said.stdout.decode()), "nothing was sent", said)
