// Replay: what a call writes into memory that a debugger watches is written by the kernel, which stops nobody, and put down in
// the process's journal (stage::Journal) when the call's event is over. What the program itself writes there is put down at once,
// if the debugger has the kernel tell us of it (src/replay/nth_write.h). Serial mode: who writes has the turn.
#pragma once

#include "call.h"
#include "signals.h"

namespace pastcone::runtime {

/// Around a call.
void begin_journal(Call& c);
void end_journal(Thread& t);
/// The call's event is followed by another one: who reads the journal is told that it does not know what was in between.
inline void spoil_journal(Thread& t) {
  if (t.journal.open) t.journal.spoilt = true;
}
/// What write_memory does, if it is watched. False: it is not, or that is for the processor to tell.
bool write_watched(u64 to, const void* from, u64 n);
/// Other memory is there now, or none: nobody knows any more what has been written there.
void note_remapped(u64 address, u64 size);
/// In the kernel's handler of SIGTRAP. False: it is not about that.
bool on_watched_write(Thread& t, const SignalInfo& info, u64 rip);

}  // namespace pastcone::runtime
