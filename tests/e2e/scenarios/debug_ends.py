"""Processes that crash, are killed or exit with a status, recordings that are torn, programs that are gone: a stop or a line."""
import json
import os
import shutil
import signal

from building import compile_c
from debugging import debug, values
from robust import ABORT, FAULT, KILLED, OVERFLOW, STATUS, SUICIDE, Tidy, recorded

SAID = {
    FAULT: "p3 received signal SIGSEGV, Segmentation fault.", ABORT: "p3 received signal SIGABRT, Aborted.",
    OVERFLOW: "p3 received signal SIGSEGV, Segmentation fault.", SUICIDE: "p3 received signal SIGKILL, Killed.",
    STATUS: "p3 exits with status 3.", KILLED: "p3 was killed here, or later in this call.",
}


def test_debug_ends(context):
    """However one process of several ends badly: it is stopped at and shown; then the recording ends, and one can go back and come again."""
    context.need("gdb")
    for options in ((), ("--threads=parallel",)):
        for how, said in SAID.items():
            if how == OVERFLOW and options:  # its limit on the stack is not there when replay starts threads
                continue
            recording = recorded(context, how, options=options)
            with Tidy(context, recording, said) as tidy:
                result = debug(context, recording, "continue all", "bt 3", "where", "continue all", "where", "continue", "focus p3", "continue",
                               "run to p3:12", "where", "continue all", "print counter != 0", env=tidy.env, label=said)
            text = result.stdout.decode()
            context.expect(result.status == 0 and text.count(said) == 2, f"{how}{options}: {said!r} is said {text.count(said)} times:\n{text}", result)
            context.expect(text.count("the recording ends here") == 3, f"{how}{options}: the end is not said:\n{text}", result)
            context.expect("\n* p3:12 " in text and "$1 = 1\n" in text, f"{how}{options}: going back and coming again:\n{text}", result)


# Its threads sleep from early on until it is killed, and are at their ends all that time.
SLEEPERS = r"""
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
volatile int progress;
static void* sleeper(void* unused) {
  for (;;) pause();
  return unused;
}
int main(void) {
  int ready[2];
  if (pipe(ready)) return 1;
  pid_t child = fork();
  if (child == 0) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, sleeper, 0);
    for (int i = 1; i <= 20; i++) {
      usleep(2000);
      progress = i;
    }
    if (write(ready[1], "", 1) != 1) return 1;
    for (;;) pause();
  }
  char byte;
  if (read(ready[0], &byte, 1) != 1) return 1;
  usleep(20000);
  return kill(child, SIGKILL) || wait(0) != child;
}
"""


def test_debug_killed_once(context):
    """A process of several threads that is killed is stopped at once, when all of them have come to their ends."""
    context.need("gdb")
    program = compile_c(context, "sleepers", SLEEPERS, "-O0", "-pthread")
    for options in ((), ("--threads=parallel",)):
        recording = context.path(f"sleepers{len(options)}")
        context.expect(context.record(recording, [program], options).status == 0, "recording")
        end = f"run to p1:{_events(context, recording)}"
        result = debug(context, recording, "continue all", "print progress", "continue all", "restart", end)
        text = result.stdout.decode()
        said = text.count("p2 was killed here, or later in this call.")
        context.expect(result.status == 0 and values(text) == [20], f"{options}: it should be stopped at its end:\n{text}", result)
        context.expect(said == 2 and text.count("the recording ends here") == 2, f"{options}: it is said {said} times:\n{text}", result)


# One child is killed, and waited for; then both sleep until somebody kills them, too.
LEFT = r"""
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
  int ready[2];
  char byte;
  if (pipe(ready)) return 1;
  pid_t child = fork();
  if (child == 0) {
    if (write(ready[1], "", 1) != 1) return 1;
    for (;;) pause();
  }
  if (read(ready[0], &byte, 1) != 1) return 1;
  kill(child, SIGKILL);
  if (wait(0) != child) return 1;
  if (fork() == 0) {
    if (write(1, "ready\n", 6) != 6) return 1;
    for (;;) pause();
  }
  for (;;) pause();
}
"""


