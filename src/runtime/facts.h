// Replay with stage::kFlagIndex: what calls did to channels and processes beyond what the log says of them. The event graph is made
// with it (stage::FactKind).
#pragma once

#include "call.h"

namespace pastcone::runtime {

/// The call is done.
void note_facts(Call& c, long result);
/// A descriptor that is closed, or becomes another: of the process's own table.
void note_dropped(const Fd& entry);
/// With its process all its descriptors end.
void note_all_dropped(Thread& t);

}  // namespace pastcone::runtime
