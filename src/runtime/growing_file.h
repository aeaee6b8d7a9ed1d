// A file that one thread of a replay writes for the tool, longer and longer, through a window onto its end.
#pragma once

#include "thread.h"

namespace pastcone::runtime {

/// Maps `size` more bytes of the thread's file in the index directory, whose name ends with `suffix`; nullptr: there is no room.
/// `first`: the thread has no window in this program image; if an earlier one had, its last window is mapped again.
char* map_window(const Thread& t, const char* suffix, u64 size, bool first);

}  // namespace pastcone::runtime
