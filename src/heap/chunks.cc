// Memory between blocks. Blocks of all sizes lie side by side in regions, and what is freed joins what is
// free beside it, so that memory that one size leaves is there for any other. Chunks are found by two-level
// bins, as runs of pages are. Which units free chunks begin and end with is in two bitmaps, so that nobody
// looks at a block that is not free: its thread may write to it at any time.
#include "chunks.h"

namespace pastcone::heap {

/// Free: the smallest takes up two units. Its last eight bytes, too, are its units, unless the region ends
/// there.
struct Chunk {
  enum State : uint32_t {
    kNew,
    kSeen,       // when chunks were last looked at
    kDiscarded,  // its whole pages take up no memory
    kZero        // nothing behind this structure was ever written to
  };
  uint32_t units;
  State state;
  Chunk *next, *previous;
};

namespace {

constexpr uint32_t kRegionPages = 64, kRegionUnits = kRegionPages * kPageSize / kUnit;
constexpr uint32_t kLeast = 2;
constexpr uint32_t kLong = 4 * kPageSize / kUnit;  // a chunk that is worth giving back
constexpr uint32_t kPeriod = (128 << 20) / kUnit;  // that is freed before chunks are looked at
constexpr int kTries = 8;
constexpr uint32_t kRising = 8, kNear = 4;  // regions that are no coincidence; that may change places
constexpr uintptr_t kAhead = 64 << 10;      // memory that is had at once
constexpr uint32_t kManyUnits = 32 * kAhead / kUnit;  // of who has that much, so that it is but little more
constexpr uint32_t kWhole = 2 * kPageSize / kUnit;    // for blocks that are likely to be used in every page

/// Its first page. Blocks are aligned and their headers before them, so chunks begin in the middle of a unit.
struct Region {
  uint64_t begins[kRegionUnits / 64], ends[kRegionUnits / 64];
};
static_assert(sizeof(Region) == kPageSize);
constexpr uint32_t kFirstUnit = kPageSize / kUnit, kEndUnit = kRegionUnits - 1;

Region& region_of(const Pool& pool, const void* p) {
  return *reinterpret_cast<Region*>(pool.address(pool.pages.pages[pool.page_of(p)].first));
}
uint32_t unit_of(const Region& region, const void* p) {
  return static_cast<uint32_t>((reinterpret_cast<uintptr_t>(p) - reinterpret_cast<uintptr_t>(&region)) /
                               kUnit);
}
Chunk* chunk_at(Region& region, uint32_t unit) {
  return reinterpret_cast<Chunk*>(reinterpret_cast<char*>(&region) + unit * kUnit + kUnit / 2);
}
void flip(uint64_t* bits, uint32_t unit) { bits[unit / 64] ^= uint64_t{1} << unit % 64; }
bool is_set(const uint64_t* bits, uint32_t unit) { return bits[unit / 64] >> unit % 64 & 1; }

unsigned bin_of(uint32_t units) {
  if (units < 64) return units;
  unsigned log = 31 - static_cast<unsigned>(__builtin_clz(units));
  return 64 + (log - 6) * 16 + ((units >> (log - 4)) & 15);
}

void insert(Arena& arena, Region& region, uint32_t unit, uint32_t units, Chunk::State state) {
  Chunk* chunk = chunk_at(region, unit);
  unsigned bin = bin_of(units);
  Chunk* next = arena.bins[bin];
  *chunk = {units, state, next, nullptr};
  if (next)
    next->previous = chunk;
  else
    arena.bits[bin / 64] |= uint64_t{1} << bin % 64;
  arena.bins[bin] = chunk;
  flip(region.begins, unit);
  flip(region.ends, unit + units - 1);
  if (unit + units != kEndUnit) reinterpret_cast<uint64_t*>(chunk_at(region, unit + units))[-1] = units;
}

void remove(Arena& arena, Region& region, Chunk* chunk) {
  uint32_t unit = unit_of(region, chunk);
  if (chunk->next) chunk->next->previous = chunk->previous;
  if (chunk->previous) {
    chunk->previous->next = chunk->next;
  } else {
    unsigned bin = bin_of(chunk->units);
    arena.bins[bin] = chunk->next;
    if (!chunk->next) arena.bits[bin / 64] ^= uint64_t{1} << bin % 64;
  }
  flip(region.begins, unit);
  flip(region.ends, unit + chunk->units - 1);
}

Chunk* find(const Arena& arena, uint32_t units) {
  unsigned bin = bin_of(units);
  Chunk* chunk = arena.bins[bin];
  for (int i = 0; chunk && i < kTries; ++i, chunk = chunk->next)
    if (chunk->units >= units) return chunk;
  if (++bin == kChunkBins) return nullptr;
  uint64_t bits = arena.bits[bin / 64] & (~uint64_t{0} << bin % 64);
  for (unsigned i = bin / 64;; bits = arena.bits[i]) {
    if (bits) return arena.bins[i * 64 + static_cast<unsigned>(__builtin_ctzll(bits))];
    if (++i == kChunkBins / 64) return nullptr;
  }
}

void populate(Pool& pool, const Arena& arena, uintptr_t from, uintptr_t to) {
  if (from < to && arena.used >= kManyUnits && pool.platform.populate)
    pool.platform.populate(pool.platform.context, from, to - from);
}

/// A chunk whose memory was never used, or not since it went back, is used from `at` up to `to`.
void populate_ahead(Pool& pool, const Arena& arena, uintptr_t at, uintptr_t to, uintptr_t end) {
  uintptr_t from = (at + kAhead - 1) & -kAhead;
  if (from <= to) populate(pool, arena, from, from + kAhead < end ? from + kAhead : end & -kPageSize);
}

Chunk* new_region(Pool& pool, unsigned number, uint32_t units) {
  uint32_t first;
  {
    Locked locked(pool, kPageLock);
    first = take_run(pool, kRegionPages);
  }
  if (!first) return nullptr;
  bool zero = pool.pages.pages[first].dirty == 0;
  for (uint32_t i = first; i < first + kRegionPages; ++i) {
    pool.pages.pages[i].first = first;
    pool.pages.pages[i].arena = static_cast<uint8_t>(number);
  }
  pool.kinds[first] = kTable;
  __builtin_memset(&pool.kinds[first + 1], kBlocks, kRegionPages - 1);
  Region& region = *reinterpret_cast<Region*>(pool.address(first));
  auto at = reinterpret_cast<uintptr_t>(&region);
  if (zero && units < kWhole)
    populate(pool, pool.arenas[number], at, (at + kPageSize + kAhead - 1) & -kAhead);
  if (!zero) __builtin_memset(&region, 0, sizeof region);
  insert(pool.arenas[number], region, kFirstUnit, kEndUnit - kFirstUnit, zero ? Chunk::kZero : Chunk::kNew);
  return chunk_at(region, kFirstUnit);
}

Freed how_freed(Arena& arena, uint32_t region) {
  if (region + kNear * kRegionPages < arena.last_end) {
    arena.rising /= 4;
    arena.last_end = region;
  } else {
    if (arena.rising < 2 * kRising) ++arena.rising;
    if (arena.last_end < region) arena.last_end = region;
  }
  bool tiny = arena.recent_tiny > arena.recent / 2;
  arena.recent /= 2;
  arena.recent_tiny /= 2;
  return tiny ? Freed::kTiny : arena.rising >= kRising ? Freed::kInOrder : Freed::kAnyhow;
}

void end_region(Pool& pool, Arena& arena, Region& region) {
  uint32_t first = pool.page_of(&region);
  __builtin_memset(&pool.kinds[first], kDirty, kRegionPages);
  Freed how = how_freed(arena, first);
  Locked locked(pool, kPageLock);
  give_run(pool, first, kRegionPages, how);
}

/// What is taken of a chunk, and the rest of it is not. A single unit cannot stay.
struct Piece {
  char* at;
  uint32_t units;
  bool zero;
};
Piece cut(Pool& pool, Arena& arena, Chunk* chunk, uint32_t skipped, uint32_t units) {
  Region& region = region_of(pool, chunk);
  remove(arena, region, chunk);
  uint32_t unit = unit_of(region, chunk), rest = chunk->units - skipped - units;
  Chunk::State state = chunk->state;
  *chunk = {};
  if (state >= Chunk::kDiscarded && units < kWhole) {
    auto at = reinterpret_cast<uintptr_t>(chunk);
    populate_ahead(pool, arena, at, at + (skipped + units) * kUnit, at + (skipped + units + rest) * kUnit);
  }
  if (skipped) insert(arena, region, unit, skipped, Chunk::kNew);
  if (rest < kLeast)
    units += rest;
  else
    insert(arena, region, unit + skipped + units, rest, state == Chunk::kSeen ? Chunk::kNew : state);
  arena.used += units;
  return {reinterpret_cast<char*>(chunk) + skipped * kUnit, units, state == Chunk::kZero};
}

Block* make_block(char* at, uint32_t units, unsigned c) {
  char* block = at + sizeof(uint64_t);
  header_of(block) = header_for(block, units, c);
  return reinterpret_cast<Block*>(block);
}

void discard(Pool& pool, Chunk& chunk) {
  auto at = reinterpret_cast<uintptr_t>(&chunk);
  uintptr_t from = (at + sizeof(Chunk) + kPageSize - 1) & -kPageSize;
  uintptr_t to = (at + chunk.units * kUnit - sizeof(uint64_t)) & -kPageSize;
  if (chunk.state < Chunk::kDiscarded && from < to &&
      pool.platform.discard(pool.platform.context, from, to - from))
    chunk.state = Chunk::kDiscarded;
}

}  // namespace

void give_chunk(Pool& pool, unsigned number, char* p, uint32_t units) {
  Arena& arena = pool.arenas[number];
  Region& region = region_of(pool, p);
  uint32_t unit = unit_of(region, p);
  arena.used -= units;
  arena.freed += units;
  Chunk::State state = Chunk::kNew;
  if (is_set(region.ends, unit - 1)) {
    auto before = static_cast<uint32_t>(reinterpret_cast<uint64_t*>(p)[-1]);
    unit -= before;
    units += before;
    remove(arena, region, chunk_at(region, unit));
    state = chunk_at(region, unit)->state;
  }
  if (is_set(region.begins, unit + units)) {
    Chunk* behind = chunk_at(region, unit + units);
    remove(arena, region, behind);
    units += behind->units;
    if (behind->units > units / 2) state = behind->state;
  }
  if (units == kEndUnit - kFirstUnit)
    end_region(pool, arena, region);
  else
    insert(arena, region, unit, units, state == Chunk::kNew ? Chunk::kNew : Chunk::kSeen);
}

Blocks take_memory(Pool& pool, unsigned number, unsigned c) {
  const uint32_t units = kSizes[c].units, batch = kSizes[c].batch;
  Arena& arena = pool.arenas[number];
  Blocks taken{};
  Block** last = &taken.list;
  while (taken.count < batch) {
    Chunk* chunk = find(arena, units);
    if (!chunk && taken.count) break;
    if (!chunk) chunk = new_region(pool, number, units);
    if (!chunk) break;
    if (!taken.count && chunk->units >= batch * units + kLeast) {
      Piece piece = cut(pool, arena, chunk, 0, batch * units);
      return {nullptr, 0, piece.at, piece.at + batch * units * kUnit, piece.zero};
    }
    uint32_t count = batch - taken.count;
    if (chunk->units < count * units) count = chunk->units / units;
    Piece piece = cut(pool, arena, chunk, 0, count * units);
    for (uint32_t i = 0; i < count; ++i) {
      uint32_t more = i == count - 1 ? piece.units - count * units : 0;
      *last = make_block(piece.at + i * units * kUnit, units + more, c);
      last = &(*last)->next;
    }
    taken.count += count;
  }
  *last = nullptr;
  return taken;
}

void* take_aligned_memory(Pool& pool, unsigned number, unsigned c, size_t alignment) {
  Arena& arena = pool.arenas[number];
  auto spare = static_cast<uint32_t>(alignment / kUnit);
  Chunk* chunk = find(arena, kSizes[c].units + kLeast + spare);
  if (!chunk) chunk = new_region(pool, number, kSizes[c].units);
  if (!chunk) return nullptr;
  uintptr_t block = reinterpret_cast<uintptr_t>(chunk) + sizeof(uint64_t);
  auto skipped = static_cast<uint32_t>((-block & (alignment - 1)) / kUnit);
  if (skipped && skipped < kLeast) skipped += spare;
  Piece piece = cut(pool, arena, chunk, skipped, kSizes[c].units);
  return make_block(piece.at, piece.units, c);
}

void look_at_chunks(Pool& pool, unsigned number) {
  Arena& arena = pool.arenas[number];
  if (arena.freed < kPeriod || arena.freed < arena.used) return;
  arena.freed = 0;
  for (unsigned bin = bin_of(kLong); bin < kChunkBins; ++bin)
    for (Chunk* chunk = arena.bins[bin]; chunk; chunk = chunk->next)
      if (chunk->state == Chunk::kNew)
        chunk->state = Chunk::kSeen;
      else
        discard(pool, *chunk);
}

void discard_chunks(Pool& pool) {
  for (unsigned number = 0; number < kArenas; ++number) {
    Locked locked(pool, arena_lock(number));
    Arena& arena = pool.arenas[number];
    for (unsigned bin = bin_of(2 * kPageSize / kUnit); bin < kChunkBins; ++bin)
      for (Chunk* chunk = arena.bins[bin]; chunk; chunk = chunk->next) discard(pool, *chunk);
  }
}

}  // namespace pastcone::heap
