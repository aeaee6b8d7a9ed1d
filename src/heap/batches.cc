// Blocks that threads get, and give back: whole batches if possible, so that nobody has to look at each
// block.
#include "chunks.h"

namespace pastcone::heap {
namespace {

// What an arena keeps: batches of a class, and units of all classes, or a part of what is used.
constexpr uint32_t kBatchesKept = 4, kUnitsKept = (96 << 10) / kUnit, kPartKept = 8;

constexpr unsigned kTiny = class_of(120);  // what glibc never joins with others

uint32_t batch_units(unsigned c) { return kSizes[c].units * kSizes[c].batch; }

bool has_room(const Arena& arena, unsigned c) {
  uint32_t part = arena.used / kPartKept, most = part > kUnitsKept ? part : kUnitsKept;
  return arena.batches[c].count < kBatchesKept && arena.batched + batch_units(c) <= most && arena.threads;
}

unsigned arena_of(const Pool& pool, const void* p) { return pool.pages.pages[pool.page_of(p)].arena; }

/// What of a list belongs to an arena; the rest. Neighbours in the list often are in memory, too.
Block* give_some(Pool& pool, unsigned number, Block* list) {
  Arena& arena = pool.arenas[number];
  const bool tiny = class_by(list, header_of(list)) <= kTiny;
  const uint32_t used = arena.used;
  Block *others = nullptr, *next;
  char* at = nullptr;
  uint32_t units = 0;
  for (; list; list = next) {
    next = list->next;
    if (arena_of(pool, list) != number) {
      list->next = others;
      others = list;
      continue;
    }
    uint64_t& header = header_of(list);
    auto own = static_cast<uint32_t>(header);
    auto place = reinterpret_cast<char*>(&header);
    if (place + own * kUnit == at) {
      at = place;
      units += own;
    } else if (at + units * kUnit == place) {
      units += own;
    } else {
      if (at) give_chunk(pool, number, at, units);
      at = place;
      units = own;
    }
  }
  if (at) give_chunk(pool, number, at, units);
  arena.recent += used - arena.used;
  if (tiny) arena.recent_tiny += used - arena.used;
  look_at_chunks(pool, number);
  return others;
}

Block* joined(Block* list, Block* rest) {
  Block* last = list;
  while (last->next) last = last->next;
  last->next = rest;
  return list;
}

void give_list(Pool& pool, Block* list) {
  while (list) {
    unsigned number = arena_of(pool, list);
    Locked locked(pool, arena_lock(number));
    list = give_some(pool, number, list);
  }
}

Block* take_batch(Pool& pool, unsigned number, unsigned c) {
  auto& own = pool.arenas[number].batches[c];
  Block* batch = own.list;
  if (!batch) return nullptr;
  own.list = batch->next_batch;
  --own.count;
  pool.arenas[number].batched -= batch_units(c);
  return batch;
}

}  // namespace

Blocks take_blocks(Pool& pool, unsigned number, unsigned c) {
  Locked locked(pool, arena_lock(number));
  if (Block* batch = take_batch(pool, number, c)) return {batch, kSizes[c].batch, nullptr, nullptr, false};
  return take_memory(pool, number, c);
}

void* take_aligned(Pool& pool, unsigned number, unsigned c, size_t alignment) {
  Locked locked(pool, arena_lock(number));
  return take_aligned_memory(pool, number, c, alignment);
}

void give_batch(Pool& pool, unsigned c, Block* batch) {
  {
    unsigned number = arena_of(pool, batch);
    Locked locked(pool, arena_lock(number));
    Arena& arena = pool.arenas[number];
    if (has_room(arena, c)) {
      batch->next_batch = arena.batches[c].list;
      arena.batches[c].list = batch;
      ++arena.batches[c].count;
      arena.batched += batch_units(c);
      return;
    }
    batch = give_some(pool, number, batch);
  }
  give_list(pool, batch);
}

void give_blocks(Pool& pool, Block* list, char* fresh, char* fresh_end) {
  if (fresh != fresh_end) {
    unsigned number = arena_of(pool, fresh);
    Locked locked(pool, arena_lock(number));
    give_chunk(pool, number, fresh, static_cast<uint32_t>(static_cast<size_t>(fresh_end - fresh) / kUnit));
  }
  give_list(pool, list);
}

void enter_arena(Pool& pool, unsigned number) {
  Locked locked(pool, arena_lock(number));
  ++pool.arenas[number].threads;
}

void leave_arena(Pool& pool, unsigned number) {
  bool last;
  {
    Locked locked(pool, arena_lock(number));
    last = --pool.arenas[number].threads == 0;
  }
  if (last) drop_batches(pool, number);
}

void drop_batches(Pool& pool, unsigned number) {
  Block* others = nullptr;  // of other arenas
  {
    Locked locked(pool, arena_lock(number));
    for (unsigned c = 0; c < kClasses; ++c)
      while (Block* batch = take_batch(pool, number, c))
        if (Block* rest = give_some(pool, number, batch)) others = joined(rest, others);
  }
  give_list(pool, others);
}

}  // namespace pastcone::heap
