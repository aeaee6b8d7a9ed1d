"""docs/limitations.md, line by line: what is not supported is refused, declined, run outside or recorded up to there, and
said by name. Nothing hangs, and no replay shows something else without saying so."""
import fcntl
import json
import os
import re
import resource
import shutil
import sys

from building import compile_c, hello
from catalogue import PROGRAMS, programs
from harness import NOBODY
from steps import Skip


DOCUMENT = os.path.join(os.path.dirname(PROGRAMS), "..", "docs", "limitations.md")


def test_limit_lines(context):
    """Every line of docs/limitations.md names a test, and that test exists."""
    names = {program.name for program in programs()}
    for folder in ("scenarios", "real"):
        place = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), folder)
        for file in filter(lambda name: name.endswith(".py"), os.listdir(place)):
            with open(os.path.join(place, file), encoding="utf-8") as module:
                names.update(re.findall(r"(?m)^def test_(\w+)", module.read()))
    with open(DOCUMENT, encoding="utf-8") as file:
        items = re.findall(r"(?ms)^- .*?(?=^- |^\S|^$)", file.read())
    context.expect(len(items) > 15, "the document has no lines")
    for item in items:
        tests = [name for mark in re.findall(r"†((?:[ \n,]+`\w+`)+)", item) for name in re.findall(r"`(\w+)`", mark)]
        context.expect(tests, f"no test is named in {item!r}")
        for name in tests:
            context.expect(name in names, f"there is no test {name}, which is named in {item!r}")


def said(recorded, *words):
    """Whether one of record's own lines has all these words."""
    return any(line.startswith("pastcone: ") and all(word in line for word in words) for line in recorded.tool_lines())


def expect_refused(context, program, *words, **rest):
    """Refused as the command: one line that says why, nothing runs, nothing is left."""
    recording = context.path("refused")
    recorded = context.record(recording, [program], **rest)
    context.expect_one_line(f"{program} as the command", recorded)
    context.expect(said(recorded, os.path.basename(program), *words) and recorded.stdout == b"",
                   f"{program}: should be refused with {words}", recorded)
    context.expect(not os.path.exists(recording), "a recording was left")


def expect_outside(context, program, output, *words, user=None):
    """As a child it runs outside: as natively, named with the reason, and the replay is exact without it."""
    recording = context.path("mine", "outside")
    os.makedirs(context.path("mine"), exist_ok=True)
    if user is not None:
        for place in ("mine", "home"):
            os.chown(context.path(place), user, user)
    script = f"{program} | tr a-z A-Z; echo \"status ${{PIPESTATUS[0]}}\""
    recorded = context.record(recording, ["bash", "-c", script], user=user)
    context.expect(recorded.status == 0 and recorded.stdout == output, f"{program} as a child: should print {output!r}, "
                   f"printed {recorded.stdout!r}", recorded)
    context.expect(said(recorded, "p2", "is not recorded after", os.path.basename(program), *words),
                   f"{program}: record should say {words}", recorded)
    os.rename(program, program + ".away")
    context.expect_same("replay", recorded, context.replay(recording, user=user))
    shutil.rmtree(recording)
    os.rename(program + ".away", program)


def expect_exact_or_said(context, label, recording, recorded):
    """What cannot be replayed exactly is a divergence that is named, never another output."""
    replay = context.replay(recording)
    if replay.status == 0:
        context.expect_equal(label, recorded, replay)
    else:
        context.expect("diverged" in replay.stderr.decode(errors="replace"), f"{label}: should name the divergence", replay)
    return replay


# --- where it runs

REFUSING = """
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char** argv) {  // the call, its second argument if that counts, the command
  unsigned call = strtoul(argv[1], 0, 0), argument = strtoul(argv[2], 0, 0);
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
      BPF_JUMP(BPF_JMP | (argument ? BPF_JEQ : BPF_JGE) | BPF_K, argument, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog filter = {sizeof code / sizeof *code, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) return 99;
  execv(argv[3], argv + 3);
  return 98;
}
"""
PERSONALITY, NAME_TO_HANDLE_AT, STATX, IOCTL, FS_IOC_GETVERSION = 135, 303, 332, 16, 0x80087601


def refusing(context, call, argument=0):
    """What to put in front of a command for which this call shall fail, as in a container that forbids it."""
    return [compile_c(context, "refusing", REFUSING), str(call), str(argument)]


