// Who is at the other end: a table in the stage, from a key both ends can compute to the connection. The connector enters it
// before it connects, the acceptor looks there; nothing is added to what goes over the wire.
#pragma once

#include "sys.h"

namespace pastcone::runtime {

u64 address_key(u64 family, u64 a, u64 b, u64 c);
void put_address(u64 key, u32 value);
u32 find_address(u64 key);        ///< 0: not there
void drop_address(u64 key);

}  // namespace pastcone::runtime
