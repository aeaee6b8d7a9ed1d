"""Processes that share memory, and come to share more with others: of two groups one is made."""
import os

from building import compile_c

COMMON = r"""#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static const char* place;
static volatile int* map(const char* name, int which, int round) {
  char path[300];
  snprintf(path, sizeof path, "%s.%s%d.%d", place, name, which, round);
  int fd = open(path, O_RDWR | O_CREAT, 0600);
  if (ftruncate(fd, 4096) != 0) _exit(3);
  void* mapped = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  return mapped;
}
static void compute(int n) {
  for (volatile int i = 0; i < n * 1000; i++) {}
}
static void say(int a, int b) {
  char line[60];
  if (write(1, line, snprintf(line, sizeof line, "%d %d\n", a, b)) < 0) _exit(4);
}
"""

# Two that share b; one of them comes to those who share a, while the other one waits for its turn.
JOIN = COMMON + r"""
static void look(volatile int* b) {
  for (int i = 0; i < 10; i++) {
    say(i, *b);
    usleep(300);
  }
  _exit(0);
}
static void join(int round) {
  volatile int* b = map("b", 0, round);
  if (fork() == 0) look(b);
  usleep(2000);
  for (int i = 0; i < 50; i++) {
    ++*b;
    compute(10);
  }
  *b = 1000;
  volatile int* a = map("a", 0, round);
  *b = 2000;
  *a = 3;
  wait(0);
  _exit(0);
}
static void begin(int round) {
  if (fork() == 0) join(round);
  volatile int* a = map("a", 0, round);
  if (fork() == 0) {
    for (int i = 0; i < 20; i++) {
      *a = i;
      compute(200);
      usleep(50);
    }
    _exit(0);
  }
  while (wait(0) > 0) {}
  _exit(0);
}
int main(int argc, char** argv) {
  place = argv[1];
  for (int round = 0; round < atoi(argv[2]); round++) {
    if (fork() == 0) begin(round);
    wait(0);
  }
  return 0;
}
"""

# Each begins with a memory of its own, and then maps those of the others, in another order each.
CROSS = COMMON + r"""
static void be(int who, int round, int count) {
  volatile int* all[4];
  for (int i = 0; i < count; i++) {
    int which = (who + i) % count;
    all[which] = map("m", which, round);
    for (int k = 0; k < 20; k++) {
      int value = *all[which];
      compute(2);
      *all[which] = value + 1;
    }
  }
  say(*all[0], *all[1]);
  _exit(0);
}
int main(int argc, char** argv) {
  place = argv[1];
  for (int round = 0; round < atoi(argv[2]); round++) {
    int count = 2 + round % 3;
    for (int who = 0; who < count; who++)
      if (fork() == 0) be(who, round, count);
    while (wait(0) > 0) {}
  }
  return 0;
}
"""


def _compare(context, name, source, rounds):
    program = compile_c(context, name, source, "-O0")
    for attempt in range(context.rounds(1, 10)):
        recording, place = context.path(f"{name}{attempt}"), os.path.join(context.work, f"memory{attempt}")
        recorded = context.record(recording, [program, place, str(rounds)])
        context.expect(recorded.status == 0, "recording", recorded)
        replayed = context.replay(recording, "--verify")
        context.expect(replayed.status == 0, "the replay", replayed)


def test_shared_groups_join(context):
    """Who waits for the turn of a group that becomes part of another has it behind the one who brought them together."""
    _compare(context, "join", JOIN, 20)


def test_shared_groups_cross(context):
    """They may do so the other way round at the same time."""
    _compare(context, "cross", CROSS, 40)
