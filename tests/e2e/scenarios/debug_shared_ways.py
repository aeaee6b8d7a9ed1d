"""Predicates about shared memory, by the ways in which processes come to have it, lose it, and write to it."""
from building import compile_c
from debugging import debug, values

INCLUDES = r"""#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
"""


def _recorded(context, name, source, *arguments):
    context.need("gdb")
    recording = context.path("recording-" + "-".join((name, *(argument.replace("/", "_") for argument in arguments[:1]))))
    recorded = context.record(recording, [compile_c(context, name, INCLUDES + source, "-O0", "-w", "-pthread"), *arguments])
    context.expect(recorded.status == 0, "recording", recorded)
    return recording


def _expect(context, recording, predicate, looks, wanted):
    """looks: commands at the first state in which it holds; wanted: what they print. None: it never holds."""
    said = debug(context, recording, f"stop if {predicate}", "continue", *(looks if wanted is not None else ()), label=predicate)
    if wanted is None:
        context.expect(b"never holds" in said.stdout, f"{predicate} should never hold", said)
    else:
        found = values(said.stdout.decode(errors="replace"))
        context.expect(found == wanted, f"{predicate}: {found} instead of {wanted}", said)


# The child maps the memory by itself, after the parent, twice; gives one back, moves the other, and maps it again.
KINDS = r"""
struct S { int n; } *s, *t;
int stage;
static int sysv, fd, id;
static void* map(void* at) {
  return sysv ? shmat(id, at, 0) : mmap(at, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
}
int main(int argc, char** argv) {
  int go[2];
  char c;
  sysv = strcmp(argv[1], "sysv") == 0;
  if (sysv) id = shmget(IPC_PRIVATE, 8192, 0600 | IPC_CREAT);
  else if (strcmp(argv[1], "memfd") == 0) fd = memfd_create("x", 0);
  else if (strcmp(argv[1], "shm") == 0) fd = shm_open(argv[2], O_RDWR | O_CREAT, 0600), shm_unlink(argv[2]);
  else fd = open(argv[2], O_RDWR | O_CREAT, 0600);
  if (!sysv && ftruncate(fd, 8192) != 0) return 2;
  if (pipe(go) != 0) return 3;
  if (fork() == 0) {
    if (read(go[0], &c, 1) != 1) _exit(4);
    s = map((void*)0x20000000);
    t = map((void*)0x30000000);
    stage = 1;
    s->n = 1;
    t->n = 2;
    s->n = 3;
    stage = 2;
    if (sysv) shmdt(s); else munmap(s, 8192);
    t->n = 4;
    stage = 3;
    if (!sysv) t = mremap(t, 8192, 8192, MREMAP_MAYMOVE | MREMAP_FIXED, (void*)0x50000000);
    t->n = 5;
    stage = 4;
    s = map((void*)0x20000000);
    s->n = 6;
    stage = 5;
    _exit(0);
  }
  s = map((void*)0x40000000);
  s->n = 100;
  if (write(go[1], "", 1) != 1) return 5;
  wait(0);
  s->n = 7;
  if (sysv) shmctl(id, IPC_RMID, 0);
  return 0;
}
"""


def test_debug_shared_kinds(context):
    """Files, memfd, /dev/shm and System V's; mapped later, twice, at other addresses, and moved."""
    for kind, name in (("file", context.path("memory")), ("memfd", ""), ("shm", f"/pastcone{context.random.randrange(1 << 30)}"), ("sysv", "")):
        recording = _recorded(context, "kinds", KINDS, kind, name)
        for n, stage in ((1, 1), (2, 1), (3, 1), (4, 2), (5, 3), (6, 4)):
            _expect(context, recording, f"p1: s->n == {n}", ("print s->n", "focus p2", "print stage"), [n, stage])
        _expect(context, recording, "p1: s->n == 7", ("print s->n",), [7])
        _expect(context, recording, "p2: t->n == 6 && p1: s->n == 6", ("print stage",), [4])


# Each time other memory, at the same address, which is known before there is anything.
AGAIN = r"""
struct S { int x; } *s = (void*)0x10000000;
int rounds;
int main(void) {
  usleep(1000);
  for (int r = 0; r < 3; r++) {
    if (mmap(s, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) return 3;
    if (fork() == 0) {
      for (int i = 1; i <= 3; i++) s->x = 10 * r + i;
      _exit(0);
    }
    wait(0);
    rounds = r + 1;
    munmap(s, 4096);
  }
  return 0;
}
"""


LONE = r"""
int stage;
int main(void) {
  int* at = (int*)0x10000000;
  getppid();
  mmap(at, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  stage = 1;
  *at = 5;
  stage = 2;
  return 0;
}
"""


def test_debug_shared_again(context):
    """Memory that is not there when it is asked for, and other memory at the same address."""
    _expect(context, _recorded(context, "lone", LONE), "p1: *(int*)0x10000000 == 5", ("print stage",), [1])
    recording = _recorded(context, "again", AGAIN)
    for x, rounds in ((2, 0), (13, 1), (22, 2)):
        for memory in ("s->x", "*(int*)0x10000000"):
            _expect(context, recording, f"p1: {memory} == {x}", ("print s->x", "print rounds"), [x, rounds])
    _expect(context, recording, "p1: s->x == 4", (), None)


KILLED = r"""
struct S { int n, up; } *s;
int main(void) {
  s = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pid_t child = fork();
  if (child == 0) {
    s->up = 1;
    for (;;) pause();
  }
  while (!s->up) usleep(1000);
  for (int i = 1; i <= 5; i++) {
    s->n = i;
    usleep(100);
  }
  kill(child, SIGKILL);
  waitpid(child, 0, 0);
  return 0;
}
"""


