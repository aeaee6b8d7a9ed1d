"""gdb -p on the processes of a held replay: it takes them for their programs, and shows the user's frames."""
import os
import re
import shutil
import signal
import subprocess
import time

from building import compile_c
from holding import events_of, hold_at, release

# Two threads that wait, a fork, a few frames, an exec. C and C++.
SOURCE = r"""
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
int some_global = 42;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready, done;
static void inner(int depth) {
  int local = depth * 3;
  if (depth) {
    inner(depth - 1);
    some_global += local;
  } else if (write(1, "inner\n", 6) != 6) {
    some_global = 0;
  }
}
static void* worker(void* argument) {
  pthread_mutex_lock(&mutex);
  ++ready;
  pthread_cond_broadcast(&changed);
  while (!done) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
  return argument;
}
int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], 0, worker, 0);
  pthread_mutex_lock(&mutex);
  while (ready < 2) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
  pid_t child = fork();
  if (child == 0) {
    some_global = 7;
    inner(2);
    execl("/bin/echo", "echo", "hello", (char*)0);
  }
  waitpid(child, 0, 0);
  pthread_mutex_lock(&mutex);
  done = 1;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
  return 0;
}
"""


def line_of(text):
    return [number for number, line in enumerate(SOURCE.splitlines(), 1) if text in line][0]


def build(context, name, *flags, **rest):
    return compile_c(context, name, SOURCE, "-O0", "-pthread", *flags, **rest)


def writes_of(context, recording, process):
    return [event["event"] for thread, events in events_of(context, recording).items() if thread.split(".")[0] == process
            for event in events if event["kind"] == "write"]


class Held:
    """A recording of a command, replayed up to an event; gdb on its processes."""

    def __init__(self, context, command, process, which=0, recording=None):
        self.context, self.recording = context, recording or context.path(f"recording of {os.path.basename(command[0])}")
        if not recording:
            recorded = context.record(self.recording, command)
            context.expect(recorded.status == 0, "record", recorded)
        self.event = writes_of(context, self.recording, process)[which]
        self.running, places = hold_at(context, self.recording, self.event, ())
        self.pids = {place.thread: place.tid for place in places if "." not in place.thread and place.tid}

    def exe(self, process):
        return os.readlink(f"/proc/{self.pids[process]}/exe")

    def gdb(self, process, *commands, early=()):
        words = ["gdb", "-q", "-batch", "-nx"]
        for command in early:
            words += ["-iex", command]
        words += ["-p", str(self.pids[process])]
        for command in commands:
            words += ["-ex", command]
        return self.context.run(words, label="gdb", timeout=60).stdout.decode()

    def release(self):
        """Ctrl-C; nothing stays."""
        result = release(self.running)
        left = [pid for pid in self.pids.values() if is_alive(pid)]
        self.context.expect(not left, f"{len(left)} processes are left", result)
        self.context.expect(result.status == 0 and b"diverged" not in result.stderr, "the end", result)
        return result


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def frames(text):
    """Of the program: function, file and line."""
    return [(function, file, int(line))
            for function, file, line in re.findall(r"(?m)^#\d+ .*?(?:in )?(\w+) \(.*\) at (?:.*/)?(\w+\.c):(\d+)$", text)]


def expect_frames(context, what, text, name):
    inner = [("inner", f"{name}.c", line_of("write(1")), ("inner", f"{name}.c", line_of("inner(depth - 1)")),
             ("inner", f"{name}.c", line_of("inner(depth - 1)"))]
    expected = inner + [("main", f"{name}.c", line_of("inner(2);"))]
    seen = [frame for frame in frames(text) if frame[1] == f"{name}.c"][:4]
    context.expect(seen == expected, f"{what}: the frames are {seen}; gdb: {text[-1500:]}")


