// What gdb is told of pastcone's runtime: how to find the way through its frames, and not to show them.
#pragma once

#include "pastcone/gdb/gdb.h"

namespace pastcone::debug {

/// Where the runtime stands in for a function of libc and calls it, its frames lie between the program's.
/// None of its names is known to gdb: a user's breakpoint at `park` is not meant for ours.
Status hide_runtime(gdb::Gdb& gdb);

}  // namespace pastcone::debug
