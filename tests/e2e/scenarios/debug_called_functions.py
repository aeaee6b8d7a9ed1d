"""Predicates that call functions of the program, which are mostly done without the process: they hold when the program itself says so."""
import re
import subprocess

from building import compile_c
from debugging import debug, values

PROGRAM = r"""
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node { int key; struct node *next; };
struct node nodes[8], *list;
int number, calls, done, never;
double level;
float weight;
char text[16] = "a";
const char *word;
__thread int own;

int digits_in(int of) { int found = 1; while (of >= 10) { of /= 10; found++; } return found; }
int length_of(const struct node *at) { return at == NULL ? 0 : 1 + length_of(at->next); }
int is_sorted(const struct node *at) {
  for (; at != NULL && at->next != NULL; at = at->next)
    if (at->key > at->next->key) return 0;
  return 1;
}
double half_of(double of) { return of / 2 + 0.25; }
float twice(float of) { return of * 2; }
double root_of(double of) { return of < 0 ? -1 : sqrt(of); }
int has_word(const char *in) { return strcmp(in, "abc") == 0; }
int letters(const char *in) { return (int)strlen(in) + (strchr(in, 'b') != NULL ? 100 : 0); }
int copied(const char *in) {
  char room[64];
  memset(room, 0, sizeof room);
  strncpy(room, in, sizeof room - 1);
  return room[0] + room[1];
}
int noted(int of) { calls++; return of; }
int own_one(int more) { return own + more; }
int shares(int of) { return 60 / (of % 7); }
unsigned long mixed(unsigned long of) {
  for (int i = 0; i < 5; i++) of = (of ^ of >> 7) * 0x9e3779b97f4a7c15ul + (of << 3 | of >> 61);
  return of % 13;
}
int first_of(const char *in) { return in[0]; }
int sum_of(int a, long b, short c, unsigned char d, int e, int f) { return a + (int)b + c + d + e * f; }
int chosen(int of) {
  switch (of % 5) {
    case 0: return 3;
    case 1: return of % 3;
    case 2: return 8;
    case 3: return of > 40;
    default: return -1;
  }
}

/// What a predicate that is true would show.
#define SHOW(name, value) printf("%s %d\n", name, (int)(value))

int main(int count, char **arguments) {
  srand(atoi(arguments[count - 1]));
  for (int i = 0; i < 7; i++) nodes[i].next = &nodes[i + 1];
  for (int i = 0; i < 60; i++) {
    SHOW("digits", digits_in(number) == 3);
    SHOW("length", length_of(list) == 3);
    SHOW("sorted", is_sorted(list));
    SHOW("half", half_of(level) > 20.5);
    SHOW("twice", twice(weight) == 14.0f);
    SHOW("root", root_of(level) < 3);
    SHOW("word", has_word(text));
    SHOW("letters", letters(text) > 101);
    SHOW("copied", copied(text) == 'a' + 'b');
    SHOW("noted", noted(number) % 3 == 1);
    SHOW("own", own_one(1) == 3);
    SHOW("mixed", mixed(number) == 4);
    SHOW("sum", sum_of(number, 2, 3, 4, 5, 6) % 2 == 1);
    SHOW("chosen", chosen(number) == 8);
    SHOW("shares", number % 7 != 0 && shares(number) == 20);
    SHOW("first", word != NULL && first_of(word) == 'c');
    puts("end");
    done++;
    switch (rand() % 8) {
      case 0: number = rand() % 3000; break;
      case 1: level = rand() % 100 - 20; break;
      case 2: weight = rand() % 10; break;
      case 3: text[rand() % 3] = "abc"[rand() % 3]; break;
      case 4: nodes[rand() % 8].key = rand() % 20; break;
      case 5: own = rand() % 4; break;
      case 6: word = rand() % 3 == 0 ? NULL : text + rand() % 3; break;
      default: list = rand() % 4 == 0 ? NULL : &nodes[rand() % 8];
    }
  }
  return 0;
}
"""

