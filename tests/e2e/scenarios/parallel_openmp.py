"""Parallel mode where order is decided inside a library: OpenMP through libgomp, and the streams of stdio."""
import os
import signal
import time

from building import compile_c

PARALLEL = ["--threads=parallel"]

# Never ends by itself; says so every now and then.
ENDLESS = r"""
#include <omp.h>
#include <stdio.h>
int main(void) {
  unsigned long hash = 1, rounds = 0;
#pragma omp parallel num_threads(3)
  for (;;) {
#pragma omp for schedule(dynamic, 4)
    for (int i = 0; i < 100; ++i) {
#pragma omp critical
      hash = hash * 31 + (unsigned)omp_get_thread_num();
    }
#pragma omp single
    if (++rounds % 50 == 0) {
      printf("%lu %lx\n", rounds, hash);
      fflush(stdout);
    }
  }
}
"""

# Who counts how far is decided by one instruction, which nothing orders.
ATOMIC = r"""
#include <omp.h>
#include <stdio.h>
static int who[40000];
int main(void) {
  int next = 0;
#pragma omp parallel num_threads(4)
  for (int i = 0; i < 10000; ++i) {
    int mine;
#pragma omp atomic capture
    mine = next++;
    who[mine] = omp_get_thread_num();
  }
  for (int i = 0; i < 40000; ++i) putchar('0' + who[i]);
  return 0;
}
"""


def exact(context, name, *arguments, rounds, stdin=None):
    """Each recording is replayed twice. Returns the different outputs there were."""
    seen = set()
    for number in range(context.rounds(rounds, 20)):
        recording = context.path("-".join([name, *arguments, str(number)]))
        recorded = context.record(recording, [context.program(name), *arguments], PARALLEL, stdin=stdin, timeout=60)
        context.expect(recorded.status == 0, "record", recorded)
        for again in range(2):
            replayed = context.replay(recording, timeout=60)
            context.expect_same(f"replay {again + 1} of recording {number + 1}", recorded, replayed)
        seen.add(recorded.stdout)
    return seen


def test_parallel_openmp_critical(context):
    """Critical sections and locks of OpenMP are entered in the same order again, with two to eight threads."""
    for threads in ("2", "4", "8"):
        exact(context, "parallel_openmp_critical", threads, rounds=2)


def test_parallel_openmp_loops(context):
    """Each thread gets the same parts of loops again, and reductions of two variables are added in the same order."""
    for threads in ("2", "4", "8"):
        exact(context, "parallel_openmp_loops", threads, rounds=2)


def test_parallel_openmp_work(context):
    """Sections, single, tasks and teams within teams are done by the same threads again."""
    for threads in ("2", "4", "8"):
        exact(context, "parallel_openmp_work", threads, rounds=2)


def test_parallel_openmp_active(context):
    """The same with threads that never sleep while they wait."""
    context.env["OMP_WAIT_POLICY"] = "active"
    exact(context, "parallel_openmp_work", "2", rounds=2)


def test_parallel_openmp_killed(context):
    """A recording that kill -9 ended replays as far as it goes, though some wait inside libgomp for others."""
    program = compile_c(context, "endless", ENDLESS, "-fopenmp")
    for number in range(context.rounds(2, 20)):
        recording = context.path(f"recording{number}")
        running = context.start_record(recording, [program], PARALLEL)
        running.wait_for_output(b"\n100 ")
        time.sleep(context.random.random() / 5)
        for pid in context.mine():
            with open(f"/proc/{pid}/comm", encoding="utf-8") as comm:
                if comm.read().strip() == "endless":
                    os.kill(pid, signal.SIGKILL)
        recorded = running.finish()
        replayed = context.replay(recording, timeout=60)
        # Who is killed inside a write may have written, and not said so.
        rest = recorded.stdout.removeprefix(replayed.stdout)
        context.expect(replayed.status == 0 and len(rest.splitlines()) <= 1, f"replay: without {rest!r}", replayed)


def test_parallel_openmp_atomic(context):
    """What a single instruction decides is not ordered: replay says so, or was lucky; it neither hangs nor lies."""
    program = compile_c(context, "atomic", ATOMIC, "-fopenmp")
    recording = context.path("recording")
    recorded = context.record(recording, [program], PARALLEL)
    for _ in range(3):
        replayed = context.replay(recording)
        lucky = replayed.status == 0 and replayed.stdout == recorded.stdout
        context.expect(lucky or (replayed.status == 1 and b" diverged" in replayed.stderr), "replay", replayed)


def test_parallel_stdio(context):
    """Threads that share streams without a lock of their own print the same again."""
    seen = exact(context, "parallel_stdio_threads", rounds=4)
    context.expect(len(seen) > 1, "the order should be another one from time to time")


def test_parallel_stdio_waits(context):
    """A stream that somebody waits with, and the child of a fork that was made while others printed."""
    lines = b"".join(b"line %d of the input\n" % n for n in range(20))
    exact(context, "parallel_stdio_waits", rounds=3, stdin=lines)
