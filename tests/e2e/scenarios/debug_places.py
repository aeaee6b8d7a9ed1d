"""Places that several reach at once, or that one stands at already: nobody goes past them, and nobody misses them."""
from building import compile_c
from debugging import debug, values

MANY = r"""
#include <sys/wait.h>
#include <unistd.h>
volatile int x, noted;
__attribute__((noinline)) void note(int i) { noted = i; }
__attribute__((noinline)) int twice(int i) { return 2 * i; }
int main(void) {
  twice(1);
  int go[2], byte = 0;
  if (pipe(go) != 0) return 1;
  for (int child = 0; child < 8; child++) {
    if (fork() != 0) continue;
    if (read(go[0], &byte, 1) != 1) _exit(1);
    for (int i = 1; i < 4; i++) x = i, note(i);
    _exit(0);
  }
  if (write(go[1], "12345678", 8) != 8) return 1;
  for (int i = 11; i < 14; i++) x = i, note(i);
  while (wait(0) > 0) {
  }
  return 0;
}
"""

THREADS = r"""
#include <pthread.h>
#include <unistd.h>
volatile int a, b;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void* work(void* unused) {
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  getppid();
  for (int i = 1; i < 20; i++) b = i;
  getppid();
  return unused;
}
int main(void) {
  pthread_t thread;
  pthread_mutex_lock(&mutex);  // else it may be at its end before this one has left pthread_create
  pthread_create(&thread, 0, work, 0);
  pthread_mutex_unlock(&mutex);
  for (int i = 1; i < 20; i++) a = i;
  pthread_join(thread, 0);
  return 0;
}
"""


def _recorded(context, source, *flags, options=()):
    program = compile_c(context, "places", source, "-O0", *flags)
    recording = context.path("places")
    recorded = context.record(recording, [program], options)
    context.expect(recorded.status == 0, "recording", recorded)
    return recording


def test_debug_places_all_at_once(context):
    """A breakpoint that all come to at the same time: everybody has stopped at it, at its first hit. pastcone has functions of that name too."""
    recording = _recorded(context, MANY)
    looks = [command for number in range(2, 10) for command in (f"focus p{number}", "print x", "print noted")]
    for _ in range(context.rounds(2, 20)):
        said = debug(context, recording, "break all note", "continue all", *looks, "focus p1", "print x", "print noted")
        found = values(said.stdout.decode())
        context.expect(found == [1, 0] * 8 + [11, 0], f"not all at the first hit: {found}", said)


def test_debug_places_on_the_last_stretch(context):
    """A breakpoint comes before the state of a predicate, also where no event is between them; and is not met again afterwards."""
    recording = _recorded(context, MANY)
    said = debug(context, recording, "break p1: note", "stop if p1: x == 13", "continue", "print x", "continue", "print x", "continue",
                 "print x", "print noted")
    found = values(said.stdout.decode())
    context.expect(found == [11, 12, 13, 12], f"breakpoints, then the predicate: {found}", said)
    said = debug(context, recording, "break p1: note if twice(x) == 24", "stop if p1: x == 13", "continue", "print x", "continue", "print x")
    found = values(said.stdout.decode())
    context.expect(found == [12, 13], f"one breakpoint, that gdb is asked about: {found}", said)
    # One that stands behind some of them stays there while the predicate is about others.
    said = debug(context, recording, "break p1: note", "continue", "continue", "stop if p2: x == 2 && p3: x == 3", "continue",
                 "focus p1", "print x", "print noted", "focus p2", "print x", "focus p3", "print x")
    found = values(said.stdout.decode())
    context.expect(found == [12, 11, 2, 3], f"p1 stays at its second breakpoint: {found}", said)


def test_debug_places_where_one_stands(context):
    """`at` holds for a process that stands there; a breakpoint can be set when its process has ended."""
    recording = _recorded(context, MANY)
    line = MANY.splitlines().index("__attribute__((noinline)) void note(int i) { noted = i; }") + 1
    said = debug(context, recording, f"stop if p1: x == 12 at places.c:{line} && p2: x == 2", "continue", "delete 1",
                 f"stop if p1: x == 12 at places.c:{line} && p2: x == 3", "continue", "focus p1", "print x", "print noted", "focus p2",
                 "print x", "delete 2", "continue all", "break p1: note if x == 13", "restart", "continue", "print x", "print noted")
    found = values(said.stdout.decode())
    context.expect(found == [12, 11, 3, 13, 12], f"p1 stays where it stands, then stops in note: {found}", said)


def test_debug_places_traced_once(context):
    """Different ways lead to the same state: it is traced once."""
    recording = _recorded(context, MANY)
    said = debug(context, recording, "trace p2: x, p3: x if p2: x % 2 == 1 && p3: x % 2 == 1", "continue")
    lines = [line for line in said.stdout.decode().splitlines() if line.startswith("Trace 1: p") and ": x = " in line]
    context.expect(len(lines) == 4 and len(set(lines)) == 4, f"four states: {lines}", said)


def test_debug_places_of_threads(context):
    """Two threads of one process, both in the middle of a computation: neither goes on while the other is taken there. A thread that has
    not begun fulfils nothing."""
    recording = _recorded(context, THREADS, "-pthread", options=["--threads=parallel"])
    for first, second in ((3, 5), (19, 1), (7, 0)):
        said = debug(context, recording, f"stop if p1.1: a == {first} && p1.2: b == {second}", "continue", "print a", "print b", "where")
        text = said.stdout.decode()
        context.expect(values(text) == [first, second] and "p1.2:" in text, f"a == {first}, b == {second}: {values(text)}", said)


def test_debug_places_of_any_thread(context):
    """What is said of the process is true when any of its threads makes it so, or stands there."""
    recording = _recorded(context, THREADS, "-pthread", options=["--threads=parallel"])
    line = THREADS.splitlines().index("  getppid();") + 1
    for condition, expected in (("b == 19", [0, 19]), ("a == 5", [5, 0]), (f"b == 0 at places.c:{line}", [0, 0])):
        said = debug(context, recording, f"stop if p1: {condition}", "continue", "print a", "print b")
        context.expect(values(said.stdout.decode()) == expected and b"never" not in said.stdout, f"{condition}: {expected}", said)


def test_limit_debug_threads(context):
    """In parallel mode what threads write without an order has no first state, unless it is asked of one of them."""
    recording = _recorded(context, THREADS, "-pthread", options=["--threads=parallel"])
    for _ in range(context.rounds(2, 20)):
        said = debug(context, recording, "stop if p1: a + b == 30", "continue")
        context.expect(b"write what it reads, and nothing says who is first; say it of one" in said.stderr, "is refused", said)
    said = debug(context, recording, "stop if p1: a == 3 && p1.2: b == 3")
    context.expect(b"say which thread is meant" in said.stderr, "all of them and one of them", said)
    said = debug(context, recording, "stop if p1.1: a == 19 && p1.2: b == 19", "continue", "print b")
    context.expect(values(said.stdout.decode()) == [19], "b == 19 was written by p1.2", said)
