// Channels: the byte streams between recorded processes. Nothing of their contents is stored: a byte is known by its
// position in its direction of the connection, and its sender will produce it again.
#pragma once

#include "buffers.h"
#include "call.h"

namespace pastcone::runtime {

inline u32 channel_sent(const Fd& fd) { return fd.object * 2 + (fd.kind == FdKind::kFifo ? 0 : fd.end); }
inline u32 channel_received(const Fd& fd) { return fd.object * 2 + (fd.kind == FdKind::kFifo ? 0 : fd.end ^ 1); }
inline stage::Direction& direction_of(u32 channel) { return g.stage.connection(channel / 2).direction[channel % 2]; }
inline stage::Direction& direction_sent(const Fd& fd) { return direction_of(channel_sent(fd)); }
inline stage::Direction& direction_received(const Fd& fd) { return direction_of(channel_received(fd)); }

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

/// The same, for an end that other processes hold too, or nothing.
class OptionalLock {
 public:
  OptionalLock(u32* word, u32 tid) : word_(word) {
    if (word) lock_shared(*word, tid);
  }
  ~OptionalLock() {
    if (word_) unlock_shared(*word_);
  }

 private:
  u32* word_;
};

/// SO_PEEK_OFF: each peek goes on where the last one ended.
bool peeks_go_on(int fd);

/// A new connection: its number.
u32 new_connection(stage::ConnectionKind kind, bool claimed);

long send_on_channel(Call& c, const Fd& fd, Buffers& buffers);
long receive_on_channel(Call& c, const Fd& fd, Buffers& buffers);

// --- pieces, also for packets.cc and fifos.cc ------------------------------------------------------------------------------
inline constexpr long kAgain = -1011;         ///< in the log: it would have blocked, and was tried again
inline constexpr long kContinue = -0x100000;  ///< kContinue - n: n bytes went, the rest was tried again
inline constexpr u64 kUrgent = 1, kPeek = 2, kTruncated = 0x20, kDontWait = 0x40, kWaitAll = 0x100;
inline constexpr int kReceiveTimeout = 20, kSendTimeout = 21;  // SO_RCVTIMEO, SO_SNDTIMEO

u64 message_flags(Call& c);        ///< MSG_…
inline bool has_header(Call& c) { return c.number == __NR_recvmsg || c.number == __NR_recvmmsg; }
bool is_shared(const Fd& fd);      ///< record: several processes hold this end
bool is_nonblocking(Call& c);      ///< record
/// Record: waits until the descriptor is ready, with the turn given up. 1: it is; 0: the socket's own time limit is over; -EINTR.
long wait_ready(Call& c, u16 events, int timeout_option);
/// Record: a call that may sleep, made again where only the runtime was interrupted.
template <typename F>
long restarting(Call& c, F attempt) {
  for (;;) {
    long result = attempt();
    if (result != -EINTR) return result;
    result = interrupted(c);
    if (!is_restart(result) || (load(c.t.signals.captured) & ~c.t.signals.mask)) return result;
    clear_interrupt(c.t);
  }
}
void write_offset(Log& log, u64 position);
bool read_offset(Thread& t, u64& position);
void write_send(Call& c, u32 channel, u64 length);
void write_receive(Call& c, u32 channel, long result);

}  // namespace pastcone::runtime
