"""Replays that go another way than recorded, on purpose: what is said about them, and who is left."""
import json
import os
import re
import signal
import time

from building import compile_c

# rdtsc in code made at run time is not recorded (docs/limitations.md), so what it gives is another in replay.
TICKING = r"""
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static unsigned long ticks(void) {
  static const unsigned char code[] = {0x0f, 0x31, 0x48, 0xc1, 0xe2, 0x20, 0x48, 0x09, 0xd0, 0xc3};
  void *memory = mmap(0, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(memory, code, sizeof code);
  return ((unsigned long (*)(void))memory)();
}
__attribute__((noinline)) int handle_request(unsigned long now) {
  return dprintf(1, "%lu\n", now);  // line 13
}
int main(void) {
  dprintf(1, "hello\n");
  return handle_request(ticks()) < 0;
}
"""

# Computes for a while between two writes, in several processes.
BUSY = r"""
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
  int child = fork();
  if (child == 0 && fork()) _exit(0);  // the busy child's parent is gone
  dprintf(1, "begin\n");
  for (volatile unsigned long i = 0; i < 3000000000ul; ++i) {}
  dprintf(1, "end\n");
  return 0;
}
"""


# Whether the second thread takes the lock first depends on how long ago the program began, by a clock that is not recorded.
WAITING = r"""
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <x86intrin.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long (*ticks)(void);
static int fresh(void) {
  unsigned long least = -1ul;
  for (int i = 0; i < 200; ++i) {
    unsigned long before = __rdtsc(), took = ticks() - before;
    if (took < least) least = took;
  }
  return least < 1000000;
}
static void *first(void *a) {
  for (int i = fresh() ? 3 : 0; i; --i) {
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
  }
  return a;
}
static void *second(void *a) {
  pthread_mutex_lock(&lock);  // line 25
  pthread_mutex_unlock(&lock);
  return a;
}
int main(void) {
  static const unsigned char code[] = {0x0f, 0x31, 0x48, 0xc1, 0xe2, 0x20, 0x48, 0x09, 0xd0, 0xc3};
  void *memory = mmap(0, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ticks = memcpy(memory, code, sizeof code);
  pthread_t threads[2];
  pthread_create(&threads[0], 0, first, 0);
  pthread_join(threads[0], 0);
  pthread_create(&threads[1], 0, second, 0);
  pthread_join(threads[1], 0);
  puts("done");
  return 0;
}
"""


# The same clock says whether the other thread is told to end.
ASKING = WAITING[:WAITING.index("static void *first")].replace("pthread.h>", "pthread.h>\n#include <sched.h>") + r"""
static int told;
static void *ask(void *a) {
  while (!__atomic_load_n(&told, __ATOMIC_SEQ_CST)) sched_yield();
  return a;
}
int main(void) {
""" + WAITING[WAITING.index("  static const unsigned char code"):WAITING.index("  pthread_t threads")] + r"""
  pthread_t thread;
  pthread_create(&thread, 0, ask, 0);
  if (fresh()) __atomic_store_n(&told, 1, __ATOMIC_SEQ_CST);
  pthread_join(thread, 0);
  puts("done");
  return 0;
}
"""


def events_of(context, recording):
    result = context.run([context.pastcone, "events", "--json", recording], label="events")
    return [json.loads(line) for line in result.stdout.decode().splitlines()]


def divergence(context, result):
    """The event and the text of the one divergence that was reported."""
    found = re.findall(r"(?m)^pastcone: (p\d+(?:\.\d+)?:\d+) diverged(.*)$", result.stderr.decode())
    context.expect(result.status == 1 and len(found) == 1, "should report one divergence", result)
    return found[0]


def test_divergence_named(context):
    """The first difference is named: event, both sides, source line, likely reason; and the status is 1."""
    program = compile_c(context, "ticking", TICKING)
    recording = context.path("recording")
    recorded = context.record(recording, [program])
    writes = [event["event"] for event in events_of(context, recording) if event["kind"] == "write"]
    for options in ([], ["--verify"]):
        event, text = divergence(context, context.replay(recording, *options))
        context.expect(len(writes) == 2 and event == writes[1], f"the event should be {writes}, is {event}", recorded)
        for part in (" at ticking.c:13 in handle_request: ", "recorded ", "now write(0x1, ",
                     "likely reason: the program generates code"):
            context.expect(part in text, f"should say '{part}', says '{text}'")