def test_limit_personality(context):
    """Where personality(2) is forbidden, record says so and does not start, and doctor tells."""
    without = refusing(context, PERSONALITY)
    recording = context.path("recording")
    recorded = context.run([*without, context.pastcone, "record", "-o", recording, "--", "echo", "ran"], label="record")
    context.expect_one_line("record", recorded)
    context.expect(said(recorded, "personality") and recorded.stdout == b"", "record: should name personality", recorded)
    context.expect(not os.path.exists(recording), "a recording was left")
    doctor = context.run([*without, context.pastcone, "doctor"], label="doctor")
    context.expect(doctor.status != 0 and re.search(rb"(?m)^(?!ok).*randomisation", doctor.stdout), "doctor", doctor)


def edit(path, change):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(change(text))


def test_limit_surroundings(context):
    """Replay names what differs: a feature that the processor lacks, a system file that has changed."""
    recording = context.path("recording")
    context.expect(context.record(recording, ["echo", "hello"]).status == 0, "record")

    def more_features(text):
        manifest = json.loads(text)
        manifest["cpu"].append("avx9000")
        return json.dumps(manifest)
    manifest = os.path.join(recording, "manifest.json")
    edit(manifest, more_features)
    replay = context.replay(recording)
    context.expect_one_line("another processor", replay)
    context.expect("avx9000" in replay.stderr.decode(), "replay should name the feature", replay)
    edit(manifest, lambda text: text.replace("avx9000", "unheardof"))  # not an instruction set
    context.expect(context.replay(recording).status == 0, "replay with a flag that does not matter")

    names = []

    def another_file(text):
        lines = [json.loads(line) for line in text.splitlines()]
        entry = next(entry for entry in lines if entry["kept"] is None)
        names.append(entry["path"])
        entry["hash"] = "0123456789abcdef"
        entry["mtime_ns"] += 1
        return "".join(json.dumps(line) + "\n" for line in lines)
    edit(os.path.join(recording, "files.jsonl"), another_file)
    replay = context.replay(recording)
    context.expect_one_line("another file", replay)
    context.expect(names[0] in replay.stderr.decode(), f"replay should name {names[0]}", replay)


LIMITED = """
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void) {
  char byte;
  puts("ready");
  fflush(stdout);
  if (read(0, &byte, 1) < 0) return 1;
  void* memory = mmap(0, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  puts(memory == MAP_FAILED ? "no memory" : "memory");
  return 0;
}
"""


def test_limit_address_space(context):
    """ulimit -v before record: hard, it does not start; soft, only the program has it. From outside, the runtime counts too."""
    limits = "import resource as r, sys, os; r.setrlimit(r.RLIMIT_AS, ({0}, {1})); os.execv(sys.argv[1], sys.argv[1:])"
    recording = context.path("recording")
    hard = context.run([sys.executable, "-c", limits.format(1 << 30, 1 << 30), context.pastcone, "record", "-o", recording, "--",
                        "true"], label="record")
    context.expect_one_line("a hard limit", hard)
    context.expect(said(hard, "ulimit -v"), "record: should name the limit", hard)
    context.expect(not os.path.exists(recording), "a recording was left")
    soft = [sys.executable, "-c", limits.format(1 << 30, resource.getrlimit(resource.RLIMIT_AS)[1])]
    recorded = context.run([*soft, context.pastcone, "record", "-o", recording, "--", "bash", "-c", "ulimit -Sv"], label="record")
    context.expect(recorded.status == 0 and recorded.stdout == b"1048576\n", "the program should have the soft limit", recorded)
    context.expect_same("replay", recorded, context.run([*soft, context.pastcone, "replay", recording], label="replay"))

    read_end, write_end = os.pipe()
    running = context.start_record(context.path("outside"), [compile_c(context, "limited", LIMITED)], stdin=read_end)
    running.wait_for_output(b"ready\n")
    for pid in context.mine():
        with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
            if file.read() == "limited\n":
                resource.prlimit(pid, resource.RLIMIT_AS, (300 << 20, resource.RLIM_INFINITY))
    os.write(write_end, b"x")
    recorded = running.finish()
    os.close(read_end)
    os.close(write_end)
    context.expect(recorded.stdout == b"ready\nno memory\n", f"record printed {recorded.stdout!r}", recorded)
    context.expect_same("replay", recorded, context.replay(context.path("outside")))


# --- programs that are not recorded

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


# --- programs of unusual kinds that are recorded like any other

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


# --- calls

