"""Where in the source events are: `events --where`, `races`, `sql` and the commands of the event graph."""
import json
import os
import re
import shutil
import signal

from building import compile_c
from steps import Skip

# The comments name lines and functions.
PROGRAM = r"""
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static int ends[2];
static inline __attribute__((always_inline)) int say(int fd, const char *text) {
  return write(fd, text, strlen(text)) > 0;  // inlined: say
}
__attribute__((noinline)) static int talk(int fd) {
  int said = say(fd, "a line\n");
  return said + 1;
}
static volatile int handled;
static void handle(int signal) {
  handled = write(1, "handled\n", 8) + signal;  // handler: handle
}
static void *run(void *unused) {
  FILE *null = fopen("/dev/null", "w");  // fopen: run
  fputs("text", null);
  fclose(null);
  return unused;
}
int main(int argc, char **argv) {
  if (argc > 2) return printf("executed %s\n", argv[1]) < 0 || fflush(stdout);  // executed: main
  if (pipe(ends) != 0) return 1;
  int child = fork();
  if (child == 0) _exit(talk(ends[1]) == 0);
  char line[100];
  FILE *from = fdopen(ends[0], "r");
  if (fgets(line, sizeof line, from) == 0) return 1;  // read: main
  waitpid(child, 0, 0);  // wait4: main
  signal(SIGUSR1, handle);
  raise(SIGUSR1);
  fprintf(stderr, "%s", line);  // stderr: main
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  pthread_join(thread, 0);
  execl(argv[0], argv[0], "again", "now", NULL);  // execve: main
  return 1;
}
"""


def marked(source, name):
    """The place of the line that ends in this comment: (function, line)."""
    for number, line in enumerate(source.splitlines(), 1):
        found = re.search(rf"// {name}: (\S+)$", line)
        if found:
            return found.group(1), number
    raise KeyError(name)


def listed(context, recording):
    result = context.run([context.pastcone, "events", recording, "--where", "--json"], label="events --where")
    context.expect(result.status == 0 and not result.stderr, "events --where", result)
    return [json.loads(line) for line in result.stdout.splitlines()]


def at(event):
    location = event["location"] or {}
    return location.get("function"), location.get("line")


def record(context, name, argv, status=0, options=()):
    recording = context.path(name)
    result = context.record(recording, argv, options)
    context.expect(result.status == status, f"record {name}", result)
    return recording


def check_lines(context, recording):
    events = listed(context, recording)

    def expect(name, kind, condition=lambda event: True):
        wanted = marked(PROGRAM, name)
        found = [at(event) for event in events if event["kind"] == kind and condition(event)]
        context.expect(wanted in found, f"{name}: {wanted} is not in {found}")
    expect("inlined", "write", lambda event: "channel" in event)
    expect("read", "read", lambda event: event.get("channel") is not None)
    expect("wait4", "wait4")
    expect("handler", "write", lambda event: event["result"] == 8)
    expect("stderr", "write", lambda event: event["result"] == 7)
    expect("fopen", "openat")
    expect("execve", "execve")
    expect("executed", "write", lambda event: event["result"] == 15)
    files = {event["location"]["file"] for event in events if at(event) == marked(PROGRAM, "read")}
    context.expect(len(files) == 1 and os.path.isabs(min(files)), f"{files}")


def test_where_lines(context):
    """Through libc, inlined functions, signal handlers, threads, fork and exec."""
    check_lines(context, record(context, "recording", [compile_c(context, "told", PROGRAM, "-pthread")]))


def test_where_parallel(context):
    """The same where threads run in parallel, and some of libc's functions are hooked."""
    program = compile_c(context, "told", PROGRAM, "-pthread")
    check_lines(context, record(context, "recording", [program], options=["--threads=parallel"]))


def test_where_linked(context):
    """However the program is linked."""
    for flags in (("-static",), ("-static-pie",), ("-no-pie", "-fno-pie"), ("-fno-omit-frame-pointer", "-fno-asynchronous-unwind-tables")):
        program = compile_c(context, "told", PROGRAM, "-pthread", *flags)
        check_lines(context, record(context, "recording" + flags[0], [program]))


def test_where_separate_debug(context):
    """Debug information in a file beside the program, which was not there when it was recorded."""
    context.need("objcopy")
    program = compile_c(context, "told", PROGRAM, "-pthread")
    debug = os.path.join(context.work, "told.debug")
    for arguments in (["--only-keep-debug", program, debug], ["--strip-all", f"--add-gnu-debuglink={debug}", program]):
        done = context.run(["objcopy", *arguments])
        context.expect(done.status == 0, "objcopy", done)
    os.rename(debug, debug + ".away")
    recording = record(context, "recording", [program])
    os.rename(debug + ".away", debug)
    check_lines(context, recording)


