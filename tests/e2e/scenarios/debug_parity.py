"""pastcone debug, where a user of gdb would notice a difference: the first instruction, `next` out of a call, bodies of commands, vfork."""
import re
from pathlib import Path

from building import compile_c
from debugging import debug, expect_lines

SOURCE = r"""#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int total;
static int park(int n) {
  total += n;
  return total;
}
int main(int argc, char** argv) {
  int ends[2];
  if (argc > 1) return atoi(argv[1]);
  if (pipe(ends) != 0) return 1;
  for (int i = 1; i <= 4; i++) park(i);
  pid_t child = vfork();
  if (child == 0) {
    execl(argv[0], argv[0], "3", (char*)0);
    _exit(9);
  }
  int status = 0;
  waitpid(child, &status, 0);
  char byte = (char)WEXITSTATUS(status);
  write(ends[1], &byte, 1);
  read(ends[0], &byte, 1);
  return byte - 3;
}
"""


def _recorded(context):
    program = compile_c(context, "subject", SOURCE, "-g", "-O0")
    recording = context.path("recording")
    context.record(recording, [program])
    return recording


def _event(context, recording, call):
    text = context.run([context.pastcone, "events", recording], label="events").stdout.decode()
    return re.search(rf"^(p1:\d+) +{call} ", text, re.MULTILINE)[1]


def _session(context, recording, *commands):
    return debug(context, recording, *commands).stdout.decode()


def test_debug_first_instruction(context):
    """A session begins at the program's first instruction: it can be looked at, stepped from and continued from."""
    text = _session(context, _recorded(context), "bt 1", "stepi", "break main", "continue", "next")
    context.expect(re.search(r"^#0 .* in _start \(\) from ", text, re.MULTILINE), f"the stack:\n{text}")
    context.expect("Breakpoint 1, main (argc=1" in text and "\n12\t  if (argc" in "\n" + text and "\n13\t" in text, f"the way on:\n{text}")


def test_debug_next_out_of_call(context):
    """At an event one is shown the line that made the call; `next` finishes that line. `back` leads there again."""
    recording = _recorded(context)
    text = _session(context, recording, f"run to {_event(context, recording, 'write')}", "next", "back", "next", "print byte")
    lines = re.findall(r"^(\d+)\t", text, re.MULTILINE)
    context.expect(lines == ["23", "24", "23", "24"] and "$1 = 3" in text, f"{lines} in:\n{text}")


def test_debug_names_of_the_runtime(context):
    """The runtime has a function of the same name, too: nobody asks for that one."""
    text = _session(context, _recorded(context), "break park", "continue", "info functions ^park$")
    context.expect(re.search(r"^Breakpoint 1 at 0x\w+: file .*, line 7\.$", text, re.MULTILINE), f"one place:\n{text}")
    context.expect("pastcone::" not in text, f"names:\n{text}")


def test_debug_bodies(context):
    """define, document, commands, if, while, python: with lines of their own, from a file."""
    script = Path(context.path("script"))
    script.write_text("""define twice
  print $arg0 * 2
  print $argc
end
document twice
Print two times a value.
end
help twice
twice 21
break park
commands
  silent
  if n > 1
    python print("python says", gdb.parse_and_eval("n"))
  end
  continue
end
tbreak 15
set print address off
continue
python
for i in range(2):
  print("loop", i)
end
set $i = 0
while $i < 3
  print $i
  set $i = $i + 1
  if $i == 2
    loop_break
  end
end
info breakpoints
""")
    text = _session(context, _recorded(context), f"source {script}", "print $i")
    expected = ["Print two times a value.", "$1 = 42", "$2 = 1", "python says 2", "python says 3", "python says 4",
                "Temporary breakpoint 2, main", "loop 0", "loop 1", "$3 = 0", "$4 = 1", "breakpoint already hit 4 times", "        silent",
                "$5 = 2"]
    expect_lines(context, text, *expected)
    context.expect("python says 1\n" not in text and "Breakpoint 1, " not in text, f"silent, and the condition:\n{text}")


def test_debug_vfork(context):
    """One who waits for the child of its vfork is no riddle; nobody goes past a wait for one that was stopped."""
    recording = _recorded(context)
    text = _session(context, recording, f"run to {_event(context, recording, 'vfork')}", "where", "next", "next", "next", "where", "continue",
                    "where")
    context.expect(text.count("in vfork, until its child executes a program or ends") == 2, f"in vfork:\n{text}")
    lines = re.findall(r"^(\d+)\t", text, re.MULTILINE)
    context.expect(lines[:3] == ["16", "20", "21"], f"{lines} in:\n{text}")
    context.expect("p2 exits with status 3." in text and "ended" not in text, f"stopped at the child's end:\n{text}")
    text = _session(context, recording, "focus p2", "continue", "continue")
    context.expect("p2 exits with status 3." in text and "p2 has ended (exit 3)" in text, f"on from there:\n{text}")


def test_debug_ended_process(context):
    """What gdb knows of a program it knows when the process has ended, too; and its stack is gone."""
    result = debug(context, _recorded(context), "break park", "continue", "delete", "continue", "continue all", "list park", "print 6 * 7", "bt")
    text = result.stdout.decode()
    context.expect("$1 = 42" in text and "\n7\t  total += n;" in text, f"after the end:\n{text}")
    context.expect(b"No stack." in result.stderr and "the recording ends here" in text, f"after the end:\n{text}")
