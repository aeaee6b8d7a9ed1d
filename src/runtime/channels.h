// Channels: the byte streams between recorded processes. Nothing of their contents is stored: a byte is known by its
// position in its direction of the connection, and its sender will produce it again.
#pragma once

#include "buffers.h"
#include "call.h"

namespace pastcone::runtime {

inline u32 channel_sent(const Fd& fd) { return fd.object * 2 + fd.end; }
inline u32 channel_received(const Fd& fd) { return fd.object * 2 + (fd.end ^ 1); }
inline stage::Direction& direction_sent(const Fd& fd) { return g.stage.connection(fd.object).direction[fd.end]; }
inline stage::Direction& direction_received(const Fd& fd) { return g.stage.connection(fd.object).direction[fd.end ^ 1]; }

/// A lock in shared memory that notices when its owner has died.
void lock_shared(u32& word, u32 tid);
void unlock_shared(u32& word);
class SharedLock {
 public:
  SharedLock(u32& word, u32 tid) : word_(word) { lock_shared(word, tid); }
  ~SharedLock() { unlock_shared(word_); }

 private:
  u32& word_;
};

/// A new connection: its number.
u32 new_connection(stage::ConnectionKind kind, bool claimed);

long send_on_channel(Call& c, const Fd& fd, Buffers& buffers);
long receive_on_channel(Call& c, const Fd& fd, Buffers& buffers);

}  // namespace pastcone::runtime
