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

/// Of messages and FIFOs, which come in any order: no waiting, and what was never written is 0. Bytes that nobody ever receives are
/// not kept. `lenient`: not all need be there to be read (the hash tells whether they were).
void write_store(Thread& t, u32 channel, u64 position, const Buffers& buffers, u64 n, bool lenient = false);
void read_store(Thread& t, u32 channel, u64 position, const Buffers& buffers, u64 n);
/// The same for marks: 1 for each position, apart from the bytes.
void mark_store(Thread& t, u32 channel, u64 position, u64 n);
/// How many of them are marked before the first that is not.
u64 marked_in_store(Thread& t, u32 channel, u64 position, u64 n);

}  // namespace pastcone::runtime
