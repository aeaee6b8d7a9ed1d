"""Large files: the recording refers to those that nobody changes, and has a copy of the others as they were."""
import os
import shutil

from building import mount_small
from compare import stored_bytes
from harness import NOBODY

MEGABYTE = 1 << 20
SIZE = 8 * MEGABYTE


def make_large(context, name="large", mode=0o644):
    path = context.path(name)
    with open(path, "wb") as file:
        file.write(context.random.randbytes(SIZE))
    os.chmod(path, mode)
    return path


def expect_small(context, label, recording):
    size = stored_bytes(recording)
    context.expect(size < MEGABYTE, f"{label}: the recording has {size} bytes")


def expect_refused(context, label, recording, path):
    replay = context.replay(recording)
    context.expect(replay.status != 0 and os.path.basename(path).encode() in replay.stderr, label, replay)
    context.expect_one_line(label, replay)


def test_large_file(context):
    """A large file that is only read is not stored: replay reads it again, and says so if it is another one, or gone."""
    for mode in (0o644, 0o444):
        path, recording = make_large(context, f"large{mode}", mode), context.path(f"recording{mode}")
        recorded = context.record(recording, ["sh", "-c", f"sha256sum < {path}; tail -c 100 {path} | cksum; cmp {path} {path}"])
        context.expect(recorded.status == 0, "record", recorded)
        expect_small(context, "read", recording)
        context.expect_same("replay", recorded, context.replay(recording))
        shutil.copy(path, f"{path}.copy")
        os.utime(path)
        context.expect_same("replay with another time", recorded, context.replay(recording))
        os.chmod(path, 0o644)
        with open(path, "r+b") as file:
            file.write(b"something else")
        expect_refused(context, "replay with another file", recording, path)
        os.unlink(path)
        expect_refused(context, "replay without the file", recording, path)
        os.rename(f"{path}.copy", path)
        context.expect_same("replay with a copy", recorded, context.replay(recording))


def test_large_file_mapped(context):
    """The same for a file that is mapped."""
    path, recording = make_large(context), context.path("recording")
    script = ("import hashlib, mmap; file = open('%s', 'rb'); "
              "print(hashlib.sha256(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)).hexdigest())" % path)
    recorded = context.record(recording, ["python3", "-c", script])
    context.expect(recorded.status == 0, "record", recorded)
    expect_small(context, "mapped", recording)
    context.expect_same("replay", recorded, context.replay(recording))


def test_large_file_sent(context):
    """sendfile of a large file, to a process that is recorded too."""
    path, recording = make_large(context), context.path("recording")
    script = """
import hashlib, os, socket, sys
mine, other = socket.socketpair()
size = os.path.getsize(sys.argv[1])
if not os.fork():
    mine.close()
    digest = hashlib.sha256()
    while block := other.recv(100000):
        digest.update(block)
    print(digest.hexdigest(), flush=True)
    os._exit(0)
other.close()
file, sent = os.open(sys.argv[1], os.O_RDONLY), 0
while sent < size:
    sent += os.sendfile(mine.fileno(), file, sent, size - sent)
mine.close()
os.wait()
"""
    recorded = context.record(recording, ["python3", "-c", script, path])
    context.expect(recorded.status == 0 and len(recorded.stdout) > 60, "record", recorded)
    expect_small(context, "sent", recording)
    context.expect_same("replay", recorded, context.replay(recording))


CHANGES = """
import hashlib, os, sys
path, how = sys.argv[1:]
file = os.open(path, os.O_RDONLY)
def show(count):
    print(hashlib.sha256(os.read(file, count)).hexdigest())
def write(flags):
    other = os.open(path, flags)
    os.pwrite(other, b"changed" * 100000, 1000)
    os.pwrite(other, b"changed" * 100000, 3 << 20)
    os.close(other)
show(2 << 20)
if how == "write": write(os.O_RDWR)
elif how == "nonblock": write(os.O_WRONLY | os.O_NONBLOCK)
elif how == "truncate": os.truncate(path, 5 << 20)
elif how == "again": os.close(os.open(path, os.O_WRONLY | os.O_TRUNC))
elif how == "delete": os.unlink(path)
elif how == "replace":
    with open(path + ".new", "wb") as new: new.write(b"new" * 3000000)
    os.rename(path + ".new", path)
show(4 << 20)
os.lseek(file, 0, os.SEEK_SET)
show(8 << 20)
if how != "delete":
    file = os.open(path, os.O_RDONLY)
    show(8 << 20)
"""


