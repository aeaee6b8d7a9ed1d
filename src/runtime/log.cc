#include "log.h"

#include "free_list.h"
#include "thread.h"

namespace pastcone::runtime {

using format::ChunkHeader;
using format::kChunkRoom;
using format::kChunkSize;

namespace {
u64 word_at(const char* p) {
  u64 w;
  __builtin_memcpy(&w, p, 8);
  return w;
}

/// Two words at once; three of these in a row do not wait for each other.
u64 fold(u64 state, u64 key, const char* p) {
  unsigned __int128 product = (unsigned __int128)(word_at(p) ^ key) * (word_at(p + 8) ^ state);
  return (u64)product ^ (u64)(product >> 64);
}
}  // namespace

void Hash::bytes(const void* data, size_t n) {
  auto p = (const char*)data;
  mix(n);
  if (n >= 48) {
    u64 a = state, b = state ^ 0x8bb84b93962eacc9, c = state ^ 0x4b33a62ed433d4a3;
    for (; n >= 48; p += 48, n -= 48) {
      a = fold(a, 0xa0761d6478bd642f, p);
      b = fold(b, 0xe7037ed1a0b428db, p + 16);
      c = fold(c, 0x8ebc6af09c88c6e3, p + 32);
    }
    mix(a);
    mix(b);
    mix(c);
  }
  for (; n >= 8; p += 8, n -= 8) mix(word_at(p));
  if (n) {
    u64 w = 0;
    for (size_t i = 0; i < n; ++i) w |= (u64)(u8)p[i] << (8 * i);
    mix(w);
  }
}

// --- chunks ----------------------------------------------------------------------------------------------------------

namespace {

void wake_recorder() {
  auto& header = g.stage.header();
  add(header.activity, 1);
  if (load(header.recorder_sleeps)) futex_wake(header.activity);
}

/// A chunk with disk space behind it. The recorder prepares them; if it falls behind (or is gone) we do it ourselves.
bool take_chunk(u32& index) {
  auto& header = g.stage.header();
  if (load(header.stopped)) return false;
  if (pop_free(header.free_chunks, &g.stage.chunk_link(0), index)) return true;
  index = add(header.next_chunk, 1u);
  if (index >= stage::kMaxChunks) {
    stop_recording(format::StopReason::kLimit);
    return false;
  }
  wake_recorder();
  for (int tries = 0; load(header.chunks_ready) <= index; ++tries) {
    if (load(header.stopped)) return false;
    u32 seen = load(header.chunk_futex);
    if (load(header.chunks_ready) > index) break;
    if (tries > 2) {
      long result = sys(__NR_fallocate, own_fd(stage::kFdTrace), 0, (u64)index * kChunkSize, kChunkSize);
      if (!is_error(result)) return true;
      if (result == -ENOSPC || result == -EDQUOT) {
        stop_recording(format::StopReason::kNoSpace);
        return false;
      }
    }
    Timespec wait{0, 20'000'000};
    futex_wait(header.chunk_futex, seen, &wait);
  }
  return true;
}

}  // namespace

void stop_recording(format::StopReason reason) {
  auto& header = g.stage.header();
  swap_if(header.stopped, 0u, (u32)reason);
  wake_recorder();
}

char* map_chunk(u32 index) {
  // Chunks are used again soon after they were packed: one that is mapped already costs no page faults.
  static u64 mapped[stage::kMaxChunks / 64];
  char* at = (char*)(kLiveBase + (u64)index * kChunkSize);
  u64 bit = u64{1} << (index % 64);
  if (load(mapped[index / 64]) & bit) return at;
  count_own_memory(process(), kChunkSize);
  long result = sys(__NR_mmap, at, kChunkSize, kProtRead | kProtWrite, kMapShared | kMapFixed, own_fd(stage::kFdTrace),
                    (u64)index * kChunkSize);
  if (is_error(result)) return nullptr;
  __atomic_fetch_or(&mapped[index / 64], bit, __ATOMIC_ACQ_REL);
  return at;
}

bool open_chunk(Thread& t, Window& window, format::Stream stream, u64 first_event) {
  u32 index;
  if (!take_chunk(index)) return false;
  char* at = map_chunk(index);
  if (!at) {
    stop_recording(format::StopReason::kLimit);
    return false;
  }
  auto& header = *(ChunkHeader*)at;
  header = ChunkHeader{};
  header.version = format::kVersion;
  header.stream = (u8)stream;
  header.process = t.process->number;
  header.thread = t.number;
  header.sequence = window.sequence++;
  header.first_event = first_event;
  store(header.magic, format::kChunkMagic);
  window.base = at;
  window.at = sizeof(ChunkHeader);
  window.end = kChunkSize;
  window.chunk = index;
  window.open = true;
  return true;
}

void close_chunk(Window& window, bool last) {
  if (!window.open) return;
  auto& header = *(ChunkHeader*)window.base;
  header.flags = (u8)(format::kChunkClosed | (last ? format::kChunkLast : 0));
  window.open = false;
  push_free(g.stage.header().closed_chunks, &g.stage.chunk_link(0), window.chunk);
  wake_recorder();
}

void open_log(u32, u32) {
  Log& log = current().log;
  log = Log{};
  if (!open_chunk(current(), log.events, format::Stream::kEvents, 0)) log.off = true;
}

void close_log() {
  Thread& t = current();
  Log& log = t.log;
  t.next_entry = 0;
  t.operations = &t.own_operations;  // the chunk will be another's
  close_chunk(log.data, true);
  close_chunk(log.locks, true);
  close_chunk(log.events, true);
  log.off = true;
}

// --- writing ---------------------------------------------------------------------------------------------------------

void Log::next_chunk() {
  close_chunk(events, false);
  if (!open_chunk(current(), events, format::Stream::kEvents, event_count)) off = true;
}

void Log::word64(u64 value) {
  for (int i = 0; i < 8; ++i) byte((u8)(value >> (8 * i)));
}

void Log::commit() {
  if (off) return;
  if (load(g.stage.header().stopped)) {  // whatever any process writes from now on could not be matched by the others
    off = true;
    return;
  }
  store(((ChunkHeader*)events.base)->used, events.at - sizeof(ChunkHeader));
}

void Log::payload(const void* bytes, u64 n) {
  auto from = (const char*)bytes;
  while (n && !off) {
    if (!data.open || data.at == data.end) {
      close_chunk(data, false);
      if (!open_chunk(current(), data, format::Stream::kData, event_count)) {
        off = true;
        return;
      }
    }
    u64 part = min(n, data.end - data.at);
    memcpy(data.base + data.at, from, part);
    data.at += part;
    from += part;
    n -= part;
    store(((ChunkHeader*)data.base)->used, data.at - sizeof(ChunkHeader));
  }
}

// --- reading ---------------------------------------------------------------------------------------------------------

u64 Log::read_varint() {
  u64 value = 0;
  for (int shift = 0; shift < 64 && !at_end(); shift += 7) {
    u8 b = read_byte();
    value |= (u64)(b & 0x7f) << shift;
    if (!(b & 0x80)) break;
  }
  return value;
}

u64 Log::read_word64() {
  u64 value = 0;
  for (int i = 0; i < 8; ++i) value |= (u64)read_byte() << (8 * i);
  return value;
}

const char* Log::read_payload(u64 n) {
  if (!n) return "";  // a stream without data is not mapped at all
  if (data.end - data.at < n) return nullptr;
  if (load(*data_ready) < data.at + n) await_data(data.at + n);
  const char* bytes = data.base + data.at;
  data.at += n;
  return bytes;
}

void Log::await_data(u64 end) {
  auto& futex = g.stage.header().feed_futex;
  for (;;) {
    u32 seen = load(futex);
    if (load(*data_ready) >= end) return;
    futex_wait(futex, seen);
  }
}

}  // namespace pastcone::runtime
