#include "pastcone/replay/guarded_pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <iterator>

#include "pastcone/base/files.h"

namespace pastcone::replay {
namespace {

/// One that continues the last is made with it.
void add_page(std::vector<GuardedPages::Change>& changes, uint64_t page, int protection) {
  if (!changes.empty() && changes.back().protection == protection &&
      changes.back().begin + changes.back().size == page)
    changes.back().size += kGuardedPage;
  else
    changes.push_back({page, kGuardedPage, protection});
}

}  // namespace

bool GuardedWords::remove(uint64_t address, uint32_t size) {
  auto word = words_.find({address, size});
  if (word == words_.end()) return false;
  if (--word->second == 0) words_.erase(word);
  return true;
}

std::set<uint64_t> GuardedWords::pages() const {
  std::set<uint64_t> pages;
  for (const auto& [word, users] : words_) {
    pages.insert(page_of(word.address));
    pages.insert(page_of(word.address + word.size - 1));
  }
  return pages;
}

std::vector<GuardedWords::Word> GuardedWords::touched(uint64_t address, uint64_t size) const {
  std::vector<Word> found;
  for (auto each = words_.lower_bound({address - std::min<uint64_t>(address, kLongestGuarded), 0});
       each != words_.end(); ++each) {
    const Word& word = each->first;
    if (word.address >= address + size) break;
    if (word.address + word.size > address) found.push_back(word);
  }
  return found;
}

std::vector<GuardedPages::Change> GuardedPages::to_guard(const std::set<uint64_t>& wanted,
                                                         pid_t process) const {
  std::vector<Change> changes;
  bool all = std::ranges::all_of(wanted, [&](uint64_t page) { return guarded_.contains(page); });
  if (all) return changes;
  auto maps = symbols::read_maps(process);
  if (!maps) return changes;
  std::vector<symbols::Mapping> mappings = symbols::parse_mappings(*maps);
  for (uint64_t page : wanted) {
    if (guarded_.contains(page)) continue;
    auto at = std::ranges::find_if(
        mappings, [&](const symbols::Mapping& one) { return one.start <= page && page < one.end; });
    if (at == mappings.end() || !at->writable) continue;
    add_page(changes, page, PROT_READ | (at->executable ? PROT_EXEC : 0));
    bool lowest = at->start == page && (at == mappings.begin() || std::prev(at)->end < page);
    if (changes.back().begin == page) changes.back().lowest = lowest;
  }
  return changes;
}

std::vector<GuardedPages::Change> GuardedPages::to_free(const std::set<uint64_t>& wanted) const {
  std::vector<Change> changes;
  for (const auto& [page, protection] : guarded_)
    if (!wanted.contains(page)) add_page(changes, page, protection);
  return changes;
}

void GuardedPages::note_guarded(const Change& change) {
  for (uint64_t page = change.begin; page < change.begin + change.size; page += kGuardedPage)
    guarded_[page] = change.protection | PROT_WRITE;
  if (change.lowest) lowest_.insert(change.begin);
}

void GuardedPages::note_freed(const Change& change) {
  for (uint64_t page = change.begin; page < change.begin + change.size; page += kGuardedPage)
    guarded_.erase(page);
  lowest_.erase(lowest_.lower_bound(change.begin), lowest_.lower_bound(change.begin + change.size));
}

void GuardedPages::note_growth(pid_t process) {
  if (lowest_.empty()) return;
  auto maps = symbols::read_maps(process);
  if (!maps) return;
  for (const symbols::Mapping& one : symbols::parse_mappings(*maps)) {
    auto was = lowest_.lower_bound(one.start + 1);
    if (was == lowest_.end() || *was >= one.end) continue;
    Change change{one.start, *was - one.start, guarded_.at(*was) & ~PROT_WRITE, true};
    lowest_.erase(was);
    note_guarded(change);
  }
}

std::vector<symbols::Mapping> GuardedPages::undo(const std::vector<symbols::Mapping>& mappings) const {
  std::vector<symbols::Mapping> all;
  for (symbols::Mapping rest : mappings) {
    auto add_up_to = [&](uint64_t end) {
      if (end == rest.start) return;
      symbols::Mapping& part = all.emplace_back(rest);
      part.end = end;
      rest.offset += end - rest.start;
      rest.start = end;
    };
    for (auto page = guarded_.lower_bound(rest.start); page != guarded_.end() && page->first < rest.end; ++page) {
      add_up_to(page->first);
      add_up_to(page->first + kGuardedPage);
      all.back().writable = true;
    }
    add_up_to(rest.end);
  }
  return all;
}

}  // namespace pastcone::replay
