// gdb has numbers of its own for signals, the same on all systems.
#pragma once

namespace pastcone::gdb {

/// 143, gdb's "unknown signal", for one that it has no number for.
int gdb_signal(int linux_signal);
/// 0 for one that Linux does not have.
int linux_signal(int gdb_signal);

}  // namespace pastcone::gdb
