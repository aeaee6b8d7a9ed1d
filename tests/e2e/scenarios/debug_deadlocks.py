"""Programs that stand still for ever: `where` names the cycle of who waits for whom."""
import os
import re
import signal
import time

from building import compile_c
from debugging import debug, line_of
from steps import STEP_SECONDS, Failure

PIPES = r"""
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) static void ask(int fd) {
  char byte;
  if (read(fd, &byte, 1) != 1) _exit(1);  // asks
}
int main(int argc, char** argv) {
  int there[2], back[2];
  if (pipe(there) != 0 || pipe(back) != 0) return 1;
  if (argc > 1 && write(there[1], argv[1], 1) != 1) return 1;
  if (fork() == 0) {
    close(there[1]);
    close(back[0]);
    ask(there[0]);
    _exit(write(back[1], "x", 1) != 1);
  }
  close(there[0]);
  close(back[1]);
  ask(back[0]);
  return wait(0) < 0;
}
"""

MUTEXES = r"""
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
__attribute__((noinline)) static void take(pthread_mutex_t* first, pthread_mutex_t* second) {
  pthread_mutex_lock(first);
  pthread_barrier_wait(&both);
  pthread_mutex_lock(second);  // takes
  pthread_mutex_unlock(second);
  pthread_mutex_unlock(first);
}
static void* other(void* unused) {
  take(&b, &a);
  return unused;
}
int main(void) {
  pthread_t thread;
  pthread_barrier_init(&both, 0, 2);
  pthread_create(&thread, 0, other, 0);
  take(&a, &b);
  pthread_join(thread, 0);
  return 0;
}
"""

CHILD = r"""
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) static void ask(int fd) {
  char byte;
  if (read(fd, &byte, 1) != 1) _exit(1);  // asks
}
int main(void) {
  int there[2];
  if (pipe(there) != 0) return 1;
  pid_t child = fork();
  if (child == 0) {
    close(there[1]);
    ask(there[0]);
    _exit(0);
  }
  waitpid(child, 0, 0);  // waits
  return write(there[1], "x", 1) != 1;
}
"""

FILES = r"""
#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) static void take(const char* first, const char* second, int tell, int hear) {
  char byte = 'x';
  int one = open(first, O_RDWR | O_CREAT, 0600), two = open(second, O_RDWR | O_CREAT, 0600);
  if (flock(one, LOCK_EX) != 0) _exit(1);
  if (write(tell, &byte, 1) != 1 || read(hear, &byte, 1) != 1) _exit(1);
  if (flock(two, LOCK_EX) != 0) _exit(1);  // takes
}
int main(void) {
  int there[2], back[2];
  if (pipe(there) != 0 || pipe(back) != 0) return 1;
  if (fork() == 0) {
    take("b", "a", back[1], there[0]);
    _exit(0);
  }
  take("a", "b", there[1], back[0]);
  return wait(0) < 0;
}
"""


def _threads(pids):
    """thread → (its state, how often it has been switched), of all of them."""
    found = {}
    for pid in pids:
        try:
            for tid in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{tid}/status", encoding="utf-8", errors="replace") as file:
                    fields = dict(line.split(":\t", 1) for line in file.read().splitlines() if ":\t" in line)
                found[tid] = (fields["State"][0], fields["voluntary_ctxt_switches"], fields["nonvoluntary_ctxt_switches"])
        except OSError:
            pass
    return found


def _wait_for_standstill(context, recorder, count):
    """Until all sleep, and nobody has been awake between many looks. The program's pids."""
    end, before, quiet = time.monotonic() + STEP_SECONDS / 2, None, 0
    while quiet < 20:
        if time.monotonic() > end:
            raise Failure(f"never stood still: {before}")
        pids = [pid for pid in context.mine() if pid != recorder]
        now = _threads(pids)
        asleep = len(now) == count and all(state == "S" for state, *_ in now.values())
        quiet = quiet + 1 if asleep and now == before else 0
        before = now
        time.sleep(0.02)
    return pids


def _kill_at_once(pids):
    """Stopped first: nobody goes on because another has died, and its pipes with it."""
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    end = time.monotonic() + STEP_SECONDS / 2
    while any(state != "T" for state, *_ in _threads(pids).values()):
        if time.monotonic() > end:
            raise Failure(f"not stopped: {_threads(pids)}")
        time.sleep(0.005)
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


