"""Processes that are not recorded, at the other end of channels of recorded ones."""
import os
import socket
import threading

from building import compile_c
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


def send_all(datagrams, fifo):
    """Holds the FIFO open before it says "end": the program reads it after that, until nobody has it open."""
    fd = os.open(fifo, os.O_RDWR)
    send_datagrams(datagrams)
    for number in range(60):
        os.write(fd, bytes([number]) * 1500)
    os.close(fd)


def test_outside_senders(context):
    """A datagram socket and a FIFO that recorded processes and others write to: only what the others sent is stored."""
    recording = context.path("recording")
    running = context.start_record(recording, [context.program("packets_outside"), "2"])
    paths = [os.path.join(context.work, name) for name in ("datagrams", "fifo")]
    for path in paths:
        wait_for(path, running)
    other = threading.Thread(target=send_all, args=paths, daemon=True)
    other.start()
    recorded = running.finish()
    other.join(10)
    context.expect(recorded.status == 0, "record", recorded)
    datagrams = 60 * 59 // 2 * 50 + 3 + 100 * 3000 + 3
    context.expect(f"datagrams: {datagrams} bytes".encode() in recorded.stdout, "not all datagrams came", recorded)
    context.expect(f"fifo: {100 * 2000 + 60 * 1500} bytes".encode() in recorded.stdout, "not all bytes came", recorded)
    # Ours pack well, theirs do not.
    size = stored_bytes(recording)
    context.expect(size < 250_000, f"the recording has {size} bytes")
    context.expect_same("replay", recorded, context.replay(recording))


SHARED_WITH_FILTERED = """
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
  struct sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog filter = {1, code};
  int pipes[2], status;
  char bytes[64];
  if (pipe(pipes)) return 1;
  if (!fork()) {
    int sent = write(pipes[1], "one ", 4) == 4;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) return 1;
    return !sent || write(pipes[1], "two ", 4) != 4;
  }
  if (wait(&status) < 0 || status || write(pipes[1], "three", 5) != 5) return 1;
  ssize_t n = read(pipes[0], bytes, sizeof bytes);
  printf("%.*s\\n", (int)n, bytes);
  return 0;
}
"""


def test_seccomp_shared_end(context):
    """A pipe into which a process wrote after its recording had ended, and then one that is still recorded."""
    program = compile_c(context, "shared_with_filtered", SHARED_WITH_FILTERED)
    recording = context.path("recording")
    recorded = context.record(recording, [program])
    context.expect(recorded.status == 0 and recorded.stdout == b"one two three\n", "the program was disturbed", recorded)
    replay = context.replay(recording)
    context.expect(replay.status == 0 and replay.stdout == recorded.stdout, "replay", replay)


FILTERED_SERVER = """
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
  struct sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog filter = {1, code};
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  int listener = socket(AF_INET, SOCK_STREAM, 0), status;
  char bytes[64];
  if (bind(listener, (void*)&address, size) || listen(listener, 5) || getsockname(listener, (void*)&address, &size)) return 1;
  if (!fork()) {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) return 1;
    int s = accept(listener, 0, 0);
    if (!fork()) {
      dup2(s, 1);
      return execlp("echo", "echo", "from its child", NULL);
    }
    return wait(&status) < 0 || status || write(s, "from the server\\n", 16) != 16;
  }
  int s = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(s, (void*)&address, size) || wait(&status) < 0 || status) return 1;
  for (ssize_t n; (n = read(s, bytes, sizeof bytes)) > 0;) printf("%.*s", (int)n, bytes);
  return 0;
}
"""


def test_seccomp_server(context):
    """A server that accepts a recorded client after its own recording has ended."""
    program = compile_c(context, "filtered_server", FILTERED_SERVER)
    recording = context.path("recording")
    recorded = context.record(recording, [program])
    context.expect(recorded.status == 0 and recorded.stdout == b"from its child\nfrom the server\n",
                   "the program was disturbed", recorded)
    replay = context.replay(recording)
    context.expect(replay.status == 0 and replay.stdout == recorded.stdout, "replay", replay)