def test_where_no_debug(context):
    """Without debug information function and offset; without symbols module and offset."""
    for flags, wanted in ((("-g0",), r"main\+0x[0-9a-f]+ in told"), (("-g0", "-s"), r"told\+0x[0-9a-f]+"),
                          (("-g0", "-static"), r"main\+0x[0-9a-f]+ in told")):
        recording = record(context, "recording" + "".join(flags), [compile_c(context, "told", PROGRAM, "-pthread", *flags)])
        query = "SELECT location FROM events WHERE process = 'p1' AND kind = 'read' AND channel IS NOT NULL AND location IS NOT NULL"
        rows = context.run([context.pastcone, "sql", recording, query, "--tsv"])
        places = rows.stdout.decode().splitlines()[1:]
        context.expect(places and all(re.fullmatch(wanted, place) for place in places), f"{flags}: {places}", rows)


MIDDLE = r"""
#include <unistd.h>
long middle(int fd, char *to, long n) { long got = read(fd, to, n); return got + 0 * n; }
long later(int fd, char *to, long n) { long got = middle(fd, to, n); return got ^ 0; }
"""
PLUGIN = r"""
#include <unistd.h>
int plugin(int fd) {
  int done = write(fd, "one\ntwo\n", 8) == 8;  // plugin: plugin
  return done;
}
"""
CPLUSPLUS = r"""
#include <dlfcn.h>
#include <unistd.h>
#include <fstream>
#include <iostream>
#include <string>
extern "C" long later(int fd, char *to, long n);
struct Reader {
  std::string line;
  bool next(std::istream &in) {
    bool more = bool(std::getline(in, line));  // getline: next
    return more;
  }
};
int main() {
  int ends[2];
  if (pipe(ends) != 0) return 1;
  void *library = dlopen("./plugin", RTLD_NOW);
  if (library == nullptr || !reinterpret_cast<int (*)(int)>(dlsym(library, "plugin"))(ends[1])) return 1;
  char bytes[4];
  if (later(ends[0], bytes, 4) != 4) return 1;  // library: main
  std::ifstream in("/proc/self/fd/" + std::to_string(ends[0]));
  Reader reader;
  close(ends[1]);
  return reader.next(in) ? 0 : 1;
}
"""


def test_where_libraries(context):
    """Libraries without debug information in between, libstdc++ among them, and one that is opened at run time."""
    compile_c(context, "libmiddle.so", MIDDLE, "-g0", "-shared", "-fPIC")
    compile_c(context, "plugin", PLUGIN, "-shared", "-fPIC")
    program = compile_c(context, "told", CPLUSPLUS, "-L.", "-lmiddle", "-Wl,-rpath,$ORIGIN", "-ldl", compiler="g++")
    recording = record(context, "recording", [program])
    events = listed(context, recording)
    for source, name, kind in ((PLUGIN, "plugin", "write"), (CPLUSPLUS, "library", "read"), (CPLUSPLUS, "getline", "read")):
        found = [at(event) for event in events if event["kind"] == kind]
        context.expect(marked(source, name) in found, f"{name}: {marked(source, name)} is not in {found}")


CRASH = r"""
#include <stdio.h>
#include <unistd.h>
__attribute__((noinline)) static int use(int *value) {
  return *value + 1;  // fault: use
}
int main(int argc, char **argv) {
  printf("before\n");
  fflush(stdout);
  if (argc > 1) for (;;) usleep(1000);  // sleeps: main
  return use((int *)argv[argc]);
}
"""


def test_where_crashed(context):
    """Where it died; and, of what was killed, where it was until then."""
    program = compile_c(context, "told", CRASH)
    events = listed(context, record(context, "recording", [program], 128 + signal.SIGSEGV))
    context.expect(events[-1]["kind"] == "fatal" and at(events[-1]) == marked(CRASH, "fault"), f"{events[-1]}")
    killed = record(context, "killed", ["timeout", "-s", "KILL", "0.5", program, "on"], 137)
    sleeps = [at(event) for event in listed(context, killed) if "nanosleep" in event["kind"] and event["event"].startswith("p2:")]
    context.expect(len(sleeps) > 10 and set(sleeps) == {marked(CRASH, "sleeps")}, f"{set(sleeps)}")


