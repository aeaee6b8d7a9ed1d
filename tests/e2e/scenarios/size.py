"""How large recordings get, and what happens when there is no room."""
import os
import shutil

from building import mount_small
from compare import stored_bytes

MEGABYTE = 1 << 20


def expect_prefix(context, label, recording, recorded):
    """A recording that stopped replays as far as it goes."""
    replay = context.replay(recording)
    context.expect(replay.status == 0 and recorded.stdout.startswith(replay.stdout), f"{label}: replay", replay)


def test_gigabyte(context):
    """A gigabyte of random bytes between two recorded processes leaves at most a megabyte."""
    for kind in ("tcp", "unix", "pipe") if context.options.soak else ("tcp",):
        recording = context.path(kind)
        recorded = context.record(recording, [context.program("gigabyte_stream"), kind, "1024"], timeout=180)
        context.expect(recorded.status == 0, "record", recorded)
        size = stored_bytes(recording)
        context.expect(size <= MEGABYTE, f"{kind}: the recording has {size} bytes")
        context.expect_same("replay", recorded, context.replay(recording, timeout=180))
        shutil.rmtree(recording)


def test_every_kind_of_channel(context):
    """Fifty megabytes of random bytes through each other kind leave less than a megabyte."""
    for kind in ("fifo", "direct", "seqpacket", "dgram", "name"):
        context.fresh_work()
        recording = context.path(kind)
        recorded = context.record(recording, [context.program("gigabyte_stream"), kind, "50"], timeout=60)
        context.expect(recorded.status == 0, f"{kind}: record", recorded)
        size = stored_bytes(recording)
        context.expect(size < MEGABYTE, f"{kind}: the recording has {size} bytes")
        context.expect_same(f"{kind}: replay", recorded, context.replay(recording, timeout=60))
        shutil.rmtree(recording)


def test_max_size(context):
    """--max-size stops the recording, not the program."""
    recording = context.path("recording")
    recorded = context.record(recording, [context.program("random_reader"), "8"], options=["--max-size=1M"])
    context.expect(recorded.status == 0 and len(recorded.stdout.splitlines()) == 8, "the program was disturbed", recorded)
    size = stored_bytes(recording)
    context.expect(size <= 2 * MEGABYTE, f"the recording has {size} bytes")
    context.expect(any("max-size" in line or "stopped" in line for line in recorded.tool_lines()),
                   "record: does not say that it stopped", recorded)
    expect_prefix(context, "max-size", recording, recorded)


def test_full_disk(context):
    """A disk that fills up while recording: the program ends as natively, the recording replays as far as it goes."""
    recording = os.path.join(mount_small(context, "1m"), "recording")
    recorded = context.record(recording, [context.program("random_reader"), "8"])
    context.expect(recorded.status == 0 and len(recorded.stdout.splitlines()) == 8, "the program was disturbed", recorded)
    context.expect(any(line.startswith("pastcone: ") for line in recorded.tool_lines()), "record: says nothing", recorded)
    expect_prefix(context, "full disk", recording, recorded)


def test_full_disk_threads(context):
    """The same with several processes and threads that record at once."""
    recording = os.path.join(mount_small(context, "1m"), "recording")
    for program in ("thread_sockets", "processes_200", "tcp_large_both_ways"):
        recorded = context.record(recording, [context.program(program)])
        context.expect(recorded.status == 0, f"{program} was disturbed", recorded)
        expect_prefix(context, program, recording, recorded)
        shutil.rmtree(recording)


def test_no_room_at_all(context):
    """A disk that is full from the start: refused in one line, or run without a recording; never a crash."""
    place = mount_small(context, "16k")
    recorded = context.record(os.path.join(place, "recording"), ["echo", "ran"])
    if recorded.status == 0:
        context.expect(recorded.stdout == b"ran\n", "the program was disturbed", recorded)
    else:
        context.expect_one_line("no room", recorded)
