#include "store.h"

#include "call.h"
#include "free_list.h"
#include "waits.h"

namespace pastcone::runtime {
namespace {

using stage::kStoreBlock;
using stage::StorePiece;

/// Mapped when first needed: most processes have no channels at all.
char* store_base(Thread& t) {
  if (g.store) return g.store;
  long at = sys(__NR_mmap, kStoreBase, g.stage.header().store_size, kProtRead | kProtWrite,
                kMapShared | kMapFixed | kMapNoReserve, own_fd(stage::kFdStore), 0);
  if (is_error(at)) diverge(t, Cause::kMachine, "the channel store cannot be mapped", 0, at);
  return g.store = (char*)at;
}

u32* links(char* base) { return (u32*)(base + stage::store_links_at(g.stage.header().store_blocks)); }

char* bytes_of(char* base, const StorePiece& piece) {
  return base + stage::store_blocks_at(g.stage.header().store_blocks) + (load(piece.block) - 1) * kStoreBlock;
}

void give_block(char* base, StorePiece& piece) {
  auto& header = g.stage.header();
  u32 block;
  if (!pop_free(header.free_blocks, links(base), block)) block = (u32)add(header.next_block, u64{1});
  store(piece.block, block + 1);
}

/// Calls f(piece, position, address in the program, length) for what lies in each piece of [position, position + n).
template <typename F>
void each_piece(char* base, const stage::Direction& direction, u64 position, u64 address, u64 n, F f) {
  while (n) {
    u64 length = min(n, kStoreBlock - position % kStoreBlock);
    f(((StorePiece*)base)[direction.first_block + position / kStoreBlock], position, address, length);
    position += length;
    address += length;
    n -= length;
  }
}

u64 ahead(const stage::Direction& direction) {
  u64 sent = min(load(direction.sent), direction.store_size), received = load(direction.received);
  return sent > received ? sent - received : 0;
}

/// A sender that is far ahead lets its receiver catch up, so that a few blocks are enough and stay in the cache. The receiver
/// may itself wait for something that the sender does next: then nothing happens for a while, and the sender may get further
/// ahead from then on.
void let_receiver_catch_up(stage::Connection& connection, stage::Direction& direction) {
  if (ahead(direction) <= direction.lead) return;
  add(connection.waiters, 1u);
  for (;;) {
    u32 seen = load(connection.futex);
    if (ahead(direction) <= direction.lead / 2) break;
    Timespec wait{0, 10'000'000};
    if (futex_wait(connection.futex, seen, &wait) != -ETIMEDOUT) continue;
    direction.lead *= 2;
    break;
  }
  add(connection.waiters, -1);
}

}  // namespace

void store_bytes(Thread& t, u32 channel, u64 position, const Buffers& buffers, u64 n) {
  auto& connection = g.stage.connection(channel / 2);
  auto& direction = connection.direction[channel % 2];
  // Nobody fetches these; and what was sent before may be from a process that had left the recording.
  if (position >= direction.store_size && load(direction.sent) < position) return;
  // Several may share this end: bytes enter the store in the order they were sent.
  wait_for(connection, stage::WaitKind::kChannel, channel, position, [&] { return load(direction.sent) >= position; });
  char* base = position < direction.store_size ? store_base(t) : nullptr;  // what is never received is not kept
  u64 at = position;
  each_part(buffers, n, [&](u64 address, u64 length) {
    u64 keep = at < direction.store_size ? min(length, direction.store_size - at) : 0;
    each_piece(base, direction, at, address, keep, [&](StorePiece& piece, u64 place, u64 from, u64 part) {
      if (!piece.block) give_block(base, piece);
      if (!read_memory(bytes_of(base, piece) + place % kStoreBlock, from, part))
        diverge(t, Cause::kMachine, "what was sent cannot be read, or the store has no room", 0, (i64)part);
    });
    at += length;
  });
  store(direction.sent, position + n);
  publish(connection);
  let_receiver_catch_up(connection, direction);
}

void fetch_bytes(Thread& t, u32 channel, u64 position, const Buffers& buffers, u64 n, bool again) {
  auto& connection = g.stage.connection(channel / 2);
  auto& direction = connection.direction[channel % 2];
  wait_for(connection, stage::WaitKind::kChannel, channel, position + n,
           [&] { return load(direction.sent) >= position + n; });
  if (position + n > direction.store_size) diverge(t, Cause::kData, "receives more than was recorded", (i64)direction.store_size, (i64)n);
  char* base = store_base(t);
  u64 at = position;
  each_part(buffers, n, [&](u64 address, u64 length) {
    each_piece(base, direction, at, address, length, [&](StorePiece& piece, u64 place, u64 to, u64 part) {
      u64 offset = place % kStoreBlock;
      if (!write_memory(to, bytes_of(base, piece) + offset, part)) diverge(t, Cause::kMemory, "no memory for what is received", 0, (i64)part);
      if (again || direction.lead == stage::kKeepAll) return;
      u64 whole = min(kStoreBlock, direction.store_size - (place - offset));
      if (add(piece.received, (u32)part) + part == whole)
        push_free(g.stage.header().free_blocks, links(base), load(piece.block) - 1);
    });
    at += length;
  });
}

void note_received(u32 channel, u64 position) {
  auto& connection = g.stage.connection(channel / 2);
  auto& direction = connection.direction[channel % 2];
  u64 before = ahead(direction);
  store(direction.received, position);
  // Who sends much waits until half of its lead is gone.
  if (before > direction.lead / 2 && ahead(direction) <= direction.lead / 2 && load(connection.waiters)) {
    add(connection.futex, 1u);
    futex_wake(connection.futex);
  }
}

// --- in any order ------------------------------------------------------------------------------------------------------------

namespace {

/// Several may come to a piece first.
void give_empty_block(char* base, StorePiece& piece) {
  StorePiece fresh{};
  give_block(base, fresh);
  memset(bytes_of(base, fresh), 0, kStoreBlock);
  if (!swap_if(piece.block, 0u, fresh.block)) push_free(g.stage.header().free_blocks, links(base), fresh.block - 1);
}

/// Marks lie behind the bytes.
u64 mark_position(const stage::Direction& direction, u64 position) {
  return (direction.store_size + kStoreBlock - 1) / kStoreBlock * kStoreBlock + position;
}

stage::Direction& direction_of(u32 channel) { return g.stage.connection(channel / 2).direction[channel % 2]; }

}  // namespace

void write_store(Thread& t, u32 channel, u64 position, const Buffers& buffers, u64 n, bool lenient) {
  auto& direction = direction_of(channel);
  char* base = position < direction.store_size ? store_base(t) : nullptr;
  each_part(buffers, n, [&](u64 address, u64 length) {
    u64 keep = position < direction.store_size ? min(length, direction.store_size - position) : 0;
    each_piece(base, direction, position, address, keep, [&](StorePiece& piece, u64 place, u64 from, u64 part) {
      if (!load(piece.block)) give_empty_block(base, piece);
      if (!read_memory(bytes_of(base, piece) + place % kStoreBlock, from, part) && !lenient)
        diverge(t, Cause::kMachine, "what was sent cannot be read, or the store has no room", 0, (i64)part);
    });
    position += length;
  });
}

void read_store(Thread& t, u32 channel, u64 position, const Buffers& buffers, u64 n) {
  auto& direction = direction_of(channel);
  if (!n) return;
  if (position + n > direction.store_size) diverge(t, Cause::kData, "receives more than was recorded", (i64)direction.store_size, (i64)n);
  char* base = store_base(t);
  each_part(buffers, n, [&](u64 address, u64 length) {
    each_piece(base, direction, position, address, length, [&](StorePiece& piece, u64 place, u64 to, u64 part) {
      if (!load(piece.block)) give_empty_block(base, piece);
      if (!write_memory(to, bytes_of(base, piece) + place % kStoreBlock, part))
        diverge(t, Cause::kMemory, "no memory for what is received", 0, (i64)part);
    });
    position += length;
  });
}

void mark_store(Thread& t, u32 channel, u64 position, u64 n) {
  auto& direction = direction_of(channel);
  if (position >= direction.store_size) return;
  char* base = store_base(t);
  n = min(n, direction.store_size - position);
  each_piece(base, direction, mark_position(direction, position), 0, n, [&](StorePiece& piece, u64 place, u64, u64 part) {
    if (!load(piece.block)) give_empty_block(base, piece);
    char* marks = bytes_of(base, piece) + place % kStoreBlock;
    for (u64 i = 0; i < part; ++i) store(marks[i], 1);
  });
}

u64 marked_in_store(Thread& t, u32 channel, u64 position, u64 n) {
  auto& direction = direction_of(channel);
  if (position + n > direction.store_size) diverge(t, Cause::kData, "receives more than was recorded", (i64)direction.store_size, (i64)n);
  char* base = store_base(t);
  u64 found = 0;
  bool ended = false;
  each_piece(base, direction, mark_position(direction, position), 0, n, [&](StorePiece& piece, u64 place, u64, u64 part) {
    if (ended || (ended = !load(piece.block))) return;
    const char* marks = bytes_of(base, piece) + place % kStoreBlock;
    for (u64 i = 0; i < part && !ended; ++i) {
      if (load(marks[i])) ++found;
      else ended = true;
    }
  });
  return found;
}

}  // namespace pastcone::runtime
