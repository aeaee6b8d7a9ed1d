// FIFOs, and pipes with O_DIRECT. Anybody may open a FIFO, also processes that are not recorded, and what is in it is lost
// when all have closed it. So a reader's bytes are compared with the last ones that recorded processes wrote, which the stage
// keeps in a window; only what is found there is left to its writer.
#pragma once

#include "buffers.h"

namespace pastcone::runtime {

/// Record: `fd` has just been opened. Fills `entry` if it is a FIFO, or another way to a pipe that the process has.
bool find_fifo(int fd, Fd& entry);
/// Record: a new connection of this kind.
u32 new_fifo();

long record_fifo_send(Call& c, const Fd& fd, Buffers& buffers);
long record_fifo_receive(Call& c, const Fd& fd, Buffers& buffers);

/// Replay: what a FIFO's writer wrote, into the store, and out of it. Not in order: a writer that was killed may have left a gap.
void store_piece(Thread& t, u32 channel, u64 position, const Buffers& buffers, u64 n);
void fetch_piece(Thread& t, u32 channel, u64 position, const Buffers& buffers, u64 n);

}  // namespace pastcone::runtime
