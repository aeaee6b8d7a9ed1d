// Runs of pages: good fit by size, neighbours joined at once. Free runs are found by two-level bins (as in
// TLSF: Masmano et al., 2004): a bin per size up to 64 pages, then sixteen for every doubling.
#include "pool.h"

namespace pastcone::heap {
namespace {

constexpr uint32_t kGrowth = 1024;       // pages that are mapped at once
constexpr uint32_t kKeepAtLeast = 256;   // dirty pages that are never given back
constexpr uint32_t kPeriod = 8192;       // pages that are freed before the others are looked at
constexpr uint32_t kMostMissed = 16384;  // pages
constexpr uint32_t kMostLooped = 2048;   // of those, where glibc would keep nothing
constexpr uint32_t kMostBetween = 4096;  // pages
constexpr size_t kTableStep = 65536;
constexpr int kTries = 8;

unsigned bin_of(uint32_t pages) {
  if (pages < 64) return pages;
  unsigned log = 31 - static_cast<unsigned>(__builtin_clz(pages));
  return 64 + (log - 6) * 16 + ((pages >> (log - 4)) & 15);
}

/// Of a part of a free run, how much is dirty. Mostly all or nothing of the run is.
uint32_t dirty_part(const Pool& pool, const Page& run, uint32_t first, uint32_t pages) {
  if (run.dirty == 0) return 0;
  if (run.dirty == run.pages) return pages;
  uint32_t n = 0;
  for (uint32_t i = first; i < first + pages; ++i) n += pool.kinds[i] == kDirty;
  return n;
}

void insert(PagePool& p, uint32_t first, uint32_t pages, uint32_t dirty) {
  Page& page = p.pages[first];
  unsigned bin = bin_of(pages);
  page.pages = pages;
  page.dirty = dirty;
  page.previous = dirty ? 0 : p.ends[bin];
  page.next = dirty ? p.bins[bin] : 0;
  (page.next ? p.pages[page.next].previous : p.ends[bin]) = first;
  (page.previous ? p.pages[page.previous].next : p.bins[bin]) = first;
  p.bits[bin / 64] |= uint64_t{1} << bin % 64;
  Page& last = p.pages[first + pages - 1];
  page.state = last.state = Page::kFree;
  last.first = first;
}

void remove(PagePool& p, uint32_t first) {
  Page& page = p.pages[first];
  unsigned bin = bin_of(page.pages);
  (page.next ? p.pages[page.next].previous : p.ends[bin]) = page.previous;
  (page.previous ? p.pages[page.previous].next : p.bins[bin]) = page.next;
  if (!p.bins[bin]) p.bits[bin / 64] &= ~(uint64_t{1} << bin % 64);
}

void mark_used(PagePool& p, uint32_t first, uint32_t pages) {
  p.pages[first].pages = pages;
  p.pages[first].state = p.pages[first + pages - 1].state = Page::kUsed;
}

/// The first bin from this one on that has runs; kBins if none has.
unsigned next_bin(const PagePool& p, unsigned bin) {
  if (bin >= kBins) return kBins;
  uint64_t bits = p.bits[bin / 64] & (~uint64_t{0} << bin % 64);
  for (unsigned i = bin / 64;; bits = p.bits[i]) {
    if (bits) return i * 64 + static_cast<unsigned>(__builtin_ctzll(bits));
    if (++i == sizeof p.bits / sizeof *p.bits) return kBins;
  }
}

/// Rather one that takes up memory already, if it is less than twice as long.
uint32_t find(const PagePool& p, uint32_t pages) {
  unsigned bin = bin_of(pages), end = bin_of(2 * pages);
  uint32_t fit = 0, run = p.bins[bin];
  for (int i = 0; run && i < kTries && !(fit && !p.pages[run].dirty); ++i, run = p.pages[run].next) {
    if (p.pages[run].pages < pages) continue;
    if (p.pages[run].dirty) return run;
    fit = run;
  }
  for (bin = next_bin(p, bin + 1); bin < kBins; bin = next_bin(p, bin + 1)) {
    if (!fit) fit = p.bins[bin];
    if (p.pages[p.bins[bin]].dirty) return p.bins[bin];
    if (bin >= end) break;
  }
  return fit;
}

/// Free pages, without a run around them: joined with their neighbours. Where the run begins.
uint32_t join(PagePool& p, uint32_t first, uint32_t pages, uint32_t dirty) {
  if (p.pages[first - 1].state == Page::kFree) {
    uint32_t before = p.pages[first - 1].first;
    remove(p, before);
    pages += p.pages[before].pages;
    dirty += p.pages[before].dirty;
    first = before;
  }
  uint32_t behind = first + pages;
  if (p.pages[behind].state == Page::kFree) {
    remove(p, behind);
    pages += p.pages[behind].pages;
    dirty += p.pages[behind].dirty;
  }
  insert(p, first, pages, dirty);
  return first;
}

/// Maps more pages at the top.
bool grow(Pool& pool, uint32_t pages) {
  PagePool& p = pool.pages;
  if (pages > p.end - p.top) return false;
  uint32_t more = pages < kGrowth && kGrowth <= p.end - p.top ? kGrowth : pages;
  // One more than there are, so that the last page has a neighbour to look at.
  auto table = (reinterpret_cast<uintptr_t>(&p.pages[p.top + more + 1]) + kTableStep - 1) & ~(kTableStep - 1);
  if (table > p.table_top) {
    if (!pool.platform.map(pool.platform.context, p.table_top, table - p.table_top)) return false;
    p.table_top = table;
  }
  if (!pool.platform.map(pool.platform.context, pool.address(p.top), size_t{more} << kPageShift))
    return false;
  p.top += more;
  pool.mapped = size_t{p.top} << kPageShift;
  join(p, p.top - more, more, 0);
  return true;
}

void discard_run(Pool& pool, uint32_t first) {
  PagePool& p = pool.pages;
  uint32_t end = first + p.pages[first].pages;
  for (uint32_t i = first; i < end;) {
    uint32_t from = i;
    while (i < end && pool.kinds[i] == kDirty) ++i;
    if (i > from) discard_pages(pool, from, i - from);
    while (i < end && pool.kinds[i] != kDirty) ++i;
  }
  p.dirty -= p.pages[first].dirty;
  remove(p, first);
  insert(p, first, end - first, 0);
}

uint32_t max(uint32_t a, uint32_t b) { return a > b ? a : b; }
uint32_t min(uint32_t a, uint32_t b) { return a < b ? a : b; }

void note_taken(PagePool& p, uint32_t pages, uint32_t dirty) {
  p.used += pages;
  p.most_used = max(p.most_used, p.used);
  p.dirty -= dirty;
  p.taken += pages - dirty;
  if (p.dirty < p.spare) p.spare = p.dirty;
}

/// Memory for two large blocks of who allocates them in a loop stays, as in glibc.
uint32_t least_to_keep(const PagePool& p) { return max(kKeepAtLeast, (p.users + 1) * p.longest); }

/// What there may be at any time, used or dirty. Long blocks of different sizes need more between them.
uint32_t most_to_have(const PagePool& p) {
  uint32_t between = max(p.most_used / 8, min(p.most_used / 4, 4 * p.longest));
  return p.most_used + max(between, min(least_to_keep(p), kMostBetween));
}
bool has_much(const PagePool& p) { return p.used + p.dirty > most_to_have(p); }
void discard_much(Pool& pool) { discard_dirty(pool, (most_to_have(pool.pages) - pool.pages.used) / 4 * 3); }

/// If what went back before was taken again, twice as much is kept from now on.
uint32_t pages_to_keep(PagePool& p) {
  uint32_t least = least_to_keep(p);
  if (p.taken > p.given / 2) {
    uint32_t most = max(kMostMissed, p.used / 2), twice = 2 * max(max(p.missed, p.given), least);
    if (p.given) p.missed = max(p.missed, twice < most ? twice : most);
    p.given = p.taken = 0;
  } else if (p.given > 4 * p.missed) {
    p.missed /= 2;
  }
  return max(least, p.missed);
}

/// How long a run may be, of pages that take up memory, before it goes back to the system at once.
uint32_t longest_kept(const PagePool& p, Freed how) {
  uint32_t missed = max(kKeepAtLeast, p.missed), looped = min(missed, kMostLooped);
  if (how == Freed::kTiny || how == Freed::kAnyhow) return ~0u;
  if (how == Freed::kInOrder) return looped;
  if (how == Freed::kLarge && p.used < p.most_used / 8) return max(looped, 2 * p.unmapped);
  return missed;
}

/// After `run` became free or longer. A long one goes back to the system at once. Memory that is free amid
/// what is used goes back if it was not needed while much else was freed, or if it is much more than was ever
/// used.
void look_at_dirty(Pool& pool, uint32_t run, Freed how) {
  PagePool& p = pool.pages;
  uint32_t longest = longest_kept(p, how);
  bool is_long = p.pages[run].dirty > longest, is_much = has_much(p);
  if (!is_long && !is_much && p.freed < max(kPeriod, p.used / 2)) return;
  if (is_long && longest < p.missed) discard_run(pool, run);
  uint32_t kept = pages_to_keep(p), before = p.dirty;
  if (is_long && p.pages[run].dirty > kept) discard_run(pool, run);
  if (is_much) discard_much(pool);
  if (p.freed >= max(max(kPeriod, kept), p.used / 2)) {
    uint32_t keep = max(kept, p.dirty - (p.spare < p.dirty ? p.spare : p.dirty));
    if (p.dirty > keep) discard_dirty(pool, keep);
    p.spare = p.dirty;
    p.freed = 0;
  }
  p.given += before - p.dirty;
}

}  // namespace

uint32_t take_run(Pool& pool, uint32_t pages, uint32_t alignment) {
  PagePool& p = pool.pages;
  if (pages + alignment < pages) return 0;
  uint32_t wanted = pages + alignment - 1;
  uint32_t first = find(p, wanted);
  if (!first) {
    if (!grow(pool, wanted)) return 0;
    first = find(p, wanted);
  }
  remove(p, first);
  uint32_t end = first + p.pages[first].pages;
  uint32_t skipped = static_cast<uint32_t>(-(pool.address(first) >> kPageShift)) & (alignment - 1);
  const Page run = p.pages[first];
  uint32_t dirty_before = dirty_part(pool, run, first, skipped);
  uint32_t dirty_taken = dirty_part(pool, run, first + skipped, pages);
  if (skipped) insert(p, first, skipped, dirty_before);
  first += skipped;
  if (first + pages < end)
    insert(p, first + pages, end - first - pages, run.dirty - dirty_before - dirty_taken);
  mark_used(p, first, pages);
  p.pages[first].dirty = dirty_taken;
  note_taken(p, pages, dirty_taken);
  if (has_much(p)) discard_much(pool);
  return first;
}

void give_run(Pool& pool, uint32_t first, uint32_t pages, Freed how) {
  PagePool& p = pool.pages;
  uint32_t dirty = pool.kinds[first] == kDirty ? pages : 0;
  p.used -= pages;
  p.dirty += dirty;
  p.freed += pages;
  look_at_dirty(pool, join(p, first, pages, dirty), how);
}

bool extend_run(Pool& pool, uint32_t first, uint32_t pages) {
  PagePool& p = pool.pages;
  uint32_t have = p.pages[first].pages, more = pages - have, behind = first + have;
  if (p.pages[behind].state != Page::kFree || p.pages[behind].pages < more) return false;
  remove(p, behind);
  const Page run = p.pages[behind];
  uint32_t dirty_taken = dirty_part(pool, run, behind, more);
  if (run.pages > more) insert(p, behind + more, run.pages - more, run.dirty - dirty_taken);
  mark_used(p, first, pages);
  note_taken(p, more, dirty_taken);
  if (has_much(p)) discard_much(pool);
  return true;
}

void cut_run(Pool& pool, uint32_t first, uint32_t pages) {
  uint32_t rest = pool.pages.pages[first].pages - pages;
  mark_used(pool.pages, first, pages);
  give_run(pool, first + pages, rest, Freed::kLarge);
}

void discard_pages(Pool& pool, uint32_t first, uint32_t pages) {
  size_t size = size_t{pages} << kPageShift;
  if (!pool.platform.discard(pool.platform.context, pool.address(first), size))
    __builtin_memset(reinterpret_cast<void*>(pool.address(first)), 0, size);
  for (uint32_t i = first; i < first + pages; ++i)  // the table, too, takes memory once written to
    if (pool.kinds[i] != kClean) pool.kinds[i] = kClean;
}

void forget_loops(Pool& pool) {
  PagePool& p = pool.pages;
  p.given = p.missed = p.longest = p.unmapped = 0;
  p.most_used = p.used;
}

void discard_dirty(Pool& pool, uint32_t keep) {
  PagePool& p = pool.pages;
  // The longest runs first: they are the last that small blocks will need.
  for (unsigned bin = kBins; bin-- && p.dirty > keep;)
    while (p.bins[bin] && p.pages[p.bins[bin]].dirty && p.dirty > keep) discard_run(pool, p.bins[bin]);
}

}  // namespace pastcone::heap