def expect_all(context, name, *flags, **rest):
    """Parent and child, all threads, a variable, and the libraries."""
    program = build(context, name, *flags, **rest)
    held = Held(context, [program], "p2")
    for process in ("p1", "p2"):
        context.expect(held.exe(process) == program, f"{name}: {process} looks like {held.exe(process)}")
    child = held.gdb("p2", "bt", "frame function inner", "print some_global", "print depth", "info locals")
    expect_frames(context, name, child, name)
    context.expect("$1 = 7\n" in child and "$2 = 0\n" in child and "\nlocal = 0\n" in child, f"{name}: the variables: {child[-500:]}")
    parent = held.gdb("p1", "print some_global", "info sharedlibrary", "thread apply all bt")
    context.expect("$1 = 42\n" in parent, f"{name}: the parent's variable: {parent[-500:]}")
    functions = [frame[0] for frame in frames(parent) if frame[1] == f"{name}.c"]
    context.expect(sorted(functions) == ["main", "worker", "worker"], f"{name}: the parent's threads: {parent[-3000:]}")
    if not any(flag.startswith("-static") for flag in flags):
        context.expect(re.search(r"Yes.*/libc\.so", parent), f"{name}: no libraries: {parent[-3000:]}")
    context.expect(not held.release().tool_lines(), f"{name}: something was said")


def test_gdb_held(context):
    """Programs as compilers make them."""
    context.need("gdb")
    expect_all(context, "position_independent", "-fPIE", "-pie")
    expect_all(context, "fixed", "-fno-pie", "-no-pie")
    expect_all(context, "cplusplus", compiler="g++")


def test_gdb_held_static(context):
    """Static ones, in which gdb looks for the auxiliary vector elsewhere."""
    context.need("gdb")
    expect_all(context, "static_fixed", "-static", "-no-pie")
    expect_all(context, "static_independent", "-static-pie")


def test_gdb_held_exec(context):
    """Programs that others have executed: a script's interpreter, and what it starts."""
    context.need("gdb")
    program = build(context, "executed")
    script = context.write("script", f"#!/bin/sh\necho begin\n{program}\n", 0o755)
    held = Held(context, [script], "p3", -1)
    seen = {process: held.exe(process) for process in held.pids}
    expected = {"p1": os.path.realpath("/bin/sh"), "p2": program, "p3": os.path.realpath("/bin/echo")}
    context.expect(seen == expected, f"they look like {seen}")
    context.expect("main" in [frame[0] for frame in frames(held.gdb("p2", "bt"))], "the program's frames")
    context.expect("write" in held.gdb("p3", "bt"), "the executed program's frames")
    held.release()


def test_gdb_held_python(context):
    """An interpreter as the distribution has it, without debug information."""
    context.need("gdb", "python3")
    script = context.write("script.py", "#!/usr/bin/env python3\nimport os\nos.write(1, b'python\\n')\n", 0o755)
    held = Held(context, [script], "p1", -1)
    context.expect("python3" in held.exe("p1"), f"it looks like {held.exe('p1')}")
    text = held.gdb("p1", "bt")
    context.expect("Py_BytesMain" in text or "Py_RunMain" in text, f"no functions of python's: {text[-2000:]}")
    held.release()


def test_gdb_held_stripped(context):
    """Debug information in a file of its own, by build id and by name."""
    context.need("gdb", "objcopy", "strip", "readelf")
    program = build(context, "stripped", "-Wl,--build-id")
    notes = subprocess.run(["readelf", "-n", program], capture_output=True, check=True, text=True).stdout
    number = re.search(r"Build ID: ([0-9a-f]+)", notes)[1]
    folder = context.path("debug", ".build-id", number[:2])
    os.makedirs(folder)
    subprocess.run(["objcopy", "--only-keep-debug", program, os.path.join(folder, number[2:] + ".debug")], check=True)
    subprocess.run(["strip", program], check=True)
    held = Held(context, [program], "p2")
    expect_frames(context, "by build id", held.gdb("p2", "bt", early=[f"set debug-file-directory {context.path('debug')}"]), "stripped")
    held.release()
    program = build(context, "linked", "-Wl,--build-id=none")
    subprocess.run(["objcopy", "--only-keep-debug", program, program + ".debug"], check=True)
    subprocess.run(["strip", program], check=True)
    subprocess.run(["objcopy", "--add-gnu-debuglink=" + program + ".debug", program], check=True)
    held = Held(context, [program], "p2")
    expect_frames(context, "beside the program", held.gdb("p2", "bt"), "linked")
    held.release()


