"""Breakpoints of pastcone debug as users of gdb name, list, count and clear them; and what a stop at one shows."""
import re

from building import compile_c
from debugging import debug

GONE = r"""int total;
int gone(int n);
int main(void) {
  total = gone(3);
  return 0;
}
#line 100 "gone.c"
int gone(int n) {
  total += n;
  return 0;
}
"""


def _recorded(context, source, *flags):
    program = compile_c(context, "subject", source, *(flags or ["-O0"]))
    recording = context.path("recording")
    context.expect(context.record(recording, [program]).status == 0, "recording")
    return recording


def test_debug_points_without_source(context):
    """A line whose file is gone is named all the same, the first time too."""
    recording = _recorded(context, GONE)
    text = debug(context, recording, "break 4", "continue", "step", "stepi", "next").stdout.decode()
    context.expect(re.search(r"^101\t.*gone\.c: No such file or directory\.$", text, re.MULTILINE), f"named:\n{text}")
    context.expect(re.search(r"^0x\w+\t101\tin .*gone\.c\n102\tin .*gone\.c$", text, re.MULTILINE), f"steps:\n{text}")
