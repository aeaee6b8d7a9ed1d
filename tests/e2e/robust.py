"""Programs to debug that come to every kind of end, and what has to be true after any session with them."""
import hashlib
import os
import re

from building import compile_c
from terminal import Terminal

# p1 forks p2 and p3, which have a thread each; p3 ends as told.
SOURCE = r"""#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
struct pair { int key; long value; };
struct pair shown = {1, 2};
int counter, total;
static int square(int n) {
  int r = n * n;
  return r;
}
int spin(void) {
  for (volatile int i = 1; i != 0; i = 1) counter++;
  return 0;
}
int longer(int n) {
  for (int i = 0; i < n; i++) counter++;
  return counter;
}
int deep(int n) { return n == 0 ? 0 : deep(n + 1) + n; }
static void* work(void* argument) {
  long n = (long)argument;
  for (int i = 0; i < 3; i++) {
    int local = square((int)n + i);
    __atomic_add_fetch(&total, local, __ATOMIC_SEQ_CST);
  }
  return NULL;
}
static void die(int how) {
  if (how == 1) *(volatile int*)0 = total;
  if (how == 2) abort();
  if (how == 3) deep(1);
  if (how == 4) kill(getpid(), SIGKILL);
  if (how == 5) exit(3);
  if (how == 6) pause();
}
static void child(int in, int out, int how, int rounds) {
  char text[16];
  pthread_t thread;
  pthread_create(&thread, NULL, work, (void*)2);
  pthread_join(thread, NULL);
  for (int i = 0; i < rounds; i++) {
    if (read(in, text, sizeof text) <= 0) break;
    counter += text[0];
    longer(1000);
    if (write(out, text, sizeof text) <= 0) break;
  }
  die(how);
  exit(0);
}
int main(int argc, char** argv) {
  int how = argc > 1 ? atoi(argv[1]) : 0, rounds = argc > 2 ? atoi(argv[2]) : 5, to[2][2], from[2][2];
  pid_t pids[2];
  struct rlimit small = {1 << 20, 1 << 20};
  if (how == 3) setrlimit(RLIMIT_STACK, &small);
  for (int i = 0; i < 2; i++) {
    if (pipe(to[i]) || pipe(from[i])) return 1;
    pids[i] = fork();
    if (pids[i] == 0) child(to[i][0], from[i][1], i == 1 ? how : 0, rounds);
  }
  char text[16] = "message";
  for (int round = 0; round < rounds; round++) {
    text[0] = (char)(round % 100 + 1);
    for (int i = 0; i < 2; i++) if (write(to[i][1], text, sizeof text) < 0) return 1;
    for (int i = 0; i < 2; i++) if (read(from[i][0], text, sizeof text) < 0) return 1;
    shown.value += square(round % 100);
    shown.key++;
  }
  if (how == 6) kill(pids[1], SIGKILL);
  for (int i = 0; i < 2; i++) waitpid(pids[i], NULL, 0);
  puts("done");
  return 0;
}
"""
BOUND = 60  # seconds for a prompt to come back, on a machine with much else to do
PLAIN, FAULT, ABORT, OVERFLOW, SUICIDE, STATUS, KILLED = range(7)
# What no line to a user looks like.
# What gdb says about itself when it is asked to is its own.
INTERNAL = re.compile(rb"Traceback|internal-error|CHECK\(|Assertion|assertion failed|terminate called|std::(?!terminate is called while)|core dumped|Segmentation fault \(|basic_string|"
                      rb"File \"<string>\"|exec: 'line'")


def recorded(context, how=PLAIN, rounds=5, options=()):
    """A recording of it, which ends in the given way."""
    recording = context.path(f"recording{how}-{rounds}{''.join(options)}")
    if not os.path.exists(recording):
        program = os.path.join(context.work, "subject")
        if not os.path.exists(program):
            program = compile_c(context, "subject", SOURCE, "-g", "-O0", "-pthread")
        context.record(recording, [program, str(how), str(rounds)], options)
        context.run([context.pastcone, "debug", recording, "--batch"], label="make the graph")
    return recording


def state_of(recording):
    """Of all files of a recording: names, sizes and contents."""
    digest = hashlib.sha256()
    for folder, folders, files in os.walk(recording):
        folders.sort()
        for name in sorted(files):
            digest.update(os.path.join(folder, name).encode() + b"\0")
            with open(os.path.join(folder, name), "rb") as file:
                digest.update(file.read())
    return digest.hexdigest()


class Session(Terminal):
    """A debugger at a terminal without editing."""

    def __init__(self, context, recording, label, env):
        super().__init__(context, [context.pastcone, "debug", recording], label, env={**env, "TERM": "dumb"})

    def do(self, command, seconds=BOUND):
        self.type(command.encode() + b"\n")
        for _ in range(command.count("\n") + 1):
            self.wait_for_prompt(seconds)
        return "\n".join(self.since_last_prompt())


class Tidy:
    """Around a session: nobody is left, nothing is left in its temporary directory, the recording is what it was."""

    def __init__(self, context, recording, label):
        self.context, self.recording, self.label = context, recording, label
        self.place = context.path("tmp")
        os.makedirs(self.place, exist_ok=True)
        self.env = {"TMPDIR": self.place}

    def __enter__(self):
        self.before = state_of(self.recording)
        return self

    def __exit__(self, kind, *_):
        if kind:
            return
        self.context.expect_nobody_left(self.label)
        self.context.expect(not os.listdir(self.place), f"{self.label}: left {os.listdir(self.place)} in TMPDIR")
        self.context.expect(state_of(self.recording) == self.before, f"{self.label}: the recording is not what it was")


def expect_plain(context, label, result, commands=None):
    """It ended by itself, and has said nothing that is not meant for users; at most a line for each command that was wrong."""
    context.expect(result.status in (0, 1), f"{label}: status {result.status}", result)
    for text in (result.stdout, result.stderr):
        found = INTERNAL.search(text)
        context.expect(not found, f"{label}: says {found and text[max(0, found.start() - 200):found.end() + 100]!r}", result)
    if commands is not None:
        lines = len(result.stderr.splitlines())
        context.expect(lines <= commands + 1, f"{label}: {lines} lines for {commands} commands", result)
