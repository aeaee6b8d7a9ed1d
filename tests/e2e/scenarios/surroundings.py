"""Ordinary users, rebuilt binaries, LD_PRELOAD, and what cannot be recorded."""
import json
import os
import re

from building import compile_c
from harness import NOBODY
from steps import Skip


def hello(text):
    return f'#include <stdio.h>\nint main(void) {{ printf("{text}\\n"); return 0; }}\n'


def test_ordinary_user(context):
    """Recorded and replayed as uid 65534 with a home of its own."""
    context.need_root()
    for name in ("fork_tree", "echo_server_tcp", "echo_server_unix", "thread_mutex_order", "mmap_shared_race", "exec_chain",
                 "environment_bytes", "signal_compute_loop", "scm_rights", "thread_setuid", "drop_privileges"):
        context.exact([context.program(name)], status=0, user=NOBODY, soak=2)
    context.exact(["bash", "-c", "id -u; ls | wc -l; seq 1000 | sort -r | md5sum"], stable=True, status=0, user=NOBODY,
                  soak=2)


def test_rebuilt_binary(context):
    """A program rebuilt between recording and replay: the recorded one is replayed."""
    recording = context.path("recording")
    program = compile_c(context, "changing", hello("first version"))
    recorded = context.record(recording, [program])
    context.expect(recorded.stdout == b"first version\n", "record", recorded)
    compile_c(context, "changing", hello("second version"))
    context.expect_same("replay after the rebuild", recorded, context.replay(recording))
    os.unlink(program)
    context.expect_same("replay after its deletion", recorded, context.replay(recording))


def test_rebuilt_library(context):
    """The same for a library of the program."""
    recording = context.path("recording")
    library = '#include <stdio.h>\nvoid speak(void) {{ puts("{}"); }}\n'
    compile_c(context, "libspeak.so", library.format("first library"), "-shared", "-fPIC")
    program = compile_c(context, "speaking", "void speak(void);\nint main(void) { speak(); return 0; }\n", "-L.", "-lspeak",
                        "-Wl,-rpath,$ORIGIN")
    recorded = context.record(recording, [program])
    context.expect(recorded.stdout == b"first library\n", "record", recorded)
    compile_c(context, "libspeak.so", library.format("second library"), "-shared", "-fPIC")
    context.expect_same("replay", recorded, context.replay(recording))


def test_ld_preload(context):
    """A program that already has an LD_PRELOAD, which it and its children see unchanged."""
    source = "unsigned sleep(unsigned s) { return s + 100; }\n"

    def program():
        library = compile_c(context, "preload.so", source, "-shared", "-fPIC")
        inner = compile_c(context, "inner", "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n"
                          'int main(void) { printf("%u %s\\n", sleep(1), getenv("LD_PRELOAD")); return 0; }\n')
        return ["env", f"LD_PRELOAD={library}", "sh", "-c", f"{inner}; echo $LD_PRELOAD"]
    context.exact(program, stable=True, status=0)


def expect_refused(context, what, word, recorded, program_said):
    context.expect_one_line(what, recorded)
    context.expect(word in recorded.stderr.decode().lower(), f"{what}: the message should say '{word}'", recorded)
    context.expect(program_said not in recorded.stdout, f"{what}: ran although refused", recorded)


def test_static_program(context):
    """A static program is recorded like any other, as the command and as a child, and is kept."""
    program = compile_c(context, "fixed", hello("static"), "-static")
    recording = context.path("recording")
    recorded = context.record(recording, ["bash", "-c", f"{program} | tr a-z A-Z; exec {program}"])
    context.expect(recorded.status == 0 and recorded.stdout == b"STATIC\nstatic\n", "record", recorded)
    os.unlink(program)
    context.expect_same("replay", recorded, context.replay(recording))


NARROW = """
void _start(void) {
  static const char text[] = "narrow\\n";
  __asm__ volatile("int $0x80" : : "a"(4), "b"(1), "c"(text), "d"(7));
  __asm__ volatile("int $0x80" : : "a"(1), "b"(5));
}
"""