def _where(context, source, threads, *flags, options=()):
    """What `where` says at the end of a program that has to be killed."""
    recording = context.path("deadlock")
    running = context.start_record(recording, [compile_c(context, "deadlock", source, *flags)], options)
    _kill_at_once(_wait_for_standstill(context, running.process.pid, threads))
    running.finish()
    context.expect_nobody_left("record")
    said = debug(context, recording, *["continue all"] * (threads + 1), "where")  # stops where each of them was killed
    context.expect(said.status == 0 and b"the recording ends here" in said.stdout, "debug", said)
    return said.stdout.decode()


def _expect(context, text, pattern):
    context.expect(re.search(pattern, text, re.M), f"no line {pattern!r} in:\n{text}")


def _expect_cycle(context, text, one, other, whys):
    why, other_why = whys
    _expect(context, text, rf"^deadlock: {re.escape(one)} waits for {re.escape(other)} \({why}\), "
                           rf"{re.escape(other)} waits for {re.escape(one)} \({other_why}\)$")


def test_debug_deadlock_of_pipes(context):
    """Two processes, each reads what only the other could write; if there is something to read, they end, and there is no deadlock."""
    text = _where(context, PIPES, 2)
    line = line_of(PIPES, "asks")
    for process, other in (("p1", "p2"), ("p2", "p1")):
        _expect(context, text, rf"^[* ] {process}:\d+ +deadlock\.c:{line} in ask; sleeps in read, fd \d+: waits for {other} \(message, channel \d+\)$")
    _expect_cycle(context, text, "p1", "p2", [r"message, channel \d+"] * 2)
    recording = context.path("ends")
    recorded = context.record(recording, [os.path.join(context.work, "deadlock"), "x"])
    context.expect(recorded.status == 0, "recording", recorded)
    said = debug(context, recording, "continue all", "where")
    context.expect(said.status == 0 and b"ended" in said.stdout and b"deadlock: " not in said.stdout,
                   f"of one that ends: {said.stdout.decode()}", said)


def test_debug_deadlock_of_several(context):
    """Two cycles that have nothing to do with each other are both named."""
    text = _where(context, PIPES.replace("int there[2]", "if (fork() < 0) return 1;\n  int there[2]"), 4)
    cycles = re.findall(r"^deadlock: (p\d) waits for (p\d) .*, (p\d) waits for (p\d) \(", text, re.M)
    context.expect(len(cycles) == 2 and sorted(sum((cycle[:2] for cycle in cycles), ())) == ["p1", "p2", "p3", "p4"] and
                   "never go" not in text, f"two cycles: {text}")


def _expect_mutexes(context, mode):
    text = _where(context, MUTEXES, 2, "-pthread", options=[f"--threads={mode}"])
    line = line_of(MUTEXES, "takes")
    for thread, other in (("p1", "p1.2"), ("p1.2", "p1")):
        _expect(context, text, rf"^[* ] {re.escape(thread)}:\d+ +deadlock\.c:{line} in take; sleeps in .*: waits for {re.escape(other)} \(mutex at ")
    _expect_cycle(context, text, "p1", "p1.2", [r"mutex at 0x[0-9a-f]+"] * 2)


def test_debug_deadlock_of_mutexes(context):
    """Two threads take two mutexes in opposite order."""
    _expect_mutexes(context, "serial")


def test_debug_deadlock_of_mutexes_parallel(context):
    """The same, of threads that run at the same time."""
    _expect_mutexes(context, "parallel")


def test_debug_deadlock_of_parent_and_child(context):
    """A parent waits for the end of its child, which reads what only the parent could write."""
    text = _where(context, CHILD, 2)
    _expect(context, text, rf"^[* ] p1:\d+ +deadlock\.c:{line_of(CHILD, 'waits')} in main; sleeps in wait4: waits for p2 \(end\)$")
    _expect(context, text, rf"^[* ] p2:\d+ +deadlock\.c:{line_of(CHILD, 'asks')} in ask; sleeps in read, fd \d+: waits for p1 \(message, channel \d+\)$")
    _expect_cycle(context, text, "p1", "p2", ["end", r"message, channel \d+"])


def test_debug_deadlock_of_nobody(context):
    """A parent waits for a child that waits for a signal, which anybody could send: killed while they sleep, they are no deadlock."""
    text = _where(context, CHILD.replace("ask(there[0]);", "pause();"), 2)
    _expect(context, text, r"^[* ] p1:\d+ +deadlock\.c:\d+ in main; sleeps in wait4: waits for p2 \(end\)$")
    _expect(context, text, r"^[* ] p2:\d+ +deadlock\.c:\d+ in main; sleeps in pause$")
    context.expect("deadlock: " not in text, f"it is none:\n{text}")


