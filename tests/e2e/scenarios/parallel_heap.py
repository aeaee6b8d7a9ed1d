"""The heap in parallel mode: threads allocate at the same time, and every address is the same again in replay."""
import os

OPTIONS = ["--threads=parallel"]


def exact_again(context, argv, recordings=3, replays=3, status=0, name=None, **rest):
    """Each of some recordings replays exactly, each time; the recordings' outputs."""
    seen = []
    for number in range(context.rounds(recordings, 5 * recordings)):
        recording = context.path(f"{name or os.path.basename(argv[0])}{number}")
        recorded = context.record(recording, argv, OPTIONS, **rest)
        context.expect(recorded.status == status, f"record: should end with status {status}", recorded)
        for again in range(replays):
            context.expect_same(f"recording {number + 1}, replay {again + 1}", recorded, context.replay(recording))
        seen.append(recorded.stdout)
    return seen


def test_parallel_heap_order(context):
    """A list sorted by address, filled by four threads."""
    for output in exact_again(context, [context.program("parallel_heap_order")]):
        context.expect(b"1500 nodes" in output, f"printed {output[-100:]!r}")


def test_parallel_heap_pass(context):
    """Some threads allocate, others free."""
    exact_again(context, [context.program("parallel_heap_pass")])


def test_parallel_heap_realloc(context):
    """All ways to allocate; contents and errors are right."""
    exact_again(context, [context.program("parallel_heap_realloc")])


def test_parallel_heap_threads(context):
    """Threads come and go, joined and detached."""
    exact_again(context, [context.program("parallel_heap_threads")])


def test_parallel_heap_fork(context):
    """Children of a process whose threads allocate have a whole heap, the same in replay."""
    for output in exact_again(context, [context.program("parallel_heap_fork")]):
        context.expect(output.count(b"child") == 6, f"printed {output!r}")


def test_parallel_heap_vfork(context):
    """Children that share their parent's memory use its heap, and leave it whole."""
    exact_again(context, [context.program("parallel_heap_vfork")])


def test_parallel_heap_misuse(context):
    """What was never allocated cannot be freed, and libc's message says so."""
    recording = context.path("recording")
    recorded = context.record(recording, [context.program("parallel_heap_misuse")], OPTIONS)
    context.expect(recorded.status == 134 and recorded.stdout == b"before\n", "record: should be aborted", recorded)
    context.expect(b"free(): invalid pointer\n" in recorded.program_stderr(), "record: should say why", recorded)
    context.expect_same("replay", recorded, context.replay(recording))


def test_parallel_heap_limit(context):
    """Where the kernel refused memory, malloc fails again."""
    for output in exact_again(context, [context.program("parallel_heap_limit")], recordings=1):
        context.expect(b"no limit: 0 and 0 failed\n" in output and b"300 MB: 0 and 0" not in output, f"printed {output!r}")


def test_parallel_heap_compressors(context):
    """Real programs whose threads hand each other blocks."""
    context.need("pigz", "xz")
    path = context.write("text", "".join(f"line {n} {n * n % 1009}\n" for n in range(200000)))
    exact_again(context, ["pigz", "-p4", "-c", path], recordings=2, replays=2)
    exact_again(context, ["xz", "-T4", "-0", "--block-size=400KiB", "-c", path], recordings=2, replays=2)


def test_parallel_heap_allocators(context):
    """jemalloc and tcmalloc, preloaded: their threads agree by atomic variables, and yet addresses are the same again."""
    folder = "/usr/lib/x86_64-linux-gnu"
    libraries = [os.path.join(folder, name) for name in ("libjemalloc.so.2", "libtcmalloc_minimal.so.4")]
    libraries = [library for library in libraries if os.path.exists(library)]
    if not libraries:
        context.need("libjemalloc.so.2")
    for library in libraries:
        for program in ("parallel_heap_order", "parallel_heap_pass", "parallel_unwinding"):
            exact_again(context, ["/usr/bin/env", f"LD_PRELOAD={library}", context.program(program)], 2, 2,
                        name=os.path.basename(library) + program)
