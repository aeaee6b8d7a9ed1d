"""docs/limitations.md, exactness: what is replayed exactly or reported, never otherwise."""
from building import compile_c
from limit_checks import expect_exact_or_said
from steps import Skip


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


VSYSCALL = """
#include <stdio.h>
#include <sys/time.h>
int main(void) {
  struct timeval now;
  long result = ((long (*)(void*, void*))0xffffffffff600000)(&now, 0);
  printf("%ld %ld.%06ld\\n", result, (long)now.tv_sec, (long)now.tv_usec);
  return 0;
}
"""


def test_limit_vsyscall(context):
    """The time from the legacy vsyscall page is not caught: what comes of it is a divergence that is named."""
    program = compile_c(context, "vsyscall", VSYSCALL)
    if context.run([program]).status != 0:
        raise Skip("the kernel has no vsyscall page")
    recording = context.path("recording")
    recorded = context.record(recording, [program])
    context.expect(recorded.status == 0, "record", recorded)
    replay = expect_exact_or_said(context, "replay", recording, recorded)
    context.expect(replay.status != 0, "another time cannot be the same", replay)


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


HALF_WRITTEN = """
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void) {
  int ends[2];
  char* page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(page + 4096, 4096);
  if (pipe(ends) != 0 || write(ends[1], "abcdefgh", 8) != 8) return 1;
  long done = read(ends[0], page + 4092, 8);
  printf("%ld %.4s\\n", done, page + 4092);
  return 0;
}
"""


def test_limit_half_written(context):
    """What a call that fails has written up to there: replayed exactly, or said. That it fails is exact."""
    program = compile_c(context, "half", HALF_WRITTEN)
    recording = context.path("recording")
    recorded = context.record(recording, [program])
    context.expect(recorded.status == 0 and recorded.stdout.startswith(b"-1 "), "record", recorded)
    expect_exact_or_said(context, "replay", recording, recorded)


ROBUST_KILLED = """
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
  pthread_mutex_t* lock = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pthread_mutexattr_t a;
  pthread_mutexattr_init(&a);
  pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(lock, &a);
  if (fork() == 0) {
    pthread_mutex_lock(lock);
    kill(getpid(), SIGKILL);
  }
  wait(NULL);
  printf("%s\\n", strerror(pthread_mutex_lock(lock)));
  return 0;
}
"""


def test_limit_robust_killed(context):
    """A robust mutex whose owner was killed while nobody waited for it: recorded as it is, replayed exactly, or said."""
    program = compile_c(context, "killed", ROBUST_KILLED, "-pthread")
    recording = context.path("recording")
    recorded = context.record(recording, [program])
    context.expect(recorded.status == 0 and recorded.stdout == b"Owner died\n", "record", recorded)
    expect_exact_or_said(context, "replay", recording, recorded)
