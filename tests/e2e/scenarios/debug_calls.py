"""Functions of the program that predicates and conditions call: what they read is known, what they write is put back."""
import re

from building import compile_c
from debugging import debug, values

# The numbers lie below the stack of the thread, and not far.
PROGRAM = r"""
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
int *numbers;
int total(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) sum += numbers[i];
  return sum;
}
int noted(int n) {
  numbers[100] += n;
  return numbers[100];
}
void *work(void *near) {
  numbers = mmap(0, 12 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  printf("below: %d\n", (char *)numbers < (char *)&near && (char *)&near - (char *)numbers < 60 << 20);
  for (int i = 0; i < 10; i++) numbers[i % 3] += i;
  printf("noted: %d\n", numbers[100]);
  return near;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, work, 0);
  return pthread_join(thread, 0);
}
"""


def test_debug_calls_near_the_stack(context):
    """Memory below the stack of the thread in which a function is called is not the function's."""
    program = compile_c(context, "below", PROGRAM, "-O0", "-pthread")
    recording = context.path("recording")
    said = context.record(recording, [program])
    context.expect(b"below: 1" in said.stdout, "where the numbers lie", said)
    said = debug(context, recording, "break work", "continue", "next", "stop if p1.2: total(3) >= 20", "continue", "print total(3)", "print i")
    context.expect(values(said.stdout.decode()) == [21, 6], f"{values(said.stdout.decode())}", said)
    said = debug(context, recording, "break work", "continue", "next", "break noted", "break 20 if noted(3) > 100", "continue")
    context.expect(b"diverged" not in said.stdout + said.stderr and b"noted: 0" in said.stdout, "a function that writes", said)


POINTERS = r"""
#include <unistd.h>
static int add(int a, int b) { return a + b; }
static int times(int a, int b) { return a * b; }
int (*table[])(int, int) = {add, times};
int main(void) {
  return write(1, "", 0) != 0;
}
"""


def test_debug_calls_by_pointer(context):
    """A process that stands in a call is not disturbed by functions that are called by pointers, nor by casts."""
    recording = context.path("recording")
    context.record(recording, [compile_c(context, "pointers", POINTERS, "-O0")])
    said = context.run([context.pastcone, "events", recording], label="events")
    event = re.search(r"(p1:\d+) +write ", said.stdout.decode()).group(1)
    said = debug(context, recording, f"run to {event}", "print table[1](3, 4)", "print (*table[0])(3, 4)", "print (int)(5)", "continue")
    context.expect(values(said.stdout.decode()) == [12, 7, 5] and b"has been changed" not in said.stderr and
                   b"the recording ends here" in said.stdout, "by pointer", said)
