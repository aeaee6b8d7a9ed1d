// What the threads of a process share of the heap: the pages, and per class the blocks that no thread keeps.
// Everything here happens under a lock of the embedder, so that it depends on nothing but the order in which
// threads take the locks.
#pragma once

#include "sizes.h"

namespace pastcone::heap {

/// What the heap needs from where it is embedded. Nothing here may allocate from the heap.
struct Platform {
  void* context;
  /// Locks are numbered from 0 to kLocks - 1. While a class's lock is held, kPageLock may be taken.
  void (*lock)(void* context, unsigned lock);
  void (*unlock)(void* context, unsigned lock);
  /// Makes a part of the heap's range readable, writable and zero; false if there is no memory. A result that
  /// differs in replay makes addresses differ.
  bool (*map)(void* context, uintptr_t address, size_t size);
  /// Gives memory back that stays mapped and is zero from then on; false if that did not happen.
  bool (*discard)(void* context, uintptr_t address, size_t size);
  /// Moves the contents of mapped pages to others of the heap and leaves zeros; false (or no function):
  /// nothing was moved.
  bool (*move)(void* context, uintptr_t from, uintptr_t to, size_t size);
  /// The program misused the heap; the message is glibc's. May return: the call that noticed then does
  /// nothing.
  void (*fail)(void* context, const char* message);
};

inline constexpr unsigned kPageLock = 0;
inline constexpr unsigned kLocks = 1 + kClasses;
constexpr unsigned class_lock(unsigned c) { return 1 + c; }

/// A block that is free.
struct Block {
  Block* next;
  Block* next_batch;  // in the first block of a batch that waits in the pool
};

/// What is known of a page. A run is what belongs together: a span, a large block, or free pages.
struct Page {
  enum State : uint8_t { kNone, kUsed, kFree };  // right in a run's first and last page
  State state;
  bool zero;                // first page of a span: what was never out was never written to
  uint32_t pages;           // first page: of the run
  uint32_t first;           // last page of a free run, every page of a span: where it begins
  uint32_t next, previous;  // first page: free runs of one size, spans that have blocks to give. 0: none
  uint32_t dirty;      // first page: pages of the run that take up memory; if used, those that did before
  uint32_t used, cut;  // first page of a span: blocks that are out; blocks that were ever out
  Block* blocks;       // first page of a span: those that came back
};

/// What a byte per page says: what a pointer into it may be. 1 to kClasses: a block of class kind - 1.
enum Kind : uint8_t { kClean = 0, kLarge = 128, kDirty = 129 };

inline constexpr unsigned kBins = 64 + 26 * 16;  // for 2^32 pages

struct PagePool {
  Page* pages;
  uint32_t begin, top, end;  // pages from begin to top are mapped
  uintptr_t table_top;       // as is the table of pages, to here
  uint32_t used, dirty;      // pages
  uint32_t largest_freed;    // pages
  uint32_t bins[kBins];      // free runs by size
  uint64_t bits[(kBins + 63) / 64];
};

struct ClassPool {
  Block* batches;  // full batches, not taken apart
  uint32_t batch_count;
  uint32_t spans;  // that have blocks to give
};

struct Pool {
  Platform platform;
  uintptr_t base;
  size_t size;
  uint8_t* kinds;  // of pages, by index
  PagePool pages;
  ClassPool classes[kClasses];

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
/// Back again; the kinds of all its pages must be kClean, or of all kDirty.
void give_run(Pool& pool, uint32_t first, uint32_t pages);
/// Makes a used run longer where it is, if the pages behind it are free.
bool extend_run(Pool& pool, uint32_t first, uint32_t pages);
/// Makes a used run shorter; the same of the kinds of what is cut off.
void cut_run(Pool& pool, uint32_t first, uint32_t pages);
/// Gives memory of free pages back to the system until no more than that many pages are dirty. This changes
/// no address.
void discard_dirty(Pool& pool, uint32_t keep);

// Blocks of a class; these take its lock.

/// Blocks for a thread: a list, or a piece of a span that was never used. Neither if there is no memory.
struct Blocks {
  Block* list;
  uint32_t count;
  char *fresh, *fresh_end;
  bool zero;
};
Blocks take_blocks(Pool& pool, unsigned c);
void give_batch(Pool& pool, unsigned c, Block* batch);
/// Batches that wait go back to their spans.
void drop_batches(Pool& pool, unsigned c);
/// Whatever a thread had that ends.
void give_blocks(Pool& pool, unsigned c, Block* list, char* fresh, char* fresh_end);

}  // namespace pastcone::heap