def test_divergence_of_one_that_waits(context):
    """Nobody can go on, which is found at once: named is who waits for the lock and where, not who waits for that thread."""
    program = compile_c(context, "waiting", WAITING, "-pthread")
    recording = context.path("recording")
    recorded = context.record(recording, [program], ["--threads=parallel"])
    context.expect(recorded.stdout == b"done\n", "should run as natively", recorded)
    begin = time.monotonic()
    event, text = divergence(context, context.replay(recording))
    context.expect(time.monotonic() - begin < 10, "should be found by looking, not by waiting")
    context.expect(event.startswith("p1.3:"), f"the thread is p1.3, not that of {event}")
    for part in (" at waiting.c:25 in second: it waits until the lock at 0x", " was used 3 times, which does not happen",
                 "record again without --threads=parallel"):
        context.expect(part in text, f"should say '{part}', says '{text}'")


def test_divergence_of_one_that_asks(context):
    """A thread that yields, or just computes, until another one says something, which it does not say any more: found, and named."""
    for name, source in (("asking", ASKING), ("spinning", ASKING.replace(" sched_yield();", ";"))):
        program = compile_c(context, name, source, "-pthread")
        recording = context.path(name)
        recorded = context.record(recording, [program], ["--threads=parallel"])
        context.expect(recorded.stdout == b"done\n", "should run as natively", recorded)
        # It is found by the time that it computes: on a busy machine that is longer.
        event, text = divergence(context, context.replay(recording, timeout=300))
        context.expect(event.startswith("p1.2:") and "it computes on and on" in text, f"says {event} '{text}'")
        context.expect("record again without --threads=parallel" in text, f"says '{text}'")


def test_divergence_without_debug(context):
    """Without debug information the function is named alone; without symbols, nothing is made up."""
    program = compile_c(context, "ticking", TICKING, "-g0")
    recording = context.path("recording")
    context.record(recording, [program])
    _, text = divergence(context, context.replay(recording))
    context.expect(text.startswith(" in handle_request of ticking: "), f"says '{text}'")
    program = compile_c(context, "ticking", TICKING, "-g0", "-s", "-static")
    context.record(context.path("stripped"), [program])
    _, text = divergence(context, context.replay(context.path("stripped")))
    context.expect(text.startswith(": "), f"says '{text}'")


def test_divergence_elsewhere(context):
    """The source line is found when the binary was moved away, from the recording's copy of it."""
    program = compile_c(context, "ticking", TICKING)
    recording = context.path("recording")
    context.record(recording, [program])
    os.rename(program, program + ".old")
    _, text = divergence(context, context.replay(recording, cwd="/"))
    context.expect(" at ticking.c:13 in handle_request: " in text, f"says '{text}'")


def replayed_processes(director):
    """All descendants of the director."""
    parents = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                fields = file.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if fields[0] not in "ZX":
            parents[int(pid)] = int(fields[1])
    found = {director}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {director}


def start_busy_replay(context):
    program = compile_c(context, "busy", BUSY)
    recording = context.path("recording")
    context.record(recording, [program], timeout=60)
    running = context.start([context.pastcone, "replay", recording], label="replay")
    running.wait_for_output(b"begin\nbegin\n")
    return recording, running


def test_killed_in_replay(context):
    """kill -9 of a replayed process: named with the event that did not come."""
    recording, running = start_busy_replay(context)
    for pid in replayed_processes(running.process.pid):
        os.kill(pid, signal.SIGKILL)
    result = running.finish()
    lines = result.stderr.decode()
    next_ones = set()  # the event after the first write of each process
    events = [event for event in events_of(context, recording) if event["kind"] != "start"]
    for at, event in enumerate(events):
        if event["kind"] == "write" and event["result"] == len("begin\n"):
            next_ones.add(events[at + 1]["event"])
    context.expect(result.status == 1 and "it ended by SIGKILL before its recording does" in lines
                   and "somebody killed it" in lines, "should say who died", result)
    context.expect(len(next_ones) == 2 and any(f"{name} diverged" in lines for name in next_ones),
                   f"should name one of {next_ones}", result)


def test_killed_director(context):
    """kill -9 of the replay itself: none of the replayed processes outlives it, orphans neither."""
    _, running = start_busy_replay(context)
    pids = replayed_processes(running.process.pid)
    context.expect(len(pids) >= 2, f"two should be busy, not {len(pids)}")
    os.kill(running.process.pid, signal.SIGKILL)
    end = time.monotonic() + 2
    while any(os.path.exists(f"/proc/{pid}") for pid in pids):
        context.expect(time.monotonic() < end, "replayed processes live on")
        time.sleep(0.01)
    running.finish()
