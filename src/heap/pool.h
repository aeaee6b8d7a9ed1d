// What the threads of a process share of the heap: the pages, and the memory of blocks.
// Everything here happens under a lock of the embedder, so that it depends on nothing but the order in which
// threads take the locks.
#pragma once

#include "sizes.h"

namespace pastcone::heap {

/// What the heap needs from where it is embedded. Nothing here may allocate from the heap.
struct Platform {
  void* context;
  /// Locks are numbered from 0 to kLocks - 1. While an
  /// arena's is held, kPageLock may be taken.
  void (*lock)(void* context, unsigned lock);
  void (*unlock)(void* context, unsigned lock);
  /// Makes a part of the heap's range readable, writable and zero; false if there is no memory. A result that
  /// differs in replay makes addresses differ.
  bool (*map)(void* context, uintptr_t address, size_t size);
  /// Gives memory back that stays mapped and is zero from then on; false if that did not happen, and it has
  /// to be cleared.
  bool (*discard)(void* context, uintptr_t address, size_t size);
  /// Moves the contents of mapped pages to others of the heap and leaves zeros; false (or no function):
  /// nothing was moved.
  bool (*move)(void* context, uintptr_t from, uintptr_t to, size_t size);
  /// Memory that will soon be written to, all of it: may be had at once, which is cheaper (or no function).
  void (*populate)(void* context, uintptr_t address, size_t size);
  /// The program misused the heap; the message is glibc's. May return: the call that noticed then does
  /// nothing.
  void (*fail)(void* context, const char* message);
};

inline constexpr unsigned kArenas = 16;
inline constexpr unsigned kPageLock = 0;
inline constexpr unsigned kLocks = 1 + kArenas;
constexpr unsigned arena_lock(unsigned arena) { return 1 + arena; }

/// A block that is free, in the hands of a thread or waiting in the pool.
struct Block {
  Block* next;
  Block* next_batch;  // in the first block of a batch
};

/// What is known of a page. A run is what belongs together: a region, a large block, or free pages.
struct Page {
  enum State : uint8_t { kNone, kUsed, kFree };  // right in a run's first and last page
  State state;
  uint8_t arena;            // every page of a region
  uint32_t pages;           // first page: of the run
  uint32_t first;           // last page of a free run, every page of a region: where it begins
  uint32_t next, previous;  // first page: free runs of one size. 0: none
  uint32_t dirty;  // first page: pages of the run that take up memory; if used, those that did before
};

/// What a byte per page says: what a pointer into it may be.
enum Kind : uint8_t { kClean = 0, kBlocks, kLarge, kDirty, kTable };

inline constexpr unsigned kBins = 64 + 26 * 16;  // for 2^32 pages

struct PagePool {
  Page* pages;
  uint32_t begin, top, end;  // pages from begin to top are mapped
  uintptr_t table_top;       // as is the table of pages, to here
  uint32_t used, dirty;      // pages
  uint32_t most_used;
  uint32_t spare;         // the fewest that were dirty since memory was last given back
  uint32_t freed;         // pages, since then
  uint32_t given, taken;  // pages that went back to the system; clean ones that were taken since
  uint32_t missed;        // pages to keep, as what was given back was soon taken again
  uint32_t longest;       // pages of a large block that was freed and stayed
  uint32_t unmapped;      // and of one that went back
  uint32_t users;         // threads that have an arena
  uint32_t bins[kBins];   // free runs by size: first those that take up memory
  uint32_t ends[kBins];   // the last of each
  uint64_t bits[(kBins + 63) / 64];
};

struct Chunk;
inline constexpr unsigned kChunkBins = 64 + 8 * 16;

/// Where some of the threads allocate: regions of memory, with blocks and chunks of free memory between them.
/// What is freed goes back to where it came from. See chunks.cc.
struct Arena {
  Chunk* bins[kChunkBins];  // chunks by size
  uint64_t bits[kChunkBins / 64];
  uint32_t threads;              // that use it
  uint32_t used;                 // units, of blocks
  uint32_t freed;                // units, since chunks were last looked at
  uint32_t batched;              // units, of the batches
  uint32_t recent, recent_tiny;  // units that were freed of late, and those of tiny blocks
  uint32_t last_end, rising;     // the region that became free last; how many did, each behind the one before
  struct {
    Block* list;  // full batches, not taken apart
    uint32_t count;
  } batches[kClasses];
};

struct Pool {
  Platform platform;
  uintptr_t base;
  size_t size;
  uint8_t* kinds;  // of pages, by index
  size_t mapped;   // blocks are below that
  alignas(64) PagePool pages;
  Arena arenas[kArenas];
  uint32_t threads[kArenas];  // that have chosen the arena; under kPageLock

