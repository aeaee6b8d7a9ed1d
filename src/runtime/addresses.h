// Who is at the other end: a table in the stage, from a key both ends can compute to the connection. The connector enters it
// before it connects, the acceptor looks there; nothing is added to what goes over the wire.
#pragma once

#include "sys.h"

namespace pastcone::runtime {

/// What a key is of; keys of different families never meet.
enum class KeyOf : u64 {
  kUnixSocket, kInetSocket, kDatagramName, kDatagramFile, kPassed, kFifo, kPacket, kFileNumber, kFile, kFileGroup, kSegment,
  kSegmentGroup, kSemaphores, kQueue, kOutput, kPassedOutput,
};

u64 address_key(KeyOf family, u64 a, u64 b = 0, u64 c = 0);
void put_address(u64 key, u32 value);
u32 find_address(u64 key);        ///< 0: not there
void drop_address(u64 key);

}  // namespace pastcone::runtime