# Where it makes no sense (a division by zero, a null pointer) it does not hold.
PREDICATES = {
    "digits": "digits_in(number) == 3", "length": "length_of(list) == 3", "sorted": "is_sorted(list)", "half": "half_of(level) > 20.5",
    "twice": "twice(weight) == 14", "root": "root_of(level) < 3", "word": "has_word(text)", "letters": "letters(text) > 101",
    "copied": "copied(text) == 'a' + 'b'", "noted": "noted(number) % 3 == 1", "own": "own_one(1) == 3", "mixed": "mixed(number) == 4",
    "sum": "sum_of(number, 2, 3, 4, 5, 6) % 2 == 1", "chosen": "chosen(number) == 8", "shares": "shares(number) == 20",
    "first": "first_of(word) == 'c'",
}
BUILDS = {"plain": ["-O0"], "fast": ["-O2", "-fno-inline"], "bound": ["-O1", "-fno-inline", "-Wl,-z,now", "-fcf-protection", "-fstack-protector-all"]}


def _rises(shown, name):
    """The rounds that it is true in, and was not in the one before."""
    held = [int(match) for match in re.findall(rf"^{name} (\d)", shown, re.M)]
    return [i for i, now in enumerate(held) if now and (i == 0 or not held[i - 1])]


def test_debug_called_functions(context):
    context.need("gcc", "gdb")
    share = context.rounds(len(BUILDS), 1)  # of the predicates, each build has one
    for round_ in range(context.rounds(1, 12)):
        for number, (build, options) in enumerate(BUILDS.items()):
            program = compile_c(context, f"functions_{build}", PROGRAM, *options, "-lm")
            recording = context.path(f"{build}{round_}")
            shown = context.record(recording, [program, str(7 + round_)]).stdout.decode()
            for name, predicate in list(PREDICATES.items())[number % share::share]:
                expected = _rises(shown, name)[:2]
                commands = ["tbreak puts", "continue", f"stop if p1: {predicate}"] + ["continue", "print done"] * len(expected)
                if not expected:
                    continue
                said = debug(context, recording, *commands, label=predicate)
                found = values(said.stdout.decode())
                context.expect(found == expected, f"{build}, {7 + round_}: {predicate}: {found} instead of {expected}", said)


CHANGES = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
int *page, *other, key, done, late;
int (*found)(void);
__thread int own;
int in_page(void) { return key && page ? page[3] : -1; }
int in_other(void) { return other ? other[2] : -1; }
int own_one(int more) { return own + more; }
int of_library(void) { return found ? found() : -1; }
static void *run(void *unused) {
  for (int i = 1; i <= 4; i++) {
    own = i;
    getppid();
  }
  return unused;
}
int main(void) {
  page = mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  key = 1;
  mprotect(page, 4096, PROT_READ | PROT_WRITE);
  done = 1;
  page[3] = 5;
  done = 2;
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  pthread_join(thread, 0);
  late = 1;
  void *library = dlopen("./first.so", RTLD_NOW);
  found = dlsym(library, "get");
  done = 3;
  void *before = found;
  dlclose(library);
  found = dlsym(dlopen("./second.so", RTLD_NOW), "get");
  done = 4;
  printf("%d %d\n", found(), before == (void *)found);
  int file = memfd_create("shared", 0);
  ftruncate(file, 4096);
  other = mmap(0, 4096, PROT_READ, MAP_SHARED, file, 0);
  if (fork() == 0) {
    int *mine = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    mine[2] = 5;
    done = 50;
    mine[2] = 6;
    _exit(0);
  }
  wait(0);
  return 0;
}
"""


def test_debug_called_functions_anew(context):
    """What a function depends on besides what it has read: what is mapped, whose thread is there."""
    context.need("gcc", "gdb")
    for name, number in (("first", 10), ("second", 20)):
        context.write(f"{name}.c", f"int get(void) {{ return {number}; }}\n")
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", f"{name}.so", f"{name}.c"], cwd=context.work, check=True)
    recording = context.path("recording")
    context.record(recording, [compile_c(context, "changes", CHANGES, "-O0", "-pthread", "-ldl")], cwd=context.work)
    for predicate, shown, expected in (
            ("p1: in_page() == 5", "done", 1), ("p1.2: own_one(0) == 3", "own", 3), ("p1: of_library() == 20", "done", 3),
            ("p1: in_other() == 5", "other[2]", 5), ("p1: in_other() == 6", "other[2]", 6)):
        said = debug(context, recording, f"stop if {predicate}", "continue", f"print {shown}", label=predicate)
        context.expect(values(said.stdout.decode()) == [expected], f"{predicate}", said)
    said = debug(context, recording, "stop if p1.2: own_one(0) == 4 && p1: late == 1", "continue")
    context.expect(b"the recording ends here" in said.stdout, "of a thread that has ended", said)
