"""Predicates on what lies elsewhere each time, with functions of libc between: how often they hold is counted by the same steps here."""
import re

from building import compile_c
from debugging import debug

# By the environment libc uses others of its functions, which are made of other instructions.
WAYS = {"newest": "", "avx2": "-AVX512VL", "sse2": "-AVX512VL,-AVX2"}

SOURCE = r"""#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
enum { kRounds = 600 };
struct Node { struct Node* next; int number; };
int never, index_of, row, column, whole;
int elements[8], matrix[4][4];
struct Node nodes[5];
struct Node* first = nodes;
char text[40];
long sum;
static int local(int seen) {
  int own = seen % 10;
  int* there = &own;
  *there += 1;
  return own;
}
static int fibonacci(int of) {
  int rest = of;
  if (rest < 2) return rest;
  rest = fibonacci(of - 1);
  return rest + fibonacci(of - 2);
}
static void walk(int depth) {
  char own[24] = "abc";
  int level = depth;
  memset(own, depth, sizeof own);
  if (depth > 0) walk(depth - 1);
  level = -depth;
  sum += level + own[3];
}
static void work(void) {
  char other[40];
  for (int i = 0; i < kRounds; i++) {
    index_of = i % 8;
    elements[index_of] = i % 11;
    row = i % 4;
    column = i / 4 % 4;
    matrix[row][column] = i % 13;
    first = &nodes[i % 5];
    first->number = i % 7;
    memset(other, 0, sizeof other);
    whole = 0;
    snprintf(text, sizeof text, "%d", i % 100 + 100);
    whole = 1;
    strcpy(other, text);
    sum += memcmp(other, text, sizeof text) + (long)strlen(other) + (strchr(other, '1') != NULL) + local(i);
  }
  for (int i = 0; i < 6; i++) walk(12);
  sum += fibonacci(11);
}
int main(void) {
  if (fork() == 0) {
    work();
    _exit(0);
  }
  wait(NULL);
  work();
  printf("%ld\n", sum);
  return 0;
}
"""


class Counted:
    """How often each has become true."""

    def __init__(self):
        self.times, self.held = {}, {}

    def is_now(self, name, holds):
        if holds and not self.held.get(name):
            self.times[name] = self.times.get(name, 0) + 1
        self.held[name] = holds


def _of_globals(counted):
    """The steps of work(), and what holds after each."""
    index = row = column = first = 0
    elements, matrix, nodes = [0] * 8, [[0] * 4 for _ in range(4)], [0] * 5

    def look():
        counted.is_now("elements[index_of] == 3", elements[index] == 3)
        counted.is_now("matrix[row][column] > 9", matrix[row][column] > 9)
        counted.is_now("first->number == 4", nodes[first] == 4)
    for i in range(600):
        index = i % 8
        look()
        elements[index] = i % 11
        look()
        row = i % 4
        look()
        column = i // 4 % 4
        look()
        matrix[row][column] = i % 13
        look()
        first = i % 5
        look()
        nodes[first] = i % 7
        look()


def _of_calls(counted):
    def fibonacci(of, outer):
        """`outer`: what `rest` is in the calls that this one is in."""
        def look(rest):
            counted.is_now("rest == 1 in fibonacci", rest == 1 or 1 in outer)
        look(of)
        result = of
        if of >= 2:
            rest = fibonacci(of - 1, [*outer, of])
            look(rest)
            result = rest + fibonacci(of - 2, [*outer, rest])
        look(None)
        return result
    fibonacci(11, [])
    counted.times["own == 7 in local"] = 600 // 10 * 2  # 6 and one more; 7
    counted.times["level == 5 in walk"] = 6
    counted.times["level == -5 in walk"] = 6
    counted.times['whole && strcmp(text, "157") == 0'] = 6


def test_debug_moving_words(context):
    """Elements, pointers, variables of functions, also of those that call themselves, a text that libc writes."""
    counted = Counted()
    _of_globals(counted)
    _of_calls(counted)
    program = compile_c(context, "moving", SOURCE, "-g", "-O0", "-w")
    for way, without in WAYS.items():
        recording = context.path(f"recording with {way}")
        context.record(recording, [program], env={"GLIBC_TUNABLES": f"glibc.cpu.hwcaps={without}"})
        for name, times in counted.times.items():
            condition, _, function = name.partition(" in ")
            place = f" in {function}" if function else ""
            said = debug(context, recording, f"stop if p2: {condition}{place} && p2: never == 1", "continue", label=f"{way}: {name}")
            told = re.search(r"held ([\d,]+) times|held (once|never)", said.stdout.decode())
            context.expect(told, f"{way}: {name}", said)
            got = {"once": 1, "never": 0}.get(told[2]) if told[2] else int(told[1].replace(",", ""))
            context.expect(got == times, f"{way}: {name} held {got} times instead of {times}", said)
