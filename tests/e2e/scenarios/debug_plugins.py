"""Breakpoints in libraries that are loaded while the program runs: pending until then, in every process, forwards and back."""
import os
import subprocess

from building import compile_c
from debugging import debug, expect_lines, values

PLUGIN = r"""
int plugin_total;
int plugin_work(int n) {
  plugin_total += n;
  return plugin_total;
}
"""

HOST = r"""
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void use(const char* path, int first) {
  void* library = dlopen(path, RTLD_NOW);
  if (library == 0) abort();
  int (*work)(int) = (int (*)(int))dlsym(library, "plugin_work");
  for (int i = 0; i < 3; i++) work(first + i);
  dlclose(library);
}
int main(int argc, char** argv) {
  if (argc == 3) {  /* executed */
    use(argv[1], 100);
    return 0;
  }
  use(argv[1], 1);
  if (fork() == 0) {
    use(argv[1], 10);
    execl(argv[0], argv[0], argv[1], "again", (char*)0);
    abort();
  }
  wait(0);
  use(argv[1], 20);
  return 0;
}
"""


def _recorded(context):
    host = compile_c(context, "host", HOST, "-O0", "-ldl")
    context.write("plugin.c", PLUGIN)
    built = subprocess.run(["gcc", "-g", "-O0", "-shared", "-fPIC", "-o", "plugin.so", "plugin.c"], cwd=context.work, check=False)
    context.expect(built.returncode == 0, "the plugin")
    recording = context.path("plugins")
    context.expect(context.record(recording, [host, os.path.join(context.work, "plugin.so")]).status == 0, "recording")
    return recording


def test_debug_plugins(context):
    """By name and by line, temporary too, with a condition; what is loaded again is stopped in again."""
    recording = _recorded(context)
    said = debug(context, recording, "break plugin_work", "info breakpoints", *["continue", "print n"] * 4, "info breakpoints",
                 "back", "print n", "restart", "continue", "print n", "delete", "restart", "tbreak plugin.c:4 if n == 2", "continue",
                 "print n", "print plugin_total", "info breakpoints")
    text = said.stdout.decode()
    context.expect(said.status == 0, "status", said)
    expect_lines(context, text, "Breakpoint 1 (plugin_work) pending.", "<PENDING> plugin_work", "Breakpoint 1, plugin_work (n=1) at ",
                 "in plugin_work at ", "already hit 4 times", "Temporary breakpoint 2 (plugin.c:4) pending.", "Temporary breakpoint 2, ",
                 "No breakpoints")
    context.expect(values(text) == [1, 2, 3, 20, 3, 1, 2, 1], f"stopped at {values(text)}", said)


def test_debug_plugins_everywhere(context):
    """In all processes, those to come and those that execute another program."""
    recording = _recorded(context)
    said = debug(context, recording, "break all plugin_work if n % 10 == 0", *["continue all", "print n"] * 3)
    text = said.stdout.decode()
    context.expect(values(text) == [10, 100, 20], f"stopped at {values(text)}", said)


def test_debug_plugins_refused(context):
    """What no library has is refused, unless one insists; a condition that is wrong is told when it is known to be."""
    recording = _recorded(context)
    said = debug(context, recording, "break plugin_wrok")
    context.expect(said.status == 1 and b'Function "plugin_wrok" not defined.' in said.stderr, "a typing error", said)
    said = debug(context, recording, "set breakpoint pending on", "break plugin_wrok", "continue all")
    expect_lines(context, said.stdout.decode(), "Breakpoint 1 (plugin_wrok) pending.", "the recording ends here")
    said = debug(context, recording, "break plugin_work if nothing == 1", "continue all")
    context.expect(said.stderr.count(b'Error in re-setting breakpoint 1: No symbol "nothing" in current context.') == 1, "the condition", said)
