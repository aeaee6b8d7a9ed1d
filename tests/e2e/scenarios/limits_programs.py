"""docs/limitations.md, programs that are not recorded; and unusual ones that are recorded like any other."""
import os
import shutil

from building import compile_c, hello
from harness import NOBODY
from limit_checks import expect_outside, expect_refused, said
from steps import Skip


NARROW = """
void _start(void) {
  static const char text[] = "narrow\\n";
  __asm__ volatile("int $0x80" : : "a"(4), "b"(1), "c"(text), "d"(7));
  __asm__ volatile("int $0x80" : : "a"(1), "b"(5));
}
"""


def test_limit_32_bit(context):
    """A 32-bit program: refused as the command, outside as a child."""
    program = compile_c(context, "narrow", NARROW, "-m32", "-nostdlib", "-static", "-fno-pic")
    expect_refused(context, program, "32-bit", "build it for x86-64")
    if context.run([program], label="native").status != 5:
        raise Skip("this kernel runs no 32-bit programs")
    expect_outside(context, program, b"NARROW\nstatus 5\n", "32-bit", "build it for x86-64")


def test_limit_other_processor(context):
    """A program for another processor: refused as the command; as a child it fails as natively."""
    program = os.path.join(context.work, "foreign")
    shutil.copy("/bin/true", program)
    with open(program, "r+b") as file:
        file.seek(18)
        file.write(b"\xb7\x00")  # EM_AARCH64
    expect_refused(context, program, "x86-64")
    native = context.run(["bash", "-c", f"{program} 2>/dev/null; echo $?"], label="native")
    recorded = context.record(context.path("recording"), ["bash", "-c", f"{program} 2>/dev/null; echo $?"])
    context.expect(recorded.stdout == native.stdout, "record against native", recorded)
    context.expect(said(recorded, "p2", "another processor"), "record: does not say why", recorded)
    context.expect_same("replay", recorded, context.replay(context.path("recording")))


IDENTITY = '#include <stdio.h>\n#include <unistd.h>\nint main(void) { printf("user %d\\n", (int)geteuid()); return 0; }\n'


def need_setuid(context):
    context.need_root()
    if os.statvfs(context.dir).f_flag & os.ST_NOSUID:
        raise Skip("no setuid on this file system")


def test_limit_setuid(context):
    """A set-user-ID program: refused as the command, outside with its rights as a child; recorded if it changes nothing."""
    need_setuid(context)
    program = compile_c(context, "raised", IDENTITY)
    os.chmod(program, 0o4755)
    expect_refused(context, program, "setuid", "record what it starts", user=NOBODY)
    expect_outside(context, program, b"USER 0\nstatus 0\n", "set-user-ID", user=NOBODY)
    context.exact([program], prepare=lambda: os.chmod(compile_c(context, "raised", IDENTITY), 0o4755), stable=True, status=0)


def test_limit_capabilities(context):
    """A program with capabilities of its own: the same."""
    context.need_root()
    program = compile_c(context, "capable", IDENTITY)
    try:  # VFS_CAP_REVISION_2, permitted and effective: CAP_NET_RAW
        os.setxattr(program, "security.capability", bytes.fromhex("0100000200200000000000000000000000000000"))
    except OSError:
        raise Skip("no file capabilities on this file system") from None
    expect_refused(context, program, "capabilities", "as root", user=NOBODY)
    expect_outside(context, program, b"USER 65534\nstatus 0\n", "capabilities", user=NOBODY)


def test_limit_unreadable(context):
    """A program that may be executed but not read: the same."""
    context.need_root()
    program = compile_c(context, "secret", hello("hello"))
    os.chmod(program, 0o711)
    expect_refused(context, program, "not read", "chmod +r", user=NOBODY)
    expect_outside(context, program, b"HELLO\nstatus 0\n", "may not be read", "chmod +r", user=NOBODY)


THREADS = """
#include <pthread.h>
#include <stdio.h>
static void* work(void* argument) { return argument; }
int main(void) {
  pthread_t thread;
  void* result;
  if (pthread_create(&thread, 0, work, "joined") || pthread_join(thread, &result)) return 1;
  puts(result);
  return 0;
}
"""


def test_limit_thread_sanitizer(context):
    """A program built with ThreadSanitizer: refused as the command, outside as a child."""
    program = compile_c(context, "raceless", THREADS, "-fsanitize=thread")
    expect_refused(context, program, "ThreadSanitizer", "build it without")
    expect_outside(context, program, b"JOINED\nstatus 0\n", "ThreadSanitizer", "build it without")


def test_limit_memory_sanitizer(context):
    """A program built with MemorySanitizer: the same."""
    program = compile_c(context, "defined", THREADS, "-fsanitize=memory", "-pie", "-fPIE", compiler="clang")
    expect_refused(context, program, "MemorySanitizer", "build it without")
    expect_outside(context, program, b"JOINED\nstatus 0\n", "MemorySanitizer", "build it without")


# --- recorded like any other

def test_limit_none_musl(context):
    """Programs of another C library, dynamic and static, are recorded like any other."""
    for flags in ((), ("-static",)):
        program = compile_c(context, "other", THREADS, *flags, compiler="musl-gcc")
        recording = context.path("recording")
        recorded = context.record(recording, [program])
        context.expect(recorded.status == 0 and recorded.stdout == b"joined\n", "record", recorded)
        context.expect_same("replay", recorded, context.replay(recording))
        shutil.rmtree(recording)


def test_limit_none_valgrind(context):
    """valgrind, which runs a program by translating it, is recorded like any other."""
    context.need("valgrind")
    program = compile_c(context, "checked", THREADS)
    recording = context.path("recording")
    recorded = context.record(recording, ["valgrind", "--error-exitcode=9", program], timeout=60)
    context.expect(recorded.status == 0 and recorded.stdout == b"joined\n", "record", recorded)
    context.expect_same("replay", recorded, context.replay(recording, timeout=60))


LEAK = """
#include <stdlib.h>
int main(void) {
  for (int i = 0; i < 10; i++) *(volatile char*)malloc(100) = 1;
  return 0;
}
"""


def test_limit_none_leak_sanitizer(context):
    """LeakSanitizer's own use of ptrace works: it finds the leak, in record and replay."""
    program = compile_c(context, "leaking", LEAK, "-fsanitize=leak", "-O0")
    recording = context.path("recording")
    recorded = context.record(recording, [program])
    context.expect(recorded.status == 23 and b"byte(s) leaked" in recorded.stderr, "record", recorded)
    context.expect_same("replay", recorded, context.replay(recording))