def test_where_graph_commands(context):
    """The commands show it if it is known, or with --where."""
    recording = record(context, "recording", [compile_c(context, "told", PROGRAM, "-pthread")])

    def ask(*arguments):
        result = context.run([context.pastcone, *arguments, recording, "--json"], label=" ".join(arguments))
        context.expect(result.status == 0 and not result.stderr, "a question", result)
        return json.loads(result.stdout)
    query = "SELECT send, receive FROM messages WHERE send LIKE 'p2:%'"
    rows = context.run([context.pastcone, "sql", recording, query, "--tsv"]).stdout.decode().splitlines()
    send, receive = rows[1].split("\t")
    wanted = marked(PROGRAM, "inlined"), marked(PROGRAM, "read")
    context.expect(ask("hb", send, receive)["a_location"] is None, "known without a replay")
    found = ask("hb", send, receive, "--where")
    places = [at({"location": found["chain"][0][name]}) for name in ("from_location", "to_location")]
    context.expect(tuple(places) == wanted, f"{found}")
    context.expect([at({"location": found[name]}) for name in ("a_location", "b_location")] == list(wanted), f"{found}")
    context.expect(ask("path", send, receive)["chain"][0]["from_location"] == found["a_location"], "path")
    for command in (("cone", receive), ("cut", send, receive)):
        threads = {each["thread"]: at(each) for each in ask(*command)["threads"]}
        context.expect((threads["p2"], threads["p1"]) == wanted, f"{command}: {threads}")
    future = {each["thread"]: at(each) for each in ask("cone", "--future", send)["threads"]}
    context.expect(future["p1"] == wanted[1], f"{future}")
    for command in (("hb", send, receive), ("path", send, receive), ("cone", receive), ("cut", send, receive)):
        text = context.run([context.pastcone, *command, recording]).stdout.decode()
        context.expect(all(f"told.c:{line} in {function}" in text for function, line in wanted), text)


def test_where_kept(context):
    """What was found is kept in the recording, and made again where it is damaged or gone."""
    program = compile_c(context, "told", PROGRAM, "-pthread")
    recording = record(context, "recording", [program])
    kept = os.path.join(recording, "where.idx")
    first = listed(context, recording)
    before = os.stat(kept)
    context.expect(listed(context, recording) == first and os.stat(kept).st_ino == before.st_ino, "it was made again")
    with open(kept, "r+b") as file:
        file.seek(before.st_size // 2)
        file.write(b"damaged")
    context.expect(listed(context, recording) == first, "a damaged where.idx was used")
    with open(kept, "rb") as file:
        context.expect(b"damaged" not in file.read(), "a damaged where.idx was not made again")
    other = record(context, "other", [program])
    shutil.copy(kept, os.path.join(other, "where.idx"))
    foreign = os.stat(os.path.join(other, "where.idx")).st_ino
    listed(context, other)
    context.expect(os.stat(os.path.join(other, "where.idx")).st_ino != foreign, "that of another recording was used")
    context.expect(context.replay(recording, "--verify").status == 0, "replay")


def test_where_redis(context):
    """A server without debug information, stripped: places are modules and offsets, and they tell its calls apart."""
    context.need("redis-server", "redis-cli")
    script = ("redis-server --port 0 --unixsocket $PWD/redis.socket --save '' > server.log 2>&1 &\n"
              "until redis-cli -s redis.socket ping 2>/dev/null | grep -q PONG; do sleep 0.02; done\n"
              "redis-cli -s redis.socket set key value; redis-cli -s redis.socket get key; redis-cli -s redis.socket shutdown nosave; wait\n")
    recording = context.path("recording")
    result = context.record(recording, ["sh", "-c", script], cwd=context.work)
    context.expect(b"value" in result.stdout, "record", result)
    query = ("SELECT DISTINCT kind, location FROM events WHERE channel IS NOT NULL AND kind IN ('read', 'write', 'writev') "
             "AND process IN (SELECT process FROM processes WHERE program LIKE '%redis-%')")
    rows = context.run([context.pastcone, "sql", recording, query, "--json"])
    context.expect(rows.status == 0, "sql", rows)
    found = {(row["kind"], row["location"]) for row in map(json.loads, rows.stdout.splitlines())}
    if not found:
        raise Skip("redis does not read and write here")
    context.expect(all(place and re.search(r"\+0x[0-9a-f]+|:\d+ in ", place) and "libc.so" not in place for _, place in found), f"{found}")
    reads, writes = ({place for kind, place in found if kind.startswith(name)} for name in ("read", "write"))
    context.expect(reads and writes and not reads & writes, f"{found}")


GENERATED = r"""
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void) {
  static const unsigned char code[] = {0x55, 0xb8, 0x27, 0, 0, 0, 0x0f, 0x05, 0x5d, 0xc3};  // push %rbp; getpid; pop %rbp; ret
  void *memory = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(memory, code, sizeof code);
  return ((int (*)(void))memory)() == getppid();
}
"""


def test_limit_where_generated(context):
    """A call that is made by code in no file: at most a caller is known, never a place in that code."""
    events = listed(context, record(context, "recording", [compile_c(context, "told", GENERATED)]))
    found = [event["location"] for event in events if event["kind"] == "getpid"]
    context.expect(len(found) == 1 and (found[0] is None or found[0]["line"] is None), f"{found}")
    context.expect("main" in [at(event)[0] for event in events if event["kind"] == "getppid"], "the call after it")
