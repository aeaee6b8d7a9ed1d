"""docs/limitations.md, calls: declined, or the end of the recording, and said by name."""
import json
import os
import re
import shutil

from building import compile_c
from limit_checks import said


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
  TRY(process_vm_readv); TRY(process_vm_writev); TRY(pidfd_getfd); TRY(landlock_create_ruleset); TRY(landlock_add_rule);
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


def expect_denied(context, code, output, *words):
    """What is denied is said, and the same in replay."""
    recording = context.path("recording")
    recorded = context.record(recording, [compile_c(context, "denied", code, "-pthread")])
    context.expect(recorded.status == 0 and recorded.stdout == output, f"the program printed {recorded.stdout!r}", recorded)
    context.expect(said(recorded, "p1", *words), f"record: should say {words}", recorded)
    context.expect_same("replay", recorded, context.replay(recording))
    verify = context.replay(recording, "--verify")
    context.expect(verify.status == 0, "verify", verify)
    shutil.rmtree(recording)


SHARED_DESCRIPTORS = """
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
static void* leave(void* unused) {
  printf("in a thread: %d", unshare(CLONE_FILES));
  printf(" %d\\n", errno == EINVAL);
  return unused;
}
int main(void) {
  pthread_t thread;
  printf("alone: %d\\n", unshare(CLONE_FILES));
  return pthread_create(&thread, 0, leave, 0) || pthread_join(thread, 0);
}
"""


def test_limit_shared_descriptors(context):
    """One of several threads cannot have descriptors of its own."""
    expect_denied(context, SHARED_DESCRIPTORS, b"alone: 0\nin a thread: -1 1\n", "one of several threads")


CALLS_32_BIT = """
#include <errno.h>
#include <stdio.h>
static long call(long number) {
  long result;
  asm volatile("int $0x80" : "=a"(result) : "a"(number), "b"(0L), "c"(0L), "d"(0L) : "memory", "r8", "r9", "r10", "r11");
  return result;
}
int main(void) {
  for (long number = 1; number < 400; number++)
    if (call(number) != -ENOSYS) return printf("call %ld\\n", number);
  puts("all declined");
  return 0;
}
"""


def test_limit_32_bit_calls(context):
    """int $0x80 is no call of ours: it is declined, and not taken for the call that has the number otherwise."""
    expect_denied(context, CALLS_32_BIT, b"all declined\n", "32-bit calls")


TRAP_FLAG = """
#include <signal.h>
#include <stdio.h>
static volatile int steps;
static void count(int signal) { steps += signal == SIGTRAP; }
int main(void) {
  signal(SIGTRAP, count);
  asm volatile("pushfq; orq $0x100, (%%rsp); popfq; nop; nop; nop; pushfq; andq $~0x100, (%%rsp); popfq" ::: "memory", "cc");
  printf("%d\\n", steps);
  return 0;
}
"""


def test_limit_trap_flag(context):
    """Single steps by the trap flag end after the first, and record says so."""
    expect_denied(context, TRAP_FLAG, b"1\n", "trap flag")


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
    """The program's own SIGWINCH and SIGSYS work with a handler and with sigwait; a signalfd does not see them."""
    for name in ("SIGWINCH", "SIGSYS"):
        program = compile_c(context, f"own_{name}", OWN_SIGNAL.replace("SIGWINCH", name))
        recording = context.path(f"{name}.rec")
        recorded = context.record(recording, [program])
        context.expect(recorded.stdout == b"handled 6\nwaited: came\nread: missed\n", f"{name}: {recorded.stdout!r}", recorded)
        context.expect_same(f"replay of {name}", recorded, context.replay(recording))


SEVERAL_AT_ONCE = """
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>
int main(void) {
  int ends[2], numbers[3];
  struct mmsghdr messages[3] = {0};
  struct iovec places[3];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 || write(ends[1], "123456789012", 12) != 12) return 1;
  for (int i = 0; i < 3; i++) {
    places[i] = (struct iovec){&numbers[i], sizeof numbers[i]};
    messages[i].msg_hdr.msg_iov = &places[i];
    messages[i].msg_hdr.msg_iovlen = 1;
  }
  return recvmmsg(ends[0], messages, 3, 0, 0);
}
"""


def test_limit_recvmmsg_stream(context):
    """On a stream, `recvmmsg` takes one message a call, as where it was interrupted behind that."""
    program, recording = compile_c(context, "several", SEVERAL_AT_ONCE), context.path("several.rec")
    context.expect(context.run([program]).status == 3, "natively")
    context.expect(context.record(recording, [program]).status == 1, "recorded")
    context.expect(context.run([context.pastcone, "replay", recording]).status == 0, "replayed")
