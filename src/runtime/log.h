// One thread's half of the recording: what it appends while recording, what it reads back in replay. The same object in
// both modes, so that a call's code can be written once: see exchange.h.
//
// Writing: bytes go straight into the mapped chunk; ChunkHeader::used is stored last. An item is begun with begin(), which
// makes sure that it fits, and becomes part of the recording at commit().
#pragma once

#include "pastcone/trace/format.h"
#include "sys.h"

namespace pastcone::runtime {

using format::Op;
using format::Shape;

inline constexpr u32 kMaxItem = 128;  ///< bytes of an item, without its payload

/// A running 64-bit hash: what a thread did, folded.
struct Hash {
  u64 state = 0x9e3779b97f4a7c15;
  void mix(u64 value) {
    unsigned __int128 product = (unsigned __int128)(state ^ value) * 0xd6e8feb86659fd93;
    state = (u64)product ^ (u64)(product >> 64) ^ 0x2545f4914f6cdd1d;
  }
  void bytes(const void* data, size_t n);
  u8 check() const { return (u8)(state ^ state >> 32); }
};

struct Thread;
struct Window {
  char* base;        ///< mapped chunk (record), or the whole stream (replay)
  u64 at, end;       ///< offsets: next byte, and where room or data ends
  u32 chunk;         ///< record: index in `live`
  u32 sequence;
  bool open;
};

struct Log {
  Window events, data, locks;
  const u64* data_ready;  ///< replay: the director fills the data stream while we run
  u64 operations, last_entry;  ///< of the lock stream, while it is handed over to another image
  u64 event_count;   ///< events so far
  Hash hash;
  i64 clocks[12];    ///< last reading of each clock, ns
  i64 time_of_day, time_seconds;
  u64 tsc;
  bool off;          ///< record: nothing is written any more

  // --- recording
  void begin() {                     ///< room for one item
    if (!off && (events.at + kMaxItem > events.end || !events.open)) next_chunk();
  }
  void byte(u8 value) { if (!off) events.base[events.at++] = (char)value; }
  void varint(u64 value) {
    for (; value >= 0x80; value >>= 7) byte((u8)(value | 0x80));
    byte((u8)value);
  }
  void zigzag(i64 value) { varint((u64)value << 1 ^ (u64)(value >> 63)); }
  void word64(u64 value);
  void check() { byte(hash.check()); }
  void commit();                     ///< the item is part of the recording
  void payload(const void* bytes, u64 n);
  void next_chunk();                 ///< of the events

  // --- replay
  bool at_end() const { return events.at >= events.end; }
  Op peek() const { return at_end() ? Op::kNone : (Op)(u8)events.base[events.at]; }
  u8 read_byte() { return at_end() ? 0 : (u8)events.base[events.at++]; }
  u64 read_varint();
  i64 read_zigzag() { u64 v = read_varint(); return (i64)(v >> 1) ^ -(i64)(v & 1); }
  u64 read_word64();
  const char* read_payload(u64 n);   ///< n bytes of the data stream, or nullptr if there are fewer
  void await_data(u64 end);
};

// record: chunks of `live`
char* map_chunk(u32 index);
bool open_chunk(Thread& t, Window& window, format::Stream stream, u64 first_event);
void close_chunk(Window& window, bool last);
/// Starts the streams of the current thread, afresh (a new thread or process).
void open_log(u32 process, u32 thread);
/// Closes both streams: the thread ends here.
void close_log();
/// Recording stops, for all processes: the program goes on.
void stop_recording(format::StopReason reason);

}  // namespace pastcone::runtime
