"""kill -9 at random moments: a recording is readable up to its last event, whoever dies."""
import os
import re
import shutil
import signal
import sys
import time

from building import compile_c
from steps import Failure

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "real"))
from redis import redis_script  # noqa: E402

TAIL = 512  # bytes that were under way when everything was killed
NOTHING = re.compile(rb"nothing to replay|no recording at|is not a recording")


def start_load(context, recording):
    context.need("redis-server", "redis-cli", "redis-benchmark")
    context.fresh_work()
    script = f"PORT={context.free_port()}\n{redis_script(requests=20000)}"
    return context.start_record(recording, ["bash", "-c", script])


def expect_replays(context, recording, output):
    """Nothing diverges up to the last event, and what is printed again is what had been printed."""
    replay = context.replay(recording, timeout=60)
    if not output and replay.status != 0:  # killed before it had begun
        context.expect_one_line("replay of nothing", replay)
        context.expect(NOTHING.search(replay.stderr), "replay of a recording that did not begin", replay)
        return
    context.expect(replay.status == 0, "replay of a killed recording", replay)
    shorter = min(len(output), len(replay.stdout)) - TAIL
    context.expect(shorter <= 0 or output[:shorter] == replay.stdout[:shorter], "replay prints something else", replay)
    info = context.run([context.pastcone, "info", recording], label="info")
    context.expect(info.status == 0, "info of a killed recording", info)


def kill(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def kill_some(context, victims, recorder):
    """kill -9 of all, of the program, of one of its processes, or of the recorder; then, a little later, of the rest."""
    program = [pid for pid in context.mine() if pid != recorder]
    context.random.shuffle(program)
    kill({"all": program + [recorder], "program": program, "one": program[:1], "recorder": [recorder]}[victims])
    if victims in ("one", "recorder"):
        time.sleep(context.random.uniform(0, 0.7))
        kill(pid for pid in context.mine() if pid != recorder)
    while left := [pid for pid in context.mine() if pid != recorder]:  # who was being forked just then
        kill(left)
        time.sleep(0.01)


def test_kill_anything(context):
    """kill -9 in the middle of a redis load, or of its start: of everything, of the program, of one process, of the recorder."""
    for number in range(context.rounds(4, 50)):
        victims = ("all", "program", "one", "recorder")[number % 4]
        recording = context.path(f"killed{number}")
        running = start_load(context, recording)
        moment = context.random.choice((context.random.uniform(0, 0.3), context.random.uniform(0, 3)))
        time.sleep(moment)
        kill_some(context, victims, running.process.pid)
        try:
            expect_replays(context, recording, running.finish(60).stdout)
        except Failure as failure:
            raise Failure(f"{victims} killed after {moment:.3f} s, {recording}: {failure}") from None
        shutil.rmtree(recording, ignore_errors=True)


def test_kill_early(context):
    """kill -9 of the recorder while the first program is being started: what it was asked for may never have been answered."""
    for number in range(context.rounds(10, 100)):
        recording = context.path(f"killed{number}")
        running = context.start_record(recording, ["sh", "-c", "true; true"])
        time.sleep(context.random.uniform(0, 0.03))
        kill_some(context, "recorder", running.process.pid)
        expect_replays(context, recording, running.finish().stdout)


def test_kill_locks(context):
    """kill -9 of threads in parallel mode that do hardly anything but take locks: of all, or of all but the recorder."""
    for number in range(context.rounds(6, 100)):
        recording = context.path(f"killed{number}")
        locks = context.random.choice("128")
        running = context.start_record(recording, [context.program("parallel_lock_hammer"), locks], ["--threads=parallel"])
        moment = context.random.uniform(0.03, 0.4)
        time.sleep(moment)
        kill_some(context, ("all", "program")[number % 2], running.process.pid)
        try:
            expect_replays(context, recording, running.finish(60).stdout)
        except Failure as failure:
            raise Failure(f"killed after {moment:.3f} s with {locks} locks, {recording}: {failure}") from None
        shutil.rmtree(recording, ignore_errors=True)


def test_kill_server(context):
    """kill -9 of redis-server only; the script sees it and the recording is complete."""
    recording = context.path("killed")
    context.need("redis-server", "redis-cli")
    script = ("PORT=%d\nredis-server --port $PORT --dir . > server.log 2>&1 & server=$!\n"
              "until redis-cli -p $PORT ping 2>/dev/null | grep -q PONG; do sleep 0.02; done\n"
              "(sleep 0.3; kill -9 $server) &\n"
              "redis-benchmark -p $PORT -n 1000000 -c 10 -t set -q > benchmark.log 2>&1\n"
              "wait $server; echo \"server: $?\"") % context.free_port()
    recorded = context.record(recording, ["bash", "-c", script], timeout=60)
    context.expect(recorded.stdout == b"server: 137\n", "the script's own output", recorded)
    context.expect_same("replay", recorded, context.replay(recording, timeout=60))


def test_kill_recorder(context):
    """kill -9 of the recorder only: the program goes on to its end, the recording replays as far as it goes."""
    recording = context.path("killed")
    script = "for i in 1 2 3 4 5 6 7 8 9 10; do echo $i; sleep 0.1; done"
    running = context.start_record(recording, ["bash", "-c", script])
    running.wait_for_output(b"3\n")
    os.kill(running.process.pid, signal.SIGKILL)
    result = running.finish()
    context.expect(result.stdout.endswith(b"10\n"), "the program did not go on", result)
    context.expect_nobody_left("record")
    replay = context.replay(recording)
    context.expect(replay.status == 0 and result.stdout.startswith(replay.stdout) and b"3\n" in replay.stdout,
                   "replay of what was recorded", replay)


HELD = """
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
  static char block[1 << 20];
  memset(block, 'x', sizeof block);
  pid_t child = fork();
  if (!child) {
    for (;;) write(1, block, sizeof block);
  }
  usleep(300000);
  kill(child, SIGKILL);
  write(1, "parent\\n", 7);
  waitpid(child, 0, 0);
  return 0;
}
"""


def test_kill_writer(context):
    """kill -9 of a process that sleeps in a write to standard output: its parent can write before it waits for it."""
    program = compile_c(context, "held", HELD)
    recording = context.path("killed")
    read_end, write_end = os.pipe()
    running = context.start_record(recording, [program], streams=(None, write_end, write_end))
    os.close(write_end)
    time.sleep(1)
    output = b""
    with os.fdopen(read_end, "rb") as pipe:
        output = pipe.read()
    result = running.finish()
    context.expect(result.status == 0 and b"parent\n" in output, "the parent could not write", result)
    replay = context.replay(recording)
    context.expect(replay.status == 0 and replay.stdout.endswith(b"parent\n"), "replay", replay)