DECLINED = """
#include <errno.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>
#define TRY(name) try(#name, SYS_##name)
static int odd;
static void try(const char* name, long number) {
  long result = syscall(number, -1, -1, -1, -1, -1, -1);
  if (result != -1 || errno != ENOSYS) printf("%s: %ld, errno %d\\n", name, result, errno), odd = 1;
}
static void expect(const char* name, long result, int error) {
  if (result != -1 || errno != error) printf("%s: %ld, errno %d\\n", name, result, errno), odd = 1;
}
int main(void) {
  TRY(io_uring_setup); TRY(io_uring_enter); TRY(io_uring_register); TRY(splice); TRY(tee); TRY(vmsplice);
  TRY(copy_file_range); TRY(io_setup); TRY(io_submit); TRY(io_getevents); TRY(io_destroy); TRY(io_cancel);
  TRY(io_pgetevents); TRY(clone3); TRY(rseq); TRY(userfaultfd); TRY(perf_event_open); TRY(bpf);
  TRY(process_vm_readv); TRY(process_vm_writev); TRY(landlock_create_ruleset); TRY(landlock_add_rule);
  TRY(landlock_restrict_self); TRY(pkey_alloc); TRY(pkey_free); TRY(pkey_mprotect); TRY(futex_waitv);
  TRY(name_to_handle_at); TRY(open_by_handle_at); TRY(process_madvise); TRY(memfd_secret); TRY(remap_file_pages);
  expect("ptrace", ptrace(PTRACE_TRACEME, 0, 0, 0), EPERM);
  expect("ARCH_SET_GS", syscall(SYS_arch_prctl, 0x1001, 0), EPERM);
  expect("PR_SET_TSC", prctl(PR_SET_TSC, PR_TSC_SIGSEGV), EINVAL);
  puts(odd ? "odd" : "all declined");
  return odd;
}
"""


def test_limit_declined_calls(context):
    """All the calls that are declined are, with the error that the line says; the first that matters is named."""
    program = compile_c(context, "asking", DECLINED)
    recording = context.path("recording")
    recorded = context.record(recording, [program])
    context.expect(recorded.status == 0 and recorded.stdout == b"all declined\n", f"declined: {recorded.stdout!r}", recorded)
    context.expect(said(recorded, "p1", "io_uring_setup", "run it without"), "record: does not say so", recorded)
    context.expect_same("replay", recorded, context.replay(recording))


def test_limit_tracers(context):
    """strace and gdb are told EPERM, end, and record says why."""
    for command in (["strace", "-o", "trace.log", "true"], ["gdb", "-nx", "-batch", "-ex", "run", "/bin/true"]):
        if not shutil.which(command[0], path=context.env["PATH"]):
            continue
        recording = context.path(command[0])
        recorded = context.record(recording, command, timeout=60)
        context.expect(recorded.status < 128 and b"not permitted" in recorded.stderr, f"{command[0]} should fail", recorded)
        context.expect(said(recorded, "ptrace", "record their program alone"), "record: does not say why", recorded)
        context.expect_same(f"replay of {command[0]}", recorded, context.replay(recording, timeout=60))


SECCOMP = """
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char** argv) {
  struct sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog filter = {1, code};
  puts("before");
  fflush(stdout);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return 1;
  long result = argc > 1 ? syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter)
                         : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
  puts(result ? "no filter" : "after");
  return 0;
}
"""


def expect_incomplete(context, recording, reason):
    """Nobody who looks takes the recording for a whole one; they are told from where on, and why."""
    info = context.run([context.pastcone, "info", "--json", recording], label="info")
    described = json.loads(info.stdout)
    context.expect(described["state"] == "incomplete", "info: should say that it is incomplete", info)
    told = re.fullmatch(r"(p\d+) is not recorded after (p\d+):(\d+): .*", described["why"])
    context.expect(told and told[1] == told[2] and reason in described["why"], f"info says {described['why']!r}", info)
    context.expect(described["why"] in context.run([context.pastcone, "info", recording]).stdout.decode(), "info", info)
    for result in (context.replay(recording), context.replay(recording, "--verify")):
        output = (result.stdout + result.stderr).decode()
        context.expect(result.status == 0 and described["why"] in output, "replay: should say how far", result)
    elsewhere = context.path("data", "pastcone")
    shutil.rmtree(elsewhere, ignore_errors=True)
    os.makedirs(elsewhere)
    os.symlink(recording, os.path.join(elsewhere, "it"))
    listed = context.run([context.pastcone, "ls"], env={"XDG_DATA_HOME": context.path("data")}, label="ls")
    context.expect("incomplete" in listed.stdout.decode(), "ls: should say that it is incomplete", listed)