def test_limit_deadlock_of_files(context):
    """Two processes lock two files in opposite order: where each sleeps is said, but not who has the file."""
    text = _where(context, FILES, 2)
    for process in ("p1", "p2"):
        _expect(context, text, rf"^[* ] {process}:\d+ +deadlock\.c:{line_of(FILES, 'takes')} in take; sleeps in flock, fd \d+$")
    context.expect("deadlock: " not in text, f"it is named after all, the limit is gone:\n{text}")


LOOPS = r"""
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) static void loop(int fd, int how, int more) {
  struct epoll_event event = {.events = EPOLLIN, .data.fd = fd}, other = {.events = EPOLLIN, .data.fd = more};
  int instance = epoll_create1(0);
  fd_set set;
  FD_ZERO(&set);
  FD_SET(fd, &set);
  epoll_ctl(instance, EPOLL_CTL_ADD, fd, &event);
  if (more >= 0) epoll_ctl(instance, EPOLL_CTL_ADD, more, &other);
  how ? select(fd + 1, &set, 0, 0, 0) : epoll_wait(instance, &event, 1, -1);  // sleeps
}
int main(int argc, char** argv) {
  int ends[2], listener = -1;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 1;
  if (LISTENS) {
    listener = socket(AF_INET, SOCK_STREAM, 0);
    if (listen(listener, 1) != 0) return 1;
  }
  if (fork() == 0) {
    close(ends[0]);
    loop(ends[1], 0, -1);
    _exit(0);
  }
  close(ends[1]);
  loop(ends[0], 1 - LISTENS, listener);
  return argc + !argv;
}
"""

OWN_END = r"""
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
  int ends[2];
  if (pipe(ends) != 0) return 1;
  if (fork() == 0) {
    char byte;
    while (read(ends[0], &byte, 1) == 1) {}  // up to an end that does not come: its own copy of the other end is open
    _exit(0);
  }
  close(ends[1]);
  wait(0);
  return 0;
}
"""

THREADS = r"""
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int word;
static void* wait_for_it(void* unused) {
  pthread_mutex_lock(&mutex);
  pthread_cond_wait(&condition, &mutex);
  return unused;
}
static void* sleep_there(void* unused) {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, 0);
  return unused;
}
int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, wait_for_it, 0);
  pthread_create(&two, 0, sleep_there, 0);
  pthread_join(one, 0);
  return 0;
}
"""


def test_debug_deadlock_of_event_loops(context):
    """Two event loops, one in select, the other in epoll_wait; where one has a listener, too, somebody new may wake it."""
    text = _where(context, LOOPS, 2, "-DLISTENS=0")
    line = line_of(LOOPS, "sleeps")
    _expect(context, text, rf"^[* ] p1:\d+ +deadlock\.c:{line} in loop; sleeps in p?select6?: waits for p2 \(message, channel \d+\)$")
    _expect(context, text, rf"^[* ] p2:\d+ +deadlock\.c:{line} in loop; sleeps in epoll_p?wait, fd \d+: waits for p1 \(message, channel \d+\)$")
    _expect_cycle(context, text, "p1", "p2", [r"message, channel \d+"] * 2)


def test_debug_event_loop_with_listener(context):
    """The same, of one that also waits for new connections: that is no deadlock."""
    text = _where(context, LOOPS, 2, "-DLISTENS=1")
    _expect(context, text, r"^[* ] p1:\d+ .*; sleeps in epoll_p?wait, fd \d+")
    context.expect("deadlock: " not in text, f"it is none:\\n{text}")


def test_debug_deadlock_with_itself(context):
    """A child reads a pipe to an end that its own descriptor keeps from coming; its parent waits for it."""
    text = _where(context, OWN_END, 2)
    _expect(context, text, r"^[* ] p2:\d+ .*; sleeps in read, fd \d+: waits for p2 \(message, channel \d+\)$")
    _expect(context, text, r"^deadlock: p2 waits for p2 \(message, channel \d+\)$")
    _expect(context, text, r"p1 never goes on")


def test_debug_waits_of_threads_parallel(context):
    """Threads that run at the same time: one joins another, which waits for a condition; a third sleeps in a futex of its own."""
    text = _where(context, THREADS, 3, "-pthread", options=["--threads=parallel"])
    _expect(context, text, r"^[* ] p1:\d+ .*; sleeps in pthread_join: waits for p1\.2 \(end\)$")
    _expect(context, text, r"^[* ] p1\.2:\d+ .*; sleeps in a condition, 0x[0-9a-f]+$")
    _expect(context, text, r"^[* ] p1\.3:\d+ .*; sleeps in futex, 0x[0-9a-f]+$")
