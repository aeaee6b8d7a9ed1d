"""make and gcc: programs built, run and deleted during the recording."""

MODULES = ["list", "hash", "text", "sort", "tree", "heap"]

MAKEFILE = """
CC = gcc
CFLAGS = -O1 -g -Wall
MODULES = {modules}
TESTS = $(MODULES:%=test_%)

all: libsmall.a
libsmall.a: $(MODULES:%=%.o)
\t$(AR) rcs $@ $^
%.o: %.c small.h
\t$(CC) $(CFLAGS) -c -o $@ $<
test_%: test_%.c libsmall.a
\t$(CC) $(CFLAGS) -o $@ $< libsmall.a
check: $(TESTS)
\t@for t in $(TESTS); do ./$$t || exit 1; done
\t@rm -f $(TESTS)
.PHONY: all check
"""


def project(context):
    context.write("Makefile", MAKEFILE.format(modules=" ".join(MODULES)))
    context.write("small.h", "".join(f"int {name}_compute(int);\n" for name in MODULES))
    for number, name in enumerate(MODULES):
        context.write(f"{name}.c", f'#include "small.h"\nint {name}_compute(int n) {{\n  int s = {number};\n'
                      f"  for (int i = 0; i < n; i++) s = s * {number + 3} + i;\n  return s;\n}}\n")
        context.write(f"test_{name}.c", f'#include <stdio.h>\n#include "small.h"\nint main(void) {{\n'
                      f'  printf("{name}: %d\\n", {name}_compute(20));\n  return {name}_compute(0) != {number};\n}}\n')


def test_make_check(context):
    """`make -j4 check` of a small C project with gcc."""
    context.need("make", "gcc")
    context.exact(["make", "-j4", "check"], prepare=lambda: project(context), status=0, timeout=120)
