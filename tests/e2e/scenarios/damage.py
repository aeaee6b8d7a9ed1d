"""Recordings that are not what they should be: never a crash, never a hang, always a sentence."""
import os
import shutil
import signal

LOOKING = ("replay", "info", "ps", "events")


def recorded_example(context):
    recording = context.path("good")
    result = context.record(recording, [context.program("pipe_shared_writers")])
    context.expect(result.status == 0, "record", result)
    return recording, result


def files_of(recording):
    return sorted(os.path.join(folder, name) for folder, _, names in os.walk(recording) for name in names
                  if os.path.getsize(os.path.join(folder, name)) > 0)


def expect_calm(context, what, result):
    """Any answer but a crash; a refusal says why, and briefly."""
    context.expect(0 <= result.status < 128, f"{what}: crashed", result)
    if result.status != 0:
        context.expect(1 <= len(result.tool_lines()) <= 20, f"{what}: should say briefly why", result)


def look(context, recording, what):
    for command in LOOKING[1:]:
        expect_calm(context, f"{command} of {what}", context.run([context.pastcone, command, recording], label=command))


def test_no_recording(context):
    """A missing, an empty and a foreign directory, and a plain file: one line each, naming the place."""
    os.mkdir(context.path("empty"))
    os.mkdir(context.path("foreign"))
    for name in ("manifest", "recording", "data"):
        with open(context.path("foreign", name), "wb") as file:
            file.write(os.urandom(5000))
    with open(context.path("plain"), "wb") as file:
        file.write(b"text")
    for place in ("missing", "empty", "foreign", "plain"):
        for command in LOOKING:
            result = context.run([context.pastcone, command, context.path(place)], label=command)
            context.expect_one_line(f"{command} of a {place} place", result)
            context.expect(place in result.stderr.decode(), f"{command}: does not name the place", result)


def test_truncated(context):
    """Any file of a recording cut anywhere, or missing: a sentence, or a replay of what is left."""
    recording, recorded = recorded_example(context)
    for number in range(context.rounds(25, 200)):
        broken = context.path("broken")
        shutil.rmtree(broken, ignore_errors=True)
        shutil.copytree(recording, broken, symlinks=True)
        victim = context.random.choice(files_of(broken))
        size = os.path.getsize(victim)
        if number % 5 == 0:
            os.unlink(victim)
            what = f"without {os.path.basename(victim)}"
        else:
            keep = context.random.choice([0, 1, size // 2, size - 1, context.random.randrange(size)])
            os.truncate(victim, keep)
            what = f"with {os.path.basename(victim)} cut to {keep} of {size}"
        replay = context.replay(broken, label="replay of a truncated recording")
        expect_calm(context, what, replay)
        context.expect(replay.status != 0 or recorded.stdout.startswith(replay.stdout),
                       f"{what}: replay succeeds with another output", replay)
        look(context, broken, what)


VARIED = ("pipe_shared_writers", "echo_server_tcp", "thread_mutex_order", "random_sources", "exec_chain", "file_vectors",
          "signal_compute_loop", "mmap_shared_race")


def change_a_byte(context, recording):
    """One bit, or all of a byte, somewhere in what is used of a file; returns what was done."""
    victim = context.random.choice(files_of(recording))
    with open(victim, "r+b") as file:
        used = len(file.read().rstrip(b"\0"))
        at = context.random.randrange(max(1, used))
        file.seek(at)
        byte = file.read(1)[0]
        changed = context.random.choice((byte ^ 1 << context.random.randrange(8), (byte + context.random.randrange(1, 256)) % 256))
        file.seek(at)
        file.write(bytes([changed]))
    return f"byte {at} of {os.path.basename(victim)} changed from {byte} to {changed}"


def expect_noticed(context, recording, recorded, rounds):
    broken = context.path("broken")
    for number in range(rounds):
        shutil.rmtree(broken, ignore_errors=True)
        shutil.copytree(recording, broken, symlinks=True)
        what = change_a_byte(context, broken)
        replay = context.replay(broken, label="replay of a damaged recording")
        expect_calm(context, what, replay)
        if replay.status == 0:
            context.expect_same(what, recorded, replay)
        if number % 8 == 0:
            look(context, broken, what)


def test_flipped_bits(context):
    """One changed byte anywhere in recordings of all kinds: reported, unless nothing depends on it."""
    for name in VARIED:
        recording = context.path(name)
        recorded = context.record(recording, [context.program(name)])
        context.expect(recorded.status == 0, "record", recorded)
        expect_noticed(context, recording, recorded, context.rounds(6, 60))
        shutil.rmtree(recording)


def test_flipped_bits_unfinished(context):
    """The same for a recording whose recorder was killed: its last chunks lie open, and replay says where it goes wrong."""
    recording = context.path("unfinished")
    script = "for i in $(seq 40); do echo $RANDOM $i | md5sum; done; echo all; sleep 60"
    running = context.start_record(recording, ["bash", "-c", script])
    running.wait_for_output(b"all\n")
    os.kill(running.process.pid, signal.SIGKILL)
    context.kill_all()
    recorded = running.finish()
    context.expect_same("replay", recorded, context.replay(recording))
    expect_noticed(context, recording, recorded, context.rounds(10, 200))
