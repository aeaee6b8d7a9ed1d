#include "pastcone/debug/hidden_runtime.h"

#include <string>

#include "pastcone/patch/abi.h"
#include "pastcone/record/shared_stage.h"

namespace pastcone::debug {

Status hide_runtime(gdb::Gdb& gdb) {
  std::string runtime = TRY(record::find_runtime()).native();
  TRY(gdb.console(fmt::format("add-symbol-file -readnever {}-frames", runtime)));
  // A filter changes how gdb prints a stack (it has no `from FILE`), so there is one only where it has
  // something to do.
  TRY(gdb.console(
      "python",
      {
          "import gdb.frames",
          "from gdb.FrameDecorator import FrameDecorator",
          "class _PastconeFrame(FrameDecorator):",
          "  def function(self):",
          "    name = super().function()",
          "    return '?' * 2 if name is None else name",
          fmt::format("def _pastcone_is_ours(frame): return {} <= frame.pc() < {}", patch::kRuntimeBase,
                      patch::kRuntimeEnd),
          "class _PastconeFrames:",
          "  name, priority, enabled = 'pastcone', 100, True",
          "  def filter(self, frames):",
          "    return (_PastconeFrame(f) for f in frames if not _pastcone_is_ours(f.inferior_frame()))",
          "def _pastcone_execute(frame, low, high, execute=gdb.frames.execute_frame_filters):",
          "  others = [f for f in gdb.frames._sort_list() if getattr(f, 'name', '') != 'pastcone']",
          "  at, left = frame, high + 1 if high >= 0 else 1000",
          "  while not others and at is not None and left > 0 and not _pastcone_is_ours(at):",
          "    at, left = at.older(), left - 1",
          "  return execute(frame, low, high) if others or (at is not None and left > 0) else None",
          "def _pastcone_next(frame, up):",
          "  frame = frame.older() if up else frame.newer()",
          "  while frame is not None and _pastcone_is_ours(frame):",
          "    frame = frame.older() if up else frame.newer()",
          "  return frame",
          // As commands, for their errors to be gdb's own.
          "class _PastconeMove(gdb.Command):",
          "  def __init__(self): super().__init__('pastcone-move', gdb.COMMAND_STACK)",
          "  def invoke(self, count, terminal):",
          "    up, left, begin = int(count) > 0, abs(int(count)), gdb.selected_frame()",
          "    at, next = begin, _pastcone_next(begin, up)",
          "    while next is not None and left > 0:",
          "      at, next, left = next, _pastcone_next(next, up), left - 1",
          "    if at == begin and int(count) != 0:",
          "      raise gdb.GdbError(\"Initial frame selected; you can't go up.\" if up else"
          " \"Bottom (innermost) frame selected; you can't go down.\")",
          "    at.select()",
          "    gdb.execute('frame')",
          "class _PastconeLevel(gdb.Command):",
          "  def __init__(self): super().__init__('pastcone-level', gdb.COMMAND_STACK)",
          "  def invoke(self, level, terminal):",
          "    frame = gdb.newest_frame()",
          "    while frame is not None and frame.level() < int(level): frame = frame.older()",
          "    if frame is None or _pastcone_is_ours(frame):",
          "      raise gdb.GdbError('No frame at level %s.' % level)",
          "    frame.select()",
          "    gdb.execute('frame')",
          "_PastconeMove(), _PastconeLevel()",
          // Of functions that are inlined into each other, innermost first (inlined.h).
          "def _pastcone_functions():",
          "  block, names = gdb.block_for_pc(gdb.newest_frame().pc()), []",
          "  while block is not None and not block.is_static and not block.is_global:",
          "    if block.function is not None: names.append(block.function.print_name)",
          "    block = block.superblock",
          "  return names",
          "def _pastcone_hidden(function):",
          "  names, shown, frame = _pastcone_functions(), 0, gdb.newest_frame()",
          "  while frame is not None and frame.type() == gdb.INLINE_FRAME:",
          "    shown, frame = shown + 1, frame.older()",
          "  hidden = len(names) - 1 - shown",
          "  return hidden - names.index(function) if function in names[:max(hidden, 0)] else 0",
          "gdb.frame_filters['pastcone'] = _PastconeFrames()",
          "gdb.frames.execute_frame_filters = _pastcone_execute",
      }));
  return {};
}

}  // namespace pastcone::debug
