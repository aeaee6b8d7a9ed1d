"""kill -9 at random moments: a recording is readable up to its last event, whoever dies."""
import os
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "real"))
from redis import redis_script  # noqa: E402

TAIL = 512  # bytes that were under way when everything was killed


def start_load(context, recording):
    context.need("redis-server", "redis-cli", "redis-benchmark")
    context.fresh_work()
    script = f"PORT={context.free_port()}\n{redis_script(requests=20000)}"
    return context.start_record(recording, ["bash", "-c", script])


def expect_replays(context, recording, output):
    """Nothing diverges up to the last event, and what is printed again is what had been printed."""
    replay = context.replay(recording, timeout=60)
    context.expect(replay.status == 0, "replay of a killed recording", replay)
    shorter = min(len(output), len(replay.stdout)) - TAIL
    context.expect(shorter <= 0 or output[:shorter] == replay.stdout[:shorter], "replay prints something else", replay)
    info = context.run([context.pastcone, "info", recording], label="info")
    context.expect(info.status == 0, "info of a killed recording", info)


def test_kill_everything(context):
    """kill -9 of every process, pastcone too, in the middle of a redis load."""
    for number in range(context.rounds(3, 50)):
        recording = context.path(f"killed{number}")
        running = start_load(context, recording)
        time.sleep(context.random.uniform(0.3, 3.0))
        context.kill_all()
        expect_replays(context, recording, running.finish().stdout)


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
