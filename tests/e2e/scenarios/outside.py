"""Processes that are not recorded, at the other end of channels of recorded ones."""
import os
import socket
import threading

from compare import stored_bytes


def wait_for(path, running):
    while not os.path.exists(path) and running.process.poll() is None:
        threading.Event().wait(0.001)


def send_datagrams(path):
    """Some messages as the recorded sender sends them, some of our own, some empty."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        for number in range(60):
            sender.sendto(bytes([number]) * (number * 50), path)
        sender.sendto(b"end", path)


def write_fifo(path):
    with open(path, "wb", buffering=0) as fifo:
        for number in range(60):
            fifo.write(bytes([number]) * 1500)


def test_outside_senders(context):
    """A datagram socket and a FIFO that recorded processes and others write to: only what the others sent is stored."""
    recording = context.path("recording")
    running = context.start_record(recording, [context.program("packets_outside"), "2"])
    others = []
    for name, send in (("datagrams", send_datagrams), ("fifo", write_fifo)):
        path = os.path.join(context.work, name)
        wait_for(path, running)
        others.append(threading.Thread(target=send, args=(path,), daemon=True))
        others[-1].start()
    recorded = running.finish()
    for other in others:
        other.join()
    context.expect(recorded.status == 0, "record", recorded)
    datagrams = 60 * 59 // 2 * 50 + 3 + 100 * 3000 + 3
    context.expect(f"datagrams: {datagrams} bytes".encode() in recorded.stdout, "not all datagrams came", recorded)
    context.expect(f"fifo: {100 * 2000 + 60 * 1500} bytes".encode() in recorded.stdout, "not all bytes came", recorded)
    # Ours pack well, theirs do not.
    size = stored_bytes(recording)
    context.expect(size < 250_000, f"the recording has {size} bytes")
    context.expect_same("replay", recorded, context.replay(recording))
