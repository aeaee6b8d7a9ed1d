"""Random use of every kind of lock in parallel mode, on a busy machine: every seed replays exactly, each time."""
import shutil
import subprocess
import sys


def test_parallel_random(context):
    """A few seeds; with --soak, hundreds."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"], env={}) for _ in range(2)]
    recording = context.path("recording")
    try:
        for seed in range(1, context.rounds(6, 300) + 1):
            shutil.rmtree(recording, ignore_errors=True)
            run = context.record(recording, [context.program("parallel_random"), str(seed)], options=["--threads=parallel"])
            context.expect(run.status == 0, f"seed {seed}: record", run)
            for number in range(2):
                context.expect_same(f"seed {seed}: replay {number + 1}", run, context.replay(recording))
    finally:
        for process in busy:
            process.kill()
            process.wait()
