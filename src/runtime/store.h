// Replay: the bytes on their way between processes, in a file that all of them map.
#pragma once

#include "buffers.h"
#include "thread.h"

namespace pastcone::runtime {

/// What was sent on a channel, from `position` on.
void store_bytes(Thread& t, u32 channel, u64 position, const Buffers& buffers, u64 n);
/// All bytes before `position` have been received.
void note_received(u32 channel, u64 position);
/// Waits for these bytes. `again`: they will be fetched once more.
void fetch_bytes(Thread& t, u32 channel, u64 position, const Buffers& buffers, u64 n, bool again);

}  // namespace pastcone::runtime
