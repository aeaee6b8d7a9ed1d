// Names of Unix sockets, and who has them.
#pragma once

#include "sys.h"

namespace pastcone::runtime {

/// Record: the recorded datagram socket that this address (in the program's memory) names: connection × 2 + end, or 0.
u32 find_named_socket(u64 address, u32 length);
/// A name of the kind the kernel makes when asked to choose one. Connectors get them from us.
bool is_chosen_name(u64 address, u32 length);

}  // namespace pastcone::runtime