def test_large_file_changes(context):
    """A recorded program changes, deletes or replaces a large file that it has read from, and is still reading."""
    for how in ("write", "nonblock", "truncate", "again", "delete", "replace"):
        for mode in ([], ["--threads=parallel"]):
            name = f"{how}{len(mode)}"
            path, recording = make_large(context, name), context.path(f"recording-{name}")
            recorded = context.record(recording, ["python3", "-c", CHANGES, path, how], mode)
            context.expect(recorded.status == 0, f"{name}: record", recorded)
            context.expect_same(f"{name}: replay", recorded, context.replay(recording))
            if os.path.exists(path) and how not in ("write", "nonblock", "truncate"):
                os.unlink(path)
                context.expect_same(f"{name}: replay without the file", recorded, context.replay(recording))
            shutil.rmtree(recording)


READ_TWICE = """
import hashlib, os, sys
file = os.open(sys.argv[1], os.O_RDONLY)
for _ in range(2):
    print(hashlib.sha256(os.pread(file, 8 << 20, 0)).hexdigest(), flush=True)
    sys.stdin.readline()
"""


def read_twice(context, path, recording, meanwhile):
    """Calls `meanwhile` between the two reads of a recorded program."""
    read_end, write_end = os.pipe()
    running = context.start_record(recording, ["python3", "-c", READ_TWICE, path], stdin=read_end)
    os.close(read_end)
    running.wait_for_output(b"\n")
    meanwhile()
    os.write(write_end, b"go\ngo\n")
    os.close(write_end)
    return running.finish()


def write_into(path, flags):
    fd = os.open(path, flags)
    os.write(fd, b"from outside")
    os.close(fd)


def test_large_file_changed_outside(context):
    """Somebody else changes a large file while it is read: he waits until there is a copy, and replay has both."""
    path, recording = make_large(context), context.path("recording")
    recorded = read_twice(context, path, recording, lambda: write_into(path, os.O_WRONLY))
    context.expect(recorded.status == 0 and len(set(recorded.stdout.split())) == 2, "record", recorded)
    context.expect_same("replay", recorded, context.replay(recording))


def test_limit_large_file_held(context):
    """He does not wait if he says so; and the file's file system stays busy."""
    path, recording = make_large(context), context.path("recording")

    def meanwhile():
        try:
            write_into(path, os.O_WRONLY | os.O_NONBLOCK)
            context.expect(False, "O_NONBLOCK was heeded: no limit any more")
        except BlockingIOError:
            write_into(path, os.O_WRONLY)
    recorded = read_twice(context, path, recording, meanwhile)
    context.expect(recorded.status == 0 and len(set(recorded.stdout.split())) == 2, "record", recorded)
    context.expect_same("replay", recorded, context.replay(recording))
    if os.geteuid() == 0:
        disk = mount_small(context, "20m")
        shutil.copy(path, f"{disk}/large")
        recorded = context.record(context.path("busy"), ["sh", "-c", f"cksum {disk}/large; umount {disk}"])
        context.expect(recorded.status == 32 and b"busy" in recorded.stderr, "umount", recorded)
        context.expect_same("replay", recorded, context.replay(context.path("busy")))


def test_large_file_shared_position(context):
    """Processes that read from one open file in turns that nobody orders."""
    script = """
import hashlib, os, sys
file = os.open(sys.argv[1], os.O_RDONLY)
for number in range(3):
    if not os.fork():
        digest = hashlib.sha256()
        while block := os.read(file, 5000): digest.update(block)
        print(digest.hexdigest(), flush=True)
        os._exit(0)
for number in range(3): os.wait()
"""
    path = make_large(context)
    for mode in ([], ["--threads=parallel"]):
        context.exact(["python3", "-c", script, path], status=0, options=mode)


def test_large_file_of_another(context):
    """An ordinary user reads a file of root's, which only root may write to, or anybody."""
    context.need_root()
    os.chmod(context.dir, 0o755)
    os.chown(context.path("home"), NOBODY, NOBODY)
    for mode in (0o644, 0o666):
        path, recording = make_large(context, f"large{mode}", mode), context.path("home", f"recording{mode}")
        recorded = context.record(recording, ["sha256sum", path], user=NOBODY)
        context.expect(recorded.status == 0, "record", recorded)
        context.expect((stored_bytes(recording) < MEGABYTE) == (mode == 0o644), f"mode {mode:o}: stored or not")
        context.expect_same("replay", recorded, context.replay(recording, user=NOBODY))
