// Standard output and error under other names. Who opens them again writes output too, which replay has to show.
#pragma once

#include "call.h"

namespace pastcone::runtime {

/// The descriptor that a path means by its spelling; -1: another file. The same in record and replay.
i64 descriptor_named(u64 path);
/// While recording: what was just opened for writing, by this path of this directory, is output; kClosed: it is not.
Fd find_output(int opened, u64 directory, u64 path);

}  // namespace pastcone::runtime
