"""gdb on a recorded process: it finds its way from the runtime to the user's functions."""
import os
import re
import signal
import time

from building import compile_c

# Waits in a call that is patched, in a libc function that has a stack frame of its own.
SLEEPING = r"""
#include <stdio.h>
#include <sys/select.h>
__attribute__((noinline)) int inner(int x) {
  struct timeval long_time = {1000, 0};
  return select(0, 0, 0, 0, &long_time) + x;
}
__attribute__((noinline)) int outer(int x) { return inner(x + 1) * 2; }
int main(void) {
  printf("%d\n", 1);
  fflush(stdout);
  return outer(3);
}
"""


def backtrace(context, program, pid):
    runtime = os.path.join(context.options.build, "bin", "pastcone-runtime")
    result = context.run(["gdb", "-q", "-batch", "-nx", "-iex", "set exec-file-mismatch off", program, "-p", str(pid),
                          "-ex", f"add-symbol-file {runtime}", "-ex", "bt"], label="gdb", timeout=60)
    return result, re.findall(r"(?m)^#\d+ .*?(?:in )?(\w+) \(", result.stdout.decode())


def test_gdb_backtrace(context):
    """gdb attached to a recorded process shows the user's frames, with patched code and without."""
    context.need("gdb")
    program = compile_c(context, "sleeping", SLEEPING)
    for number, options in enumerate(([], ["--no-patch"])):
        running = context.start_record(context.path(f"recording{number}"), [program], options)
        running.wait_for_output(b"1\n")
        pid = [pid for pid in context.mine() if pid != running.process.pid][0]
        while not open(f"/proc/{pid}/syscall", encoding="ascii").read().startswith(("23 ", "270 ")):
            time.sleep(0.01)
        result, functions = backtrace(context, program, pid)
        os.kill(pid, signal.SIGKILL)
        running.finish()
        context.expect(functions[-3:] == ["inner", "outer", "main"], f"the frames are {functions}", result)
