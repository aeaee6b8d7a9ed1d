"""Programs of several threads that keep all their cores while they are recorded: --threads=parallel."""
import concurrent.futures
import json
import random
import socket
import time

from limit_checks import expect_exact_or_hinted

PARALLEL = ["--threads=parallel"]


def compress(context, command, megabytes=100):
    """Compresses the same bytes again and again; what comes out depends on the input only, how on the threads. A large input
    stays where it is: the recording refers to it."""
    numbers = random.Random(1)
    words = [bytes(numbers.choices(b"abcdefghijklmnopqrstuvwxyz", k=7)) for _ in range(5000)]
    with open(context.path("input"), "wb") as file:
        for _ in range(context.rounds(4, megabytes)):
            file.write(b" ".join(numbers.choices(words, k=125_000)))
    context.exact(["sh", "-c", f"{command} < ../input > output && sha256sum output"], status=0, timeout=300, options=PARALLEL)


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


def talk_to_memcached(context, port):
    with socket.create_connection(("127.0.0.1", port)) as connection, connection.makefile("rb") as answers:
        for i in range(200):
            key = b"k%d" % (i % 50)
            connection.sendall(b"set %s 0 0 5\r\nhello\r\nget %s\r\n" % (key, key))
            said = [answers.readline() for _ in range(4)]
            context.expect(said == [b"STORED\r\n", b"VALUE %s 0 5\r\n" % key, b"hello\r\n", b"END\r\n"], f"it answered {said}")


def ask_redis(context, port):
    done = context.run(["redis-benchmark", "-p", str(port), "-n", "500", "-c", "5", "-q", "-t", "set,get"])
    context.expect(done.status == 0 and done.stdout.count(b"requests per second") == 2, "redis-benchmark", done)


def serve(context, argv, port, talk, stop, status):
    """The server answers four clients while it is recorded, and ends as natively; its recording is complete. Its flags are not
    locked, so replay need not be exact: but it ends, and says who went another way, where, and what to do."""
    recording = context.path("recording")
    server = context.start_record(recording, argv, PARALLEL)
    wait_for_port(port)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for client in [pool.submit(talk, context, port) for _ in range(4)]:
            client.result()
    stop()
    recorded = server.finish(30)
    context.expect(recorded.status == status, f"record: should end with status {status}", recorded)
    info = context.run([context.pastcone, "info", "--json", recording], label="info")
    context.expect(json.loads(info.stdout)["state"] == "complete", "the recording should be complete", info)
    expect_exact_or_hinted(context, "replay", recording, recorded)
    expect_exact_or_hinted(context, "verify", recording, recorded, "--verify")


def test_parallel_memcached(context):
    """memcached with four threads, which read flags without locks."""
    context.need("memcached")
    port = context.free_port()
    serve(context, ["timeout", "-s", "INT", "3", "memcached", "-t", "4", "-p", str(port), "-U", "0", "-u", "nobody"], port,
          talk_to_memcached, lambda: None, status=124)


def test_parallel_redis(context):
    """redis with io-threads, which spin on atomic variables."""
    context.need("redis-server", "redis-benchmark", "redis-cli")
    port = context.free_port()
    serve(context, ["redis-server", "--port", str(port), "--save", "", "--io-threads", "4", "--io-threads-do-reads", "yes"], port,
          ask_redis, lambda: context.run(["redis-cli", "-p", str(port), "shutdown", "nosave"]), status=0)


def test_parallel_x265(context):
    """x265, whose pool of threads hands out work by atomic variables."""
    context.need("x265")
    with open(f"{context.work}/in.y4m", "wb") as file:
        file.write(b"YUV4MPEG2 W192 H128 F25:1 Ip A1:1 C420\n")
        for frame in range(20):
            file.write(b"FRAME\n" + bytes((x * frame + x // 192) % 256 for x in range(192 * 128)) + bytes([128]) * (192 * 64))
    recording = context.path("recording")
    recorded = context.record(recording, ["x265", "--preset", "ultrafast", "--pools", "4", "in.y4m", "-o", "out.265"], PARALLEL)
    context.expect(recorded.status == 0, "record: should end with status 0", recorded)
    expect_exact_or_hinted(context, "replay", recording, recorded)
