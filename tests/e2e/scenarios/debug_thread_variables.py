"""Predicates on a thread's own variables: those of the thread that is meant, while there is one."""
from building import compile_c
from debugging import debug

# Threads come one after the other, so that each has its variables where those of the one before were; then some at once.
PROGRAM = r"""#include <pthread.h>
#include <stdio.h>
__thread int own = 7;
int sum;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void* work(void* how) {
  for (int i = 0; i < 3; i++) {
    own += (int)(long)how;
    pthread_mutex_lock(&lock);
    sum++;
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}
int main() {
  pthread_t threads[3];
  for (long i = 1; i <= 4; i++) {
    pthread_create(&threads[0], NULL, work, (void*)i);
    pthread_join(threads[0], NULL);
  }
  for (long i = 0; i < 3; i++) pthread_create(&threads[i], NULL, work, (void*)(i + 10));
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  printf("%d\n", sum);
  return 0;
}
"""

HOLDS = ({"p1.2: own == 8": ("p1.2:", "$1 = 8"), "p1.3: own == 13": ("p1.3:", "$1 = 13"), "p1.5: own == 15": ("p1.5:", "$1 = 15"),
          "p1.4: own == 7": ("p1.4:", "$1 = 7"), "p1.7: own == 40": ("p1.7:", "$1 = 40"), "p1.8: own > 40": ("p1.8:", "$1 = 43")})
NEVER = ("p1.2: own == 9 + 2", "p1.3: own == 15", "p1: own == 8")


def _debug_thread_variables(context, *how):
    context.need("gdb")
    recording = context.path("recording")
    done = context.record(recording, [compile_c(context, "own", PROGRAM, "-O0", "-pthread")], how)
    context.expect(done.status == 0, "recording", done)
    for predicate, (thread, value) in HOLDS.items():
        result = debug(context, recording, f"stop if {predicate}", "run", "where", "print own", label=predicate)
        text = result.stdout.decode()
        context.expect(f"\n* {thread}" in text and f"\n{value}\n" in text, f"{predicate}: {thread} {value}", result)
    for predicate in NEVER:
        result = debug(context, recording, f"stop if {predicate}", "run", label=predicate)
        context.expect(b"never holds" in result.stdout, f"{predicate} never holds", result)


def test_debug_thread_variables(context):
    """What a thread has for itself begins and ends with it, though others have theirs at the same place."""
    _debug_thread_variables(context)


def test_debug_thread_variables_parallel(context):
    """The same of threads that run at once."""
    _debug_thread_variables(context, "--threads=parallel")


ENDED = r"""#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
__thread volatile int own;
volatile int told, writes;
static void* work(void* nothing) {
  own = 77;
  writes++;
  return nothing;
}
int main(void) {
  int there[2];
  char c = 'x';
  if (pipe(there) != 0) return 1;
  if (fork() == 0) {
    pthread_t thread;
    for (int i = 0; i < 2; i++) {
      pthread_create(&thread, NULL, work, NULL);
      pthread_join(thread, NULL);
      if (write(there[1], &c, 1) != 1) _exit(1);
    }
    _exit(0);
  }
  for (int i = 0; i < 2; i++) told += read(there[0], &c, 1) == 1;
  wait(NULL);
  return 0;
}
"""


def test_debug_thread_variables_ended(context):
    """Of a thread that has ended nothing holds, whether or not anything is written afterwards."""
    context.need("gdb")
    recording = context.path("recording")
    context.record(recording, [compile_c(context, "ended", ENDED, "-O0", "-pthread")])
    for predicate, said in (("p2.2: own == 77 && p1: told == 1", b"never holds"), ("p2.3: own == 77 && p1: told == 1", b"$1 = 77\n"),
                            ("p2.3: own == 77 && p1: told == 2", b"never holds"), ("p2.2: own == 77 && p2: writes == 1", b"$1 = 77\n")):
        result = debug(context, recording, f"stop if {predicate}", "continue", "focus p2.3" if "2.3" in predicate else "focus p2.2", "print own")
        context.expect(said in result.stdout, f"{predicate}: {said!r}", result)
