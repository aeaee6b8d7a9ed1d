// Blocks of one class: batches that wait as they came, and spans that blocks go back to. A span whose blocks
// are all back becomes free pages again.
#include "pool.h"

namespace pastcone::heap {
namespace {

constexpr uint32_t kBatchesKept = 2;

bool gives(const Page& span, unsigned c) { return span.blocks || span.cut < kSizes[c].blocks; }

void link_span(Pool& pool, unsigned c, uint32_t first) {
  Page* pages = pool.pages.pages;
  uint32_t& head = pool.classes[c].spans;
  pages[first].previous = 0;
  pages[first].next = head;
  if (head) pages[head].previous = first;
  head = first;
}

void unlink_span(Pool& pool, unsigned c, uint32_t first) {
  Page* pages = pool.pages.pages;
  Page& span = pages[first];
  if (span.next) pages[span.next].previous = span.previous;
  (span.previous ? pages[span.previous].next : pool.classes[c].spans) = span.next;
}

uint32_t new_span(Pool& pool, unsigned c) {
  uint32_t pages = kSizes[c].pages, first;
  {
    Locked locked(pool, kPageLock);
    first = take_run(pool, pages);
  }
  if (!first) return 0;
  Page& span = pool.pages.pages[first];
  span.zero = span.dirty == 0;
  for (uint32_t i = first; i < first + pages; ++i) {
    pool.pages.pages[i].first = first;
    pool.kinds[i] = static_cast<uint8_t>(c + 1);
  }
  span.used = span.cut = 0;
  span.blocks = nullptr;
  link_span(pool, c, first);
  return first;
}

void end_span(Pool& pool, unsigned c, uint32_t first) {
  unlink_span(pool, c, first);
  __builtin_memset(&pool.kinds[first], kDirty, kSizes[c].pages);
  Locked locked(pool, kPageLock);
  give_run(pool, first, kSizes[c].pages);
}

void give_block(Pool& pool, unsigned c, Block* block) {
  uint32_t first = pool.pages.pages[pool.page_of(block)].first;
  Page& span = pool.pages.pages[first];
  if (!gives(span, c)) link_span(pool, c, first);
  block->next = span.blocks;
  span.blocks = block;
  if (--span.used == 0) end_span(pool, c, first);
}

void give_list(Pool& pool, unsigned c, Block* list) {
  while (list) {
    Block* next = list->next;
    give_block(pool, c, list);
    list = next;
  }
}

/// What was cut off last and is still unused need not be touched.
bool give_fresh(Pool& pool, unsigned c, char* fresh, char* fresh_end) {
  uint32_t first = pool.pages.pages[pool.page_of(fresh)].first;
  Page& span = pool.pages.pages[first];
  if (reinterpret_cast<uintptr_t>(fresh_end) != pool.address(first) + span.cut * kSizes[c].size) return false;
  if (!gives(span, c)) link_span(pool, c, first);
  auto count = static_cast<uint32_t>(static_cast<size_t>(fresh_end - fresh) / kSizes[c].size);
  span.cut -= count;
  span.used -= count;
  if (span.used == 0) end_span(pool, c, first);
  return true;
}

/// The blocks that came back to a span, up to a batch.
Blocks take_returned(Page& span, unsigned c) {
  Block* list = span.blocks;
  Block* last = list;
  uint32_t count = 1;
  for (; count < kSizes[c].batch && last->next; ++count) last = last->next;
  span.blocks = last->next;
  last->next = nullptr;
  span.used += count;
  return {list, count, nullptr, nullptr, false};
}

Blocks take_fresh(Pool& pool, Page& span, unsigned c, uint32_t first) {
  uint32_t left = kSizes[c].blocks - span.cut, count = left < kSizes[c].batch ? left : kSizes[c].batch;
  char* from = reinterpret_cast<char*>(pool.address(first)) + span.cut * kSizes[c].size;
  span.cut += count;
  span.used += count;
  return {nullptr, 0, from, from + count * kSizes[c].size, span.zero};
}

}  // namespace

Blocks take_blocks(Pool& pool, unsigned c) {
  Locked locked(pool, class_lock(c));
  ClassPool& own = pool.classes[c];
  if (Block* batch = own.batches) {
    own.batches = batch->next_batch;
    --own.batch_count;
    return {batch, kSizes[c].batch, nullptr, nullptr, false};
  }
  uint32_t first = own.spans ? own.spans : new_span(pool, c);
  if (!first) return {};
  Page& span = pool.pages.pages[first];
  Blocks taken = span.blocks ? take_returned(span, c) : take_fresh(pool, span, c, first);
  if (!gives(span, c)) unlink_span(pool, c, first);
  return taken;
}

void give_batch(Pool& pool, unsigned c, Block* batch) {
  Locked locked(pool, class_lock(c));
  ClassPool& own = pool.classes[c];
  if (own.batch_count < kBatchesKept) {
    batch->next_batch = own.batches;
    own.batches = batch;
    ++own.batch_count;
  } else {
    give_list(pool, c, batch);
  }
}

void give_blocks(Pool& pool, unsigned c, Block* list, char* fresh, char* fresh_end) {
  Locked locked(pool, class_lock(c));
  if (fresh != fresh_end && give_fresh(pool, c, fresh, fresh_end)) fresh = fresh_end;
  for (; fresh != fresh_end; fresh += kSizes[c].size) give_block(pool, c, reinterpret_cast<Block*>(fresh));
  give_list(pool, c, list);
}

void drop_batches(Pool& pool, unsigned c) {
  Locked locked(pool, class_lock(c));
  ClassPool& own = pool.classes[c];
  while (Block* batch = own.batches) {
    own.batches = batch->next_batch;
    give_list(pool, c, batch);
  }
  own.batch_count = 0;
}

}  // namespace pastcone::heap