def test_debug_without_recorder(context):
    """Where the recorder was killed the recording ends: nobody was killed there, but who was killed before."""
    context.need("gdb")
    program = compile_c(context, "left", LEFT, "-O0")
    recording = context.path("left")
    running = context.start_record(recording, [program])
    running.wait_for_output(b"ready\n")
    others = [pid for pid in context.mine() if pid != running.process.pid]
    for pid in (running.process.pid, *others):
        os.kill(pid, signal.SIGKILL)
    running.finish()
    result = debug(context, recording, *["continue all"] * 2, "where", "focus p1", "continue")
    text = result.stdout.decode()
    context.expect(result.status == 0 and text.count("p2 was killed here, or later in this call.") == 1 and text.count("was killed here") == 1, "who was killed", result)
    context.expect(text.count("the recording ends here, incomplete: its recorder was killed\n") == 2, "where the recording ends", result)


def _events(context, recording):
    asked = [context.pastcone, "sql", recording, "SELECT events FROM processes WHERE process = 'p1'", "--json"]
    return json.loads(context.run(asked, label="sql").stdout)["events"]


def test_debug_end_is_known(context):
    """A process of several threads that was killed has not exited, whatever its other threads did."""
    for how in (ABORT, SUICIDE, KILLED):
        listed = context.run([context.pastcone, "ps", recorded(context, how)], label="ps")
        context.expect(b"killed" in listed.stdout.splitlines()[-1], f"{how}: {listed.stdout.decode()}", listed)


def test_debug_torn(context):
    """A recording that is cut off, overwritten, empty or lacks files, and a program that is gone or another one: one line, or as before."""
    context.need("gdb")
    whole = recorded(context)

    def cut(path):
        os.truncate(path, os.path.getsize(path) // 2)

    def overwrite(path):
        with open(path, "r+b") as file:
            file.seek(os.path.getsize(path) // 2)
            file.write(context.random.randbytes(100))

    def empty(path):
        os.truncate(path, 0)

    names = [name for name in os.listdir(whole) if os.path.isfile(os.path.join(whole, name))]
    for damage in (cut, overwrite, empty, os.remove):
        for name in names:
            torn = context.path("torn")
            shutil.rmtree(torn, ignore_errors=True)
            shutil.copytree(whole, torn)
            damage(os.path.join(torn, name))
            label = f"{damage.__name__} {name}"
            result = context.run([context.pastcone, "debug", torn, "--batch", "-ex", "run to p1:40", "-ex", "where"], label=label)
            context.expect_nobody_left(label)
            context.expect(result.status in (0, 1) and len(result.stderr.splitlines()) <= 2, f"{label}: more than a line", result)
            if result.status == 1:
                context.expect(len(result.stderr.splitlines()) >= 1, f"{label}: it does not say why", result)
            else:
                context.expect(b"\n* p1:40 " in result.stdout, f"{label}: it does not come to the event", result)
    program = os.path.join(context.work, "subject")
    for label, how in (("gone", lambda: os.remove(program)), ("another one", lambda: shutil.copy("/bin/true", program))):
        how()
        result = context.run([context.pastcone, "debug", whole, "--batch", "-ex", "run to p1:40", "-ex", "where"], label=label)
        context.expect_nobody_left(label)
        context.expect(result.status in (0, 1) and len(result.stderr.splitlines()) <= 1, f"the program is {label}: more than a line", result)
        context.expect(result.status == 1 or b"\n* p1:40 " in result.stdout, f"the program is {label}", result)


FIRST_ENDS = r"""#include <pthread.h>
#include <unistd.h>
volatile int number;
static void* go_on(void* unused) {
  for (int i = 10; i < 20; ++i) {
    getppid();
    number = i;
  }
  return unused;
}
int main(void) {
  pthread_t other;
  for (int i = 0; i < 10; ++i) {
    getppid();
    number = i;
  }
  pthread_create(&other, NULL, go_on, NULL);
  pthread_exit(NULL);
}
"""


def test_debug_first_thread_ended(context):
    """A process goes on behind pthread_exit in main, and is looked at as others are."""
    context.need("gcc", "gdb")
    program, recording = compile_c(context, "first_ends", FIRST_ENDS, "-O0", "-pthread"), context.path("first_ends")
    context.record(recording, [program])
    said = debug(context, recording, "stop if p1: number % 5 == 4", *["continue", "print number"] * 4, "delete 1", "restart", "break go_on", "continue",
                 "next 3", "print number", "bt 1", "watch number if number == 17", "continue", "print number")
    text = said.stdout.decode()
    context.expect(values(text) == [4, 9, 14, 19, 10, 17] and "does not run" not in said.stderr.decode(), f"{values(text)}:\n{text}", said)