def expect_recorded_until(context, argv, output, shown, *words):
    """The program runs as natively to its end; the recording goes to that call, says so, and replays that far."""
    recording = context.path("recording")
    recorded = context.record(recording, argv)
    context.expect(recorded.status == 0 and recorded.stdout == output, f"the program printed {recorded.stdout!r}", recorded)
    context.expect(said(recorded, "p1", "is not recorded after", *words), f"record: should say {words}", recorded)
    replay = context.replay(recording)
    context.expect(replay.status == 0 and replay.stdout == shown, f"replay printed {replay.stdout!r}", replay)
    expect_incomplete(context, recording, words[0])
    shutil.rmtree(recording)


def test_limit_seccomp(context):
    """A program that installs a seccomp filter, either way: recorded up to there."""
    program = compile_c(context, "filtering", SECCOMP)
    expect_recorded_until(context, [program], b"before\nafter\n", b"before\n", "seccomp")
    expect_recorded_until(context, [program, "call"], b"before\nafter\n", b"before\n", "seccomp")


FAMILY = """
#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
static struct sockaddr_in address = {.sin_family = AF_INET};
static void send_text(const char* text) {
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(fd, (void*)&address, sizeof address) || write(fd, text, strlen(text)) < 0) _exit(1);
  close(fd);
}
static void* from_thread(void* unused) {
  send_text("from its thread");
  return unused;
}
static void leave_and_send(void) {
  char port[8];
  struct sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog filter = {1, code};
  pthread_t thread;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) _exit(1);
  send_text("from it");
  pthread_create(&thread, 0, from_thread, 0);
  pthread_join(thread, 0);
  if (!fork()) {
    send_text("from its child");
    _exit(0);
  }
  wait(0);
  snprintf(port, sizeof port, "%d", ntohs(address.sin_port));
  execl("/bin/bash", "bash", "-c", "exec 3>/dev/tcp/127.0.0.1/$0; /bin/echo -n from what it executes >&3", port,
        (char*)0);
}
int main(void) {
  char text[100];
  socklen_t size = sizeof address;
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(fd, (void*)&address, size) || listen(fd, 9) || getsockname(fd, (void*)&address, &size)) return 1;
  if (!fork()) leave_and_send();
  for (int i = 0; i < 4; i++) {
    int from = accept(fd, 0, 0);
    ssize_t n, all = 0;
    while ((n = read(from, text + all, sizeof text - 1 - (size_t)all)) > 0) all += n;
    text[all] = 0;
    puts(text);
    close(from);
  }
  wait(0);
  return 0;
}
"""


def test_limit_unrecorded_family(context):
    """What a process does that has left the recording, its threads, children and successors, comes from outside."""
    program = compile_c(context, "family", FAMILY, "-pthread")
    recording = context.path("recording")
    recorded = context.record(recording, [program])
    context.expect(recorded.stdout == b"from it\nfrom its thread\nfrom its child\nfrom what it executes\n",
                   f"record printed {recorded.stdout!r}", recorded)
    context.expect(said(recorded, "p2", "seccomp"), "record: does not say so", recorded)
    context.expect_same("replay", recorded, context.replay(recording))


UNKNOWN = """
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void) {
  char table[64];
  puts("before");
  fflush(stdout);
  puts(syscall(SYS_modify_ldt, 0, table, sizeof table) >= 0 ? "after" : "failed");
  return 0;
}
"""


def test_limit_unknown_call(context):
    """A call that pastcone does not know: recorded up to there, by name."""
    program = compile_c(context, "unusual", UNKNOWN)
    expect_recorded_until(context, [program], b"before\nafter\n", b"before\n", "modify_ldt")


OWN_SIGNAL = """
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static volatile sig_atomic_t seen;
static void handle(int signal) { seen += signal == SIGWINCH; }
int main(void) {
  struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
  sigaction(SIGWINCH, &action, 0);
  for (int i = 0; i < 5; i++) raise(SIGWINCH);
  pid_t parent = getpid();
  if (!fork()) {
    kill(parent, SIGWINCH);
    _exit(0);
  }
  wait(0);
  while (seen < 6) pause();
  printf("handled %d\\n", seen);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGWINCH);
  sigprocmask(SIG_BLOCK, &set, 0);
  if (!fork()) {
    usleep(50000);
    kill(parent, SIGWINCH);
    _exit(0);
  }
  struct timespec limit = {10, 0};
  int got = sigtimedwait(&set, 0, &limit);
  printf("waited: %s\\n", got == SIGWINCH ? "came" : "missed");
  struct signalfd_siginfo info = {0};
  int fd = signalfd(-1, &set, SFD_NONBLOCK);
  raise(SIGWINCH);
  printf("read: %s\\n", read(fd, &info, sizeof info) == sizeof info && info.ssi_signo == SIGWINCH ? "came" : "missed");
  return 0;
}
"""


