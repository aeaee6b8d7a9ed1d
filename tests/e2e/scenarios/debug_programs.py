"""Processes that begin with another program while they are looked at; threads by their numbers."""
import os
import re
import shutil

from building import compile_c
from debugging import debug, expect_lines

EXECUTES = r"""#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int n;
int main(int argc, char** argv) {
  char byte = 0;
  int ends[2];
  if (argc > 1) {
    n = 5;
    if (read(0, &byte, 1) != 1) return 1;
    n = 6;
    printf("%c\n", byte);
    return 4;
  }
  if (pipe(ends) != 0) return 1;
  if (fork() == 0) {
    dup2(ends[0], 0);
    execl(argv[0], argv[0], "x", (char*)0);
    _exit(9);
  }
  if (write(ends[1], "hello", 5) != 5) return 1;
  n = 1;
  if (read(ends[0], &byte, 1) != 1) return 1;
  n = 2;
  wait(0);
  return 0;
}
"""

THREADS = r"""#include <pthread.h>
#include <unistd.h>
static void* work(void* number) {
  for (int i = 0; i < 3; i++) usleep(100);
  return number;
}
int main(void) {
  pthread_t all[3];
  for (long i = 0; i < 3; i++) pthread_create(&all[i], 0, work, (void*)(i + 2));
  for (int i = 0; i < 3; i++) pthread_join(all[i], 0);
  return 0;
}
"""


def _recorded(context, name, source, *flags):
    program, recording = compile_c(context, name, source, "-O0", *flags), context.path(name + ".rec")
    context.record(recording, [program])
    return recording


def _event(context, recording, process, call, number=0):
    text = context.run([context.pastcone, "events", recording], label="events").stdout.decode()
    return re.findall(rf"^({process}:\d+) +{call} ", text, re.MULTILINE)[number]


def test_debug_between_programs(context):
    """Behind execve and before the program begins there is none to be looked at, which is said; afterwards it is the new one, whatever
    gdb has seen before."""
    recording = _recorded(context, "executes", EXECUTES)
    execve, read = _event(context, recording, "p2", "execve"), _event(context, recording, "p2", "read", -1)
    said = debug(context, recording, f"run to {execve}", "where", "print n", f"run to {read}", "bt", "next", "print n", "info sharedlibrary")
    text = said.stdout.decode()
    expect_lines(context, text, "p2 is executing /", "which begins at p2:", f"* {execve} ", "executing /", "in main (argc=2", "$1 = 5", "libc.so.6")
    context.expect("??" not in text, "libraries of the old program", said)
    context.expect(b"p2 is executing /" in said.stderr and b"`run to p2:" in said.stderr, "print n", said)
    said = debug(context, recording, "focus p2", "break main", f"run to {execve}", "back", f"run to {read}", "bt 3", "back", "where",
                 f"run to {read}", "bt")
    context.expect("??" not in said.stdout.decode(), "there and back", said)


def test_debug_cause_begins_with_program(context):
    """Who had received nothing before it sent that is met where its program begins."""
    recording = _recorded(context, "executes", EXECUTES)
    said = debug(context, recording, f"run to {_event(context, recording, 'p1', 'read', -1)}", "cause", "print n", "break main", "continue", "back", "bt 1")
    text = said.stdout.decode()
    context.expect("??" not in text, "where there is no program", said)
    expect_lines(context, text, "_start ()", "$1 = 0", "Breakpoint 1, main (argc=1", "_start ()")


def test_debug_numbers_of_threads(context):
    """p1.3 is thread 3, in whatever order gdb has come to see them, and after a restart."""
    recording = _recorded(context, "threads", THREADS, "-pthread")
    again = ["info threads", "thread 2", "thread 3", "thread apply 3 print 5", "thread apply 2-3 p 7", "t a all p 8"]
    said = debug(context, recording, "break work if number == 4", "continue", *again, "restart", "thread 2", "continue", *again)
    text = said.stdout.decode()
    for part in text.split("$_exit")[0].split("Breakpoint 1, ")[1:]:
        listed = re.findall(r'^[* ] (\d+) +Thread (\d+) "p1\.(\d+)"', part, re.MULTILINE)
        context.expect(len(listed) == 4 and all(len(set(each)) == 1 for each in listed), f"listed {listed}", said)
        context.expect([number for number, *_ in listed] == ["1", "2", "3", "4"], f"listed {listed}", said)
        context.expect(set(re.findall(r'^Thread (\d+) \(Thread \1 "p1\.\1"\):', part, re.MULTILINE)) == {"1", "2", "3", "4"}, "applied", said)
        expect_lines(context, part, "[Switching to thread 2 (p1.2)]", "[Switching to thread 3 (p1.3)]", "= 5", "= 7", "= 7", "= 8")
    context.expect(b"Unknown thread 2." in said.stderr, "thread 2 has not begun", said)


def test_debug_set_user_id(context):
    """A set-user-ID program, which root may record: there are no random addresses in its replay."""
    context.need_root()
    program, recording = context.path("sleepy"), context.path("sleepy.rec")
    shutil.copy("/bin/sleep", program)
    os.chmod(program, 0o4755)
    done = context.record(recording, ["sh", "-c", f"{program} 0; {program} 0"])
    context.expect(done.status == 0, "recording", done)
    said = debug(context, recording, "break all sleepy: nanosleep", "break all sleepy: exit", "continue all", "bt 1", *["continue all"] * 4, "where")
    expect_lines(context, said.stdout.decode(), "Breakpoint 1, ", "nanosleep", "Breakpoint 2, ", "exit", "Breakpoint 1, ", "Breakpoint 2, ", "the recording ends here", "ended")
    held = context.run([context.pastcone, "replay", recording, "--verify"], label="replay")
    context.expect(held.status == 0, "replay", held)
