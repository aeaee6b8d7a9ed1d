"""python3: asyncio, threads and subprocesses in one program; a forking pool; threads that compute."""

ASYNCIO = '''
import asyncio, hashlib, os, random, subprocess, sys, threading, time

results = []
lock = threading.Lock()

def worker(n):
    for i in range(20):
        with lock:
            results.append((n, i))
        time.sleep(random.random() / 2000)

async def serve(reader, writer):
    while line := await reader.readline():
        await asyncio.sleep(random.random() / 500)
        writer.write(line.upper())
        await writer.drain()
    writer.close()

async def client(port, n, order):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for i in range(10):
        writer.write(f"client {n} line {i}\\n".encode())
        answer = await reader.readline()
        order.append((n, i, answer.decode().strip()))
    writer.close()
    await writer.wait_closed()

async def command(n):
    process = await asyncio.create_subprocess_exec("sh", "-c", f"echo child {n} $$; exit {n}", stdout=subprocess.PIPE)
    out, _ = await process.communicate()
    return out.decode().strip(), process.returncode

async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    order = []
    await asyncio.gather(*(client(port, n, order) for n in range(5)))
    print(hashlib.sha256(repr(order).encode()).hexdigest())
    for out, status in await asyncio.gather(*(command(n) for n in range(4))):
        print(out, status)
    server.close()

threads = [threading.Thread(target=worker, args=(n,)) for n in range(4)]
for t in threads: t.start()
asyncio.run(main())
for t in threads: t.join()
print("".join(str(n) for n, _ in results))
print(subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True).stdout.strip())
print(os.getpid(), time.time(), random.random(), hash("text"), {*"abcdef"})
'''

POOL = '''
import multiprocessing, os, time

def square(n):
    time.sleep(0.001 * (n % 3))
    return n * n, os.getpid()

if __name__ == "__main__":
    with multiprocessing.Pool(3) as pool:
        done = list(pool.imap_unordered(square, range(30)))
    print(sum(n for n, _ in done), [n for n, _ in done], sorted({p for _, p in done}))
'''


def test_python_asyncio(context):
    """asyncio server and clients, threads, subprocesses, hash randomisation."""
    context.exact(["/usr/bin/python3", "program.py"], prepare=lambda: context.write("program.py", ASYNCIO), status=0,
                  timeout=60)


def test_python_multiprocessing(context):
    """A pool of three forked workers with its queues, semaphores and threads."""
    context.exact(["/usr/bin/python3", "pool.py"], prepare=lambda: context.write("pool.py", POOL), status=0, timeout=60)


COMPUTING = """
import os, threading

stop = False
counts = []

def compute():
    count = 0
    while not stop:
        count += 1
    counts.append(count)

def echo():
    while data := os.read(there[0], 1):
        os.write(back[1], data)

there, back = os.pipe(), os.pipe()
threads = [threading.Thread(target=run) for run in (compute, compute, echo)]
for thread in threads:
    thread.start()
for i in range(10):
    os.write(there[1], b"x")
    os.read(back[0], 1)
os.close(there[1])
stop = True
for thread in threads:
    thread.join()
print(counts)
"""


def test_python_computing(context):
    """Two threads that compute without a call have the interpreter's lock, two others hand bytes to each other."""
    context.exact(["/usr/bin/python3", "compute.py"], prepare=lambda: context.write("compute.py", COMPUTING), status=0, timeout=60)