def test_limit_own_signal(context):
    """The program's own SIGWINCH works with a handler and with sigwait; a signalfd does not see it."""
    program = compile_c(context, "winching", OWN_SIGNAL)
    recording = context.path("recording")
    recorded = context.record(recording, [program])
    context.expect(recorded.stdout == b"handled 6\nwaited: came\nread: missed\n", f"{recorded.stdout!r}", recorded)
    context.expect_same("replay", recorded, context.replay(recording))


# --- contents

MAPPED = """
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
  int fd = open("shared.bin", O_RDWR | O_CREAT | O_TRUNC, 0600), go[2];
  char text[] = "written";
  if (fd < 0 || ftruncate(fd, 4096) || pipe(go)) return 1;
  char* memory = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (!fork()) {
    int own = open("shared.bin", O_WRONLY);
    if (pwrite(own, text, sizeof text, 100) < 0 || write(go[1], "g", 1) != 1) return 1;
    return 0;
  }
  if (read(go[0], text, 1) != 1) return 1;
  printf("%s\\n", memory + 100);
  wait(0);
  return 0;
}
"""


def test_limit_none_mapped_file_written(context):
    """A file that is mapped shared and written by another recorded process is replayed exactly."""
    program = compile_c(context, "mapped", MAPPED)
    recording = context.path("recording")
    recorded = context.record(recording, [program])
    context.expect(recorded.status == 0 and recorded.stdout == b"written\n", "record", recorded)
    context.expect_same("replay", recorded, context.replay(recording))


CHANGED = """
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void) {
  int fd = open("shared.bin", O_RDWR | O_CREAT | O_TRUNC, 0644);
  if (fd < 0 || ftruncate(fd, 4096)) return 1;
  volatile char* memory = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  puts("ready");
  fflush(stdout);
  while (!memory[0]) usleep(10000);
  printf("%c\\n", memory[0]);
  return 0;
}
"""


def test_limit_mapped_file_outside(context):
    """A file that is mapped shared and changed by a process outside: replay does not see it, and says that it diverged."""
    program = compile_c(context, "changed", CHANGED)
    recording = context.path("recording")
    running = context.start_record(recording, [program])
    running.wait_for_output(b"ready\n")
    with open(os.path.join(context.work, "shared.bin"), "r+b") as file:
        file.write(b"x")
    recorded = running.finish()
    context.expect(recorded.status == 0 and recorded.stdout == b"ready\nx\n", "record", recorded)
    replay = expect_exact_or_said(context, "replay", recording, recorded)
    context.expect(replay.status != 0, "replay cannot know the change", replay)


REMADE = """
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static char use(char byte) {  // a new file; what was in its first page
  int fd = open("remade.bin", O_RDWR | O_CREAT | O_EXCL, 0600);
  if (fd < 0 || ftruncate(fd, 4096)) _exit(1);
  char* memory = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  char was = memory[0];
  memset(memory, byte, 4096);
  munmap(memory, 4096);
  close(fd);
  unlink("remade.bin");
  return was;
}
int main(void) {
  for (int i = 1; i <= 50; i++) printf("%d: %d\\n", i, use((char)i));
  return 0;
}
"""


def has_generations(path):
    with open(path, "rb") as file:
        try:
            fcntl.ioctl(file, FS_IOC_GETVERSION, bytes(8))
        except OSError:
            return False
    return True


def test_limit_file_identity(context):
    """Files that are mapped, deleted and made again with the same number are told apart, if the file system tells; else replay is
    exact or says so in parallel mode, and exact in serial mode."""
    program = compile_c(context, "remade", REMADE)
    handles, generations = refusing(context, NAME_TO_HANDLE_AT), refusing(context, IOCTL, FS_IOC_GETVERSION)
    births, exact = refusing(context, STATX), 3 if has_generations(program) else 0
    for number, without in enumerate(([], handles, [*handles, *births], [*handles, *generations, *births])):
        for mode in ("serial", "parallel"):
            recording = context.path(f"{mode}{number}")
            recorded = context.run([*without, context.pastcone, "record", f"--threads={mode}", "-o", recording, "--", program],
                                   label="record")
            context.expect(recorded.stdout == b"".join(b"%d: 0\n" % n for n in range(1, 51)), "record", recorded)
            if mode == "parallel" and number >= exact:
                expect_exact_or_said(context, "replay", recording, recorded)
            else:
                context.expect_same("replay", recorded, context.replay(recording))


