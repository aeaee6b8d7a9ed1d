// Replay with stage::kFlagWhere: writes down where in the program each event is, as a chain of callers (stage/where.h). Stacks are
// walked by tables that the tool made of the files' unwind information; what a walk finds is mostly known already, and costs a number.
#pragma once

#include "thread.h"

namespace pastcone::runtime {

inline bool is_located() { return g.replay && (g.stage.header().flags & stage::kFlagWhere); }

/// This part of a file is mapped here from now on, executable.
void note_code(u64 address, u64 length, u64 offset, u32 file);

/// The next event of the thread is made at these registers.
void note_place(Thread& t, const Frame& frame);
/// All events that came since, after `event`, belong to it too.
void note_same_place(Thread& t, u64 event);

void open_where(Thread& t);   ///< at the start of a thread
void close_where(Thread& t);  ///< at its end

}  // namespace pastcone::runtime