def test_debug_shared_killed(context):
    """What is written while a process sleeps in which it is killed."""
    recording = _recorded(context, "killed", KILLED)
    for n in range(1, 6):
        _expect(context, recording, f"p2: s->n == {n}", ("print s->n", "focus p1", "print s->n"), [n, n])
    _expect(context, recording, "p2: s->n == 6", (), None)


# Each of these calls writes to shared memory.
CALLS = r"""
struct S {
  int by_read, by_recv, by_readv, fds[2], status, word, woken;
  long there;
  struct stat about;
  struct timespec now;
  pthread_mutex_t mutex;
  char zeros[20000];
  int cell[4096], last;
} *s;
int stage;
int main(void) {
  int pair[2], one = 41;
  s = mmap(0, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pthread_mutexattr_t shared;
  pthread_mutexattr_init(&shared);
  pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(&s->mutex, &shared);
  socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
  memset(s->zeros, 1, sizeof s->zeros);
  memset(s->cell, 1, sizeof s->cell);
  if (fork() == 0) {
    stage = 1;
    write(pair[1], &one, 4);
    read(pair[0], &s->by_read, 4);
    stage = 2;
    write(pair[1], &one, 4);
    recv(pair[0], &s->by_recv, 4, 0);
    stage = 3;
    write(pair[1], &one, 4);
    struct iovec parts[2] = {{&s->by_readv, 2}, {(char*)&s->by_readv + 2, 2}};
    readv(pair[0], parts, 2);
    stage = 4;
    clock_gettime(CLOCK_MONOTONIC, &s->now);
    stage = 5;
    stat("/etc/passwd", &s->about);
    stage = 6;
    pipe(s->fds);
    stage = 7;
    pid_t child = fork();
    if (child == 0) _exit(3);
    waitpid(child, &s->status, 0);
    stage = 8;
    syscall(SYS_futex, &s->word, FUTEX_WAKE_OP, 1, 1, &s->woken, FUTEX_OP(FUTEX_OP_SET, 9, FUTEX_OP_CMP_EQ, 5));
    stage = 9;
    pthread_mutex_lock(&s->mutex);
    stage = 10;
    read(open("/dev/zero", O_RDONLY), s->zeros, sizeof s->zeros);
    stage = 11;
    char* page = (char*)(((long)s->cell + 4095) & -4096L);
    madvise(page, 8192, MADV_REMOVE);
    stage = 12;
    _exit(0);
  }
  wait(0);
  return 0;
}
"""


def test_debug_shared_by_calls(context):
    """What system calls write counts from their end on, for all."""
    recording = _recorded(context, "calls", CALLS)
    for stage, condition in ((1, "s->by_read == 41"), (2, "s->by_recv == 41"), (3, "s->by_readv == 41"), (4, "s->now.tv_nsec != 0"),
                             (5, "s->about.st_ino != 0"), (6, "s->fds[0] != 0"), (7, "s->status == 3 << 8"), (8, "s->woken == 9"),
                             (9, "s->mutex.__data.__lock != 0"), (10, "s->zeros[10000] == 0"), (11, "s->cell[2048] == 0")):
        # Before the mapping is filled what it has is zero.
        _expect(context, recording, f"p1: {condition} && s->cell[4095] != 0", ("focus p2", "print stage"), [stage])


# p1 and p3 share one file, p2 and p4 another; then they all share the first. Before that these run at the same time as those, and
# write to files.
GROUPS = r"""
struct S { int n, own[4]; } *a, *b;
int mine, mapped[2];
static const char* place;
static struct S* map(const char* name) {
  char path[300];
  snprintf(path, sizeof path, "%s.%s", place, name);
  int fd = open(path, O_RDWR | O_CREAT, 0600);
  if (ftruncate(fd, 4096) != 0) _exit(3);
  void* memory = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  return memory;
}
static void work(struct S* s, int who, int rounds) {
  for (int i = 0; i < rounds; i++) {
    mine++;
    s->n++;
    s->own[who]++;
    struct S* more = map(who < 2 ? "first" : "second");
    munmap(more, 4096);
    for (volatile int k = 0; k < 3000; k++) {}
  }
}
static void be_beside(int who) {
  b = map("B");
  if (who == 2 && fork() == 0) be_beside(3);
  work(b, who, 40);
  char c;
  if (read(mapped[0], &c, 1) != 1) _exit(4);  // p1 is to see all that happens to it
  a = map("A");
  work(a, who, 20);
  while (wait(0) > 0) {}
  _exit(0);
}
int main(int argc, char** argv) {
  place = argv[1];
  if (pipe(mapped) != 0) return 2;
  if (fork() == 0) be_beside(2);
  a = map("A");
  if (write(mapped[1], "22", 2) != 2) return 2;
  if (fork() == 0) {
    work(a, 1, 40);
    _exit(0);
  }
  work(a, 0, 40);
  while (wait(0) > 0) {}
  return a->n == 120 ? 0 : 1;
}
"""


def test_debug_shared_groups(context):
    """Processes that do not share anything yet go on at the same time as those that do."""
    for attempt in range(context.rounds(1, 10)):
        recording = _recorded(context, "groups", GROUPS, context.path(f"memory{attempt}"))
        for n in (1, 35, 70, 100, 120):
            _expect(context, recording, f"p1: a->n == {n}", ("print a->n", "print a->own[0] + a->own[1] + a->own[2] + a->own[3] - a->n"), [n, -1])
        _expect(context, recording, "p1: a->n == 35 && p2: b->n >= 1", ("print a->n", "focus p2", "print b->n >= 1"), [35, 1])