def test_gdb_held_rebuilt(context):
    """A program that is another one by now, or gone: the recording's copy."""
    context.need("gdb")
    program = build(context, "rebuilt")
    held = Held(context, [program], "p2")
    held.release()
    shutil.copy(shutil.which("true"), program)
    for state in ("changed", "deleted"):
        held = Held(context, [program], "p2", recording=held.recording)
        context.expect(held.exe("p2").startswith(held.recording), f"{state}: it looks like {held.exe('p2')}")
        expect_frames(context, state, held.gdb("p2", "bt"), "rebuilt")
        held.release()
        if os.path.exists(program):
            os.unlink(program)


def test_gdb_held_again(context):
    """Attaching and detaching changes nothing; Ctrl-C ends all, also under gdb's eyes."""
    context.need("gdb")
    program = build(context, "again")
    held = Held(context, [program], "p2")
    for _ in range(3):
        for process, function in (("p1", "worker"), ("p2", "inner")):
            text = held.gdb(process, "thread apply all bt", "detach")
            context.expect(function in [frame[0] for frame in frames(text)], f"{process}: {text[-2000:]}")
    held.release()
    held = Held(context, [program], "p2", recording=held.recording)
    read_end, write_end = os.pipe()
    debugger = context.start(["gdb", "-q", "-nx", "-p", str(held.pids["p1"]), "-ex", "echo attached\\n"], label="gdb", stdin=read_end)
    os.close(read_end)
    debugger.wait_for_output(b"attached")
    began = time.monotonic()
    held.release()
    context.expect(time.monotonic() - began < 5, "it took long to end")
    os.close(write_end)
    debugger.finish()


def test_gdb_held_killed(context):
    """kill -9 of the tool: what it held ends with it."""
    held = Held(context, [build(context, "killed")], "p2")
    context.expect(held.exe("p2").endswith("/killed"), f"it looks like {held.exe('p2')}")
    held.running.process.send_signal(signal.SIGKILL)
    held.running.finish()
    end = time.monotonic() + 5
    while any(is_alive(pid) for pid in held.pids.values()) and time.monotonic() < end:
        time.sleep(0.01)
    context.expect(not any(is_alive(pid) for pid in held.pids.values()), "processes are left")


def test_limit_gdb_held(context):
    """A program that cannot be executed any more, and one that is traced already: said in one line, and replayed all the same."""
    context.need("strace")
    loader = re.search(r"interpreter: (\S+)\]", subprocess.run(["readelf", "-l", "/bin/true"], capture_output=True, check=True,
                                                              text=True).stdout)[1]
    own = os.path.join(context.work, "loader")
    shutil.copy(loader, own)
    program = build(context, "lost", f"-Wl,--dynamic-linker={own}")
    held = Held(context, [program], "p2")
    context.expect(held.exe("p2") == program, f"it looks like {held.exe('p2')}")
    held.release()
    event = held.event
    os.unlink(own)
    held = Held(context, [program], "p2", recording=held.recording)
    context.expect(held.exe("p2").endswith("pastcone-runtime"), f"it looks like {held.exe('p2')}")
    result = held.release()
    context.expect(len(result.tool_lines()) == 1 and b"exec-file-mismatch" in result.stderr, "what was said", result)
    running = context.start(["strace", "-f", "-o", "/dev/null", context.pastcone, "replay", held.recording, "--to", event, "--hold"],
                            label="strace")
    running.wait_for_output(b"held")
    with open(f"/proc/{running.process.pid}/task/{running.process.pid}/children", encoding="ascii") as children:
        os.kill(int(children.read().split()[0]), signal.SIGINT)
    result = running.finish()
    context.expect(b"ptrace" in result.stderr and b"diverged" not in result.stderr, "traced by another", result)
