"""One run of redis-server under a load from outside, native or recorded, and what it cost."""
import dataclasses
import re
import socket
import time

from measure import Broken, Usage, process_cpu

AIM_SECONDS = 1.2  # of server CPU per run


@dataclasses.dataclass(frozen=True)
class Load:
    name: str
    command: str  # as redis-benchmark -t takes it
    pipeline: int

    def start(self, context, port, requests):
        return context.start(["redis-benchmark", "-h", "127.0.0.1", "-p", str(port), "-t", self.command, "-c", "50",
                              "-P", str(self.pipeline), "-n", str(requests), "-q"])


@dataclasses.dataclass
class Served:
    """What a run cost in seconds. `server` is redis-server while the load lasted; `together` is redis-server and the
    recorder from the start of the load to the very end, the finishing of the recording included; `whole` is all."""
    server: Usage
    together: Usage
    whole: Usage


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def connect(port, running):
    for _ in range(600):
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=10)
        except ConnectionRefusedError:
            if running.has_ended():
                running.finish()
            time.sleep(0.05)
    raise Broken("redis-server does not answer")


def ask(connection, command):
    """An inline command; the reply, up to the end of a bulk string."""
    connection.sendall(command.encode() + b"\r\n")
    reply = b""
    while True:
        received = connection.recv(65536)
        reply += received
        head = re.match(rb"\$(\d+)\r\n", reply)
        whole = len(reply) >= head.end() + int(head[1]) + 2 if head else reply.endswith(b"\r\n")
        if whole or not received:
            return reply.decode()


def serve(context, load=None, requests=0, recording=None):
    """Starts a server, puts the load on it, if any, and shuts it down."""
    context.fresh_work()
    port = free_port()
    running = context.start(["redis-server", "--port", str(port), "--bind", "127.0.0.1"], recording)
    with connect(port, running) as connection:
        server = int(re.search(r"process_id:(\d+)", ask(connection, "INFO server"))[1])
        server_before, began = process_cpu(server), time.monotonic()
        recorder_before = process_cpu(running.pid) if recording else 0
        if load:
            load.start(context, port, requests).finish()
        during = Usage(process_cpu(server) - server_before, time.monotonic() - began)
        connection.sendall(b"SHUTDOWN NOSAVE\r\n")
        whole = running.finish()
    together = Usage(whole.cpu - server_before - recorder_before, time.monotonic() - began)
    return Served(during, together, whole)


def requests_for(context, load):
    """How many make a run of AIM_SECONDS: found once per load, the same for all rounds."""
    trial = 10_000 * load.pipeline
    cost = serve(context, load, trial).server.cpu / trial
    return max(trial, round(AIM_SECONDS / cost, -4))