def test_limit_seen_from_outside(context):
    """For others /proc/PID/exe of a recorded process is the runtime; for itself it is the program."""
    recording = context.path("recording")
    running = context.start_record(recording, ["bash", "-c", "readlink /proc/$$/exe; readlink /proc/self/exe; echo $$; read x"],
                                   stdin=os.pipe()[0])
    running.wait_for_output(b"\n")
    while running.output["stdout"].count(b"\n") < 3:
        running.wait_for_output(b"\n")
    lines = running.output["stdout"].split()
    exe = os.readlink(f"/proc/{int(lines[2])}/exe")
    with open(f"/proc/{int(lines[2])}/maps", encoding="utf-8") as maps:
        mapped = maps.read()
    context.kill_all()
    running.finish()
    context.expect(exe.endswith("pastcone-runtime"), f"/proc/PID/exe is {exe}")
    context.expect("pastcone-runtime" in mapped, "the memory map has no runtime")
    context.expect(lines[0].endswith(b"pastcone-runtime") and lines[1] == os.path.realpath("/usr/bin/readlink").encode(),
                   f"seen from inside: {lines!r}")


# --- exactness

VECTOR = """
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
static volatile sig_atomic_t over;
static void handle(int signal) { over = signal; }
int main(void) {
  struct itimerval soon = {{0, 0}, {0, 30000}};
  signal(SIGALRM, handle);
  setitimer(ITIMER_REAL, &soon, 0);
  double sum = 0;
  while (!over) sum += 1.0;
  printf("%.0f\\n", sum);
  return 0;
}
"""


def test_limit_vector_loop(context):
    """A loop that only a vector register tells from its passes before: replayed exactly, or said."""
    program = compile_c(context, "vectors", VECTOR)
    recording = context.path("recording")
    recorded = context.record(recording, [program])
    context.expect(recorded.status == 0, "record", recorded)
    expect_exact_or_said(context, "replay", recording, recorded)


GENERATED = """
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
int main(void) {
  static const unsigned char code[] = {0x0f, 0x31, 0x48, 0xc1, 0xe2, 0x20, 0x48, 0x09, 0xd0, 0xc3};  // rdtsc
  void* memory = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(memory, code, sizeof code);
  printf("%lu\\n", ((unsigned long (*)(void))memory)());
  return 0;
}
"""


def test_limit_generated_code(context):
    """rdtsc in generated code is not caught: what comes of it is a divergence that is named."""
    program = compile_c(context, "generated", GENERATED)
    recording = context.path("recording")
    recorded = context.record(recording, [program])
    context.expect(recorded.status == 0, "record", recorded)
    replay = expect_exact_or_said(context, "replay", recording, recorded)
    context.expect(replay.status != 0, "another time stamp cannot be the same", replay)


KERNEL_RACE = """
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static volatile char buffer[1];
static int ends[2];
static void* fill(void* unused) {
  if (read(ends[0], (char*)buffer, 1) != 1) return 0;
  return unused;
}
int main(void) {
  pthread_t thread;
  if (pipe(ends)) return 1;
  if (!fork()) {
    usleep(50000);
    return write(ends[1], "x", 1) != 1;
  }
  pthread_create(&thread, 0, fill, 0);
  unsigned long passes = 0;
  while (!buffer[0]) passes++;
  printf("%lu\\n", passes);
  pthread_join(thread, 0);
  return 0;
}
"""


def test_limit_race_with_kernel(context):
    """Memory that a sleeping call fills while another thread looks at it: replayed exactly, or said."""
    program = compile_c(context, "racing", KERNEL_RACE, "-pthread")
    recording = context.path("recording")
    recorded = context.record(recording, [program])
    context.expect(recorded.status == 0, "record", recorded)
    expect_exact_or_said(context, "replay", recording, recorded)


# --- debugging


def test_limit_no_debugger(context):
    """A command that is not there yet gets one line, which says what there is."""
    context.expect_one_line("debug", context.run([context.pastcone, "debug"]))