  uintptr_t address(uint32_t page) const { return base + (uintptr_t{page} << kPageShift); }
  uint32_t page_of(const void* p) const {
    return static_cast<uint32_t>((reinterpret_cast<uintptr_t>(p) - base) >> kPageShift);
  }
};

class Locked {
 public:
  Locked(Pool& pool, unsigned lock) : pool_(pool), lock_(lock) {
    pool.platform.lock(pool.platform.context, lock);
  }
  ~Locked() { pool_.platform.unlock(pool_.platform.context, lock_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  Pool& pool_;
  unsigned lock_;
};

// Pages; all under kPageLock.

/// A used run whose address is a multiple of `alignment` pages (a power of two); 0 if there is no memory. Its
/// pages' kinds are still kClean or kDirty.
uint32_t take_run(Pool& pool, uint32_t pages, uint32_t alignment = 1);
/// Why pages become free, and with that, whether glibc would give memory back as well: of its large blocks,
/// yes, and if what it has was freed in order; in another order only by chance; of tiny blocks, never. Who
/// fills memory and frees it over and over is not to be slower here, nor to keep more at the end.
enum class Freed { kLarge, kInOrder, kAnyhow, kTiny };
/// Back again; the kinds of all its pages must be kClean, or of all kDirty.
void give_run(Pool& pool, uint32_t first, uint32_t pages, Freed how);
/// Makes a used run longer where it is, if the pages behind it are free.
bool extend_run(Pool& pool, uint32_t first, uint32_t pages);
/// Makes a used run shorter; the same of the kinds of what is cut off.
void cut_run(Pool& pool, uint32_t first, uint32_t pages);
/// Of pages that nobody uses: no lock is needed. They are clean then, whatever the system does, as addresses
/// depend on that.
void discard_pages(Pool& pool, uint32_t first, uint32_t pages);
/// Gives memory of free pages back to the system until no more than that many pages are dirty.
void discard_dirty(Pool& pool, uint32_t keep);
/// What was taken again before is no reason to keep memory any more.
void forget_loops(Pool& pool);

/// What stands before a block: its units, its class, and a part of its address, so that another pointer is
/// not taken for one. Only who has the block touches it.
inline constexpr uint32_t kHeaderMark = 0x5bd100;  // in the upper 24 bits, with the class
inline uint64_t header_for(const void* block, uint32_t units, unsigned c) {
  return units | (uint64_t{kHeaderMark + c} << 40 ^ reinterpret_cast<uintptr_t>(block) << 44);
}
inline uint64_t& header_of(void* block) { return static_cast<uint64_t*>(block)[-1]; }
/// The class; no less than kClasses if that is no header.
inline unsigned class_by(const void* block, uint64_t header) {
  return static_cast<unsigned>((header ^ reinterpret_cast<uintptr_t>(block) << 44) >> 40) - kHeaderMark;
}

// Blocks; these take the locks.

/// Blocks for a thread: a list, or a range of memory to be cut into blocks. Neither if there is no memory.
struct Blocks {
  Block* list;
  uint32_t count;
  char *fresh, *fresh_end;  // where the first header is
  bool zero;
};
Blocks take_blocks(Pool& pool, unsigned arena, unsigned c);
void* take_aligned(Pool& pool, unsigned arena, unsigned c, size_t alignment);
void give_batch(Pool& pool, unsigned c, Block* batch);
void enter_arena(Pool& pool, unsigned arena);
/// Once nobody uses it, its batches are taken apart.
void leave_arena(Pool& pool, unsigned arena);
void drop_batches(Pool& pool, unsigned arena);
/// Whatever a thread had of one class.
void give_blocks(Pool& pool, Block* list, char* fresh, char* fresh_end);
/// Gives memory in the midst of free chunks back to the system.
void discard_chunks(Pool& pool);

}  // namespace pastcone::heap