def test_32_bit_child(context):
    """A 32-bit program as a child runs outside: what it sends is stored, it is named, and replay is exact."""
    program = compile_c(context, "narrow", NARROW, "-m32", "-nostdlib", "-static", "-fno-pic")
    recording = context.path("recording")
    recorded = context.record(recording, ["bash", "-c", f"{program} | tr a-z A-Z; echo \"status ${{PIPESTATUS[0]}}\""])
    context.expect(recorded.status == 0 and recorded.stdout == b"NARROW\nstatus 5\n", "record", recorded)
    context.expect(any("32-bit" in line for line in recorded.tool_lines()), "record: does not say why", recorded)
    os.unlink(program)
    context.expect_same("replay", recorded, context.replay(recording))


def test_32_bit_refused(context):
    """A 32-bit program is refused by name."""
    program = compile_c(context, "narrow", 'void _start(void) { __asm__("mov $1,%eax; xor %ebx,%ebx; int $0x80"); }\n',
                        "-m32", "-nostdlib", "-static")
    expect_refused(context, "32-bit", "32-bit", context.record(context.path("recording"), [program]), b"x")


def test_setuid_refused(context):
    """A setuid program, for somebody else, is refused by name."""
    context.need_root()
    if os.statvfs(context.dir).f_flag & os.ST_NOSUID:
        raise Skip("no setuid on this file system")
    program = compile_c(context, "raised", hello("setuid"))
    os.chmod(program, 0o4755)
    os.mkdir(context.path("theirs"))
    os.chown(context.path("theirs"), NOBODY, NOBODY)
    os.chown(context.path("home"), NOBODY, NOBODY)
    recorded = context.record(context.path("theirs", "recording"), [program], user=NOBODY)
    expect_refused(context, "setuid", "setuid", recorded, b"setuid\n")


SECCOMP = """
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>
int main(void) {
  struct sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog filter = {1, code};
  puts("before");
  fflush(stdout);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) return 1;
  puts("after");
  return 0;
}
"""


def test_seccomp_said(context):
    """A program that installs a seccomp filter runs as natively; the recording goes that far and says why."""
    program = compile_c(context, "filtering", SECCOMP)
    recording = context.path("recording")
    recorded = context.record(recording, [program])
    context.expect(recorded.status == 0 and recorded.stdout == b"before\nafter\n", "the program was disturbed", recorded)
    context.expect("seccomp" in recorded.stderr.decode(), "record: does not say so", recorded)
    replay = context.replay(recording)
    context.expect(replay.status == 0 and replay.stdout.startswith(b"before\n"), "replay", replay)
    expect_incomplete(context, recording, "seccomp")


def expect_incomplete(context, recording, reason):
    """Nobody who looks takes the recording for a whole one; they are told from where on, and why."""
    info = context.run([context.pastcone, "info", "--json", recording], label="info")
    described = json.loads(info.stdout)
    context.expect(described["state"] == "incomplete", "info: should say that it is incomplete", info)
    said = re.fullmatch(r"(p\d+) is not recorded after (p\d+):(\d+): .*", described["why"])
    context.expect(said and said[1] == said[2] and reason in described["why"], f"info says {described['why']!r}", info)
    context.expect(described["why"] in context.run([context.pastcone, "info", recording]).stdout.decode(), "info", info)
    for result in (context.replay(recording), context.replay(recording, "--verify")):
        output = (result.stdout + result.stderr).decode()
        context.expect(result.status == 0 and described["why"] in output, "replay: should say how far", result)
    elsewhere = context.path("data", "pastcone")
    os.makedirs(elsewhere, exist_ok=True)
    os.symlink(recording, os.path.join(elsewhere, "it"))
    listed = context.run([context.pastcone, "ls"], env={"XDG_DATA_HOME": context.path("data")}, label="ls")
    context.expect("incomplete" in listed.stdout.decode(), "ls: should say that it is incomplete", listed)


UNKNOWN = """
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
  if (fork() == 0) {
    char entries[64];
    _exit(syscall(SYS_modify_ldt, 0, entries, sizeof entries) < 0);
  }
  int status;
  wait(&status);
  printf("child: %d\\n", status);
  return 0;
}
"""


def test_unknown_call_said(context):
    """A child that makes a call pastcone does not know: it runs as natively, its parent is recorded to the end."""
    program = compile_c(context, "unknown", UNKNOWN)
    recording = context.path("recording")
    recorded = context.record(recording, [program])
    context.expect(recorded.status == 0 and recorded.stdout == b"child: 0\n", "the program was disturbed", recorded)
    context.expect_same("replay", recorded, context.replay(recording))
    expect_incomplete(context, recording, "modify_ldt")
