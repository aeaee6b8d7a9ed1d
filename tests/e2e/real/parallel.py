"""Programs of several threads that keep all their cores while they are recorded: --threads=parallel."""
import random
import re
import socket
import threading
import time

PARALLEL = ["--threads=parallel"]


def compress(context, command, megabytes=100):
    """Compresses the same bytes again and again; what comes out depends on the input only, how on the threads."""
    def prepare():
        words = [bytes(numbers.choices(b"abcdefghijklmnopqrstuvwxyz", k=7)) for _ in range(5000)]
        with open(f"{context.work}/input", "wb") as file:
            for _ in range(context.rounds(4, megabytes)):
                file.write(b" ".join(numbers.choices(words, k=125_000)))
    numbers = random.Random(1)
    context.exact(["sh", "-c", f"{command} < input > output && sha256sum output"], prepare=prepare, status=0, timeout=300,
                  options=PARALLEL)


def test_parallel_pigz(context):
    """pigz with four threads."""
    context.need("pigz")
    compress(context, "pigz -p 4 -c")


def test_parallel_pbzip2(context):
    """pbzip2 with four threads."""
    context.need("pbzip2")
    compress(context, "pbzip2 -p4 -c")


def test_parallel_xz(context):
    """xz with four threads."""
    context.need("xz")
    compress(context, "xz -T4 -1 --block-size=1MiB -c", megabytes=20)


def wait_for_port(port):
    for _ in range(1000):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except ConnectionRefusedError:
            time.sleep(0.01)


def talk_to_memcached(port):
    with socket.create_connection(("127.0.0.1", port)) as connection, connection.makefile("rb") as answers:
        for i in range(200):
            connection.sendall(b"set k%d 0 0 5\r\nhello\r\nget k%d\r\n" % (i % 50, i % 50))
            answers.readline()
            while answers.readline().strip() != b"END":
                pass


def expect_exact_or_told(context, recording):
    """A server with unlocked flags need not replay exactly; but it ends, and says who went another way, and where."""
    replayed = context.replay(recording, "--verify", timeout=60)
    said = replayed.stderr.decode(errors="replace")
    told = re.search(r"p\d+(\.\d+)?:\d+ diverged", said)
    context.expect(replayed.status == 0 or (replayed.status == 1 and told), "neither exact nor a divergence that says where", replayed)


def serve(context, argv, port, talk, stop):
    recording = context.path("recording")
    server = context.start_record(recording, argv, PARALLEL)
    wait_for_port(port)
    threads = [threading.Thread(target=talk) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stop()
    server.finish(30)
    expect_exact_or_told(context, recording)


def test_parallel_memcached(context):
    """memcached with four threads, which read flags without locks."""
    context.need("memcached")
    port = context.free_port()
    serve(context, ["timeout", "-s", "INT", "3", "memcached", "-t", "4", "-p", str(port), "-U", "0", "-u", "nobody"], port,
          lambda: talk_to_memcached(port), lambda: None)


def test_parallel_redis(context):
    """redis with io-threads, which spin on atomic variables."""
    context.need("redis-server", "redis-benchmark", "redis-cli")
    port = context.free_port()
    serve(context, ["redis-server", "--port", str(port), "--save", "", "--io-threads", "4", "--io-threads-do-reads", "yes"], port,
          lambda: context.run(["redis-benchmark", "-p", str(port), "-n", "500", "-c", "5", "-q", "-t", "set,get"]),
          lambda: context.run(["redis-cli", "-p", str(port), "shutdown", "nosave"]))
