"""Ordinary users, rebuilt binaries, LD_PRELOAD, static programs."""
import os

from building import compile_c, hello
from harness import NOBODY


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


def test_static_program(context):
    """A static program is recorded like any other, as the command and as a child, and is kept."""
    program = compile_c(context, "fixed", hello("static"), "-static")
    recording = context.path("recording")
    recorded = context.record(recording, ["bash", "-c", f"{program} | tr a-z A-Z; exec {program}"])
    context.expect(recorded.status == 0 and recorded.stdout == b"STATIC\nstatic\n", "record", recorded)
    os.unlink(program)
    context.expect_same("replay", recorded, context.replay(recording))
