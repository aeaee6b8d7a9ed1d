// Pages of traced memory that cannot be written to, so that whoever writes faults, and words on them that
// somebody wants to be told of. What the processor's four debug registers are too few for.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "pastcone/symbols/mappings.h"

namespace pastcone::replay {

constexpr uint64_t kGuardedPage = 4096;
constexpr uint32_t kLongestGuarded = 8;  ///< of a word
inline uint64_t page_of(uint64_t address) { return address & ~(kGuardedPage - 1); }

/// As one process wants them.
class GuardedWords {
 public:
  /// Counted.
  void add(uint64_t address, uint32_t size) { ++words_[{address, size}]; }
  bool remove(uint64_t address, uint32_t size);
  void clear() { words_.clear(); }
  bool empty() const { return words_.empty(); }
  std::set<uint64_t> pages() const;

  struct Word {
    uint64_t address;
    uint32_t size;
    auto operator<=>(const Word&) const = default;
  };
  /// Those of which some byte is there.
  std::vector<Word> touched(uint64_t address, uint64_t size) const;

 private:
  std::map<Word, int> words_;
};

/// As the memory has them.
class GuardedPages {
 public:
  bool empty() const { return guarded_.empty(); }
  bool has(uint64_t address) const { return guarded_.contains(page_of(address)); }

  /// mprotect(begin, size, protection)
  struct Change {
    uint64_t begin = 0, size = 0;
    int protection = 0;
    bool lowest = false;  ///< there is nothing below it
  };
  /// What guards those of `wanted` that can be written to, and are not guarded yet. `process`: one that has
  /// the memory.
  std::vector<Change> to_guard(const std::set<uint64_t>& wanted, pid_t process) const;
  /// What gives back all that are not in `wanted`.
  std::vector<Change> to_free(const std::set<uint64_t>& wanted) const;
  /// It has been done; before that they could be written to.
  void note_guarded(const Change& change);
  void note_freed(const Change& change);
  /// A stack whose lowest page is guarded grows by pages that cannot be written to either: they are, too.
  void note_growth(pid_t process);
  /// What is mapped, as it would be without us.
  std::vector<symbols::Mapping> undo(const std::vector<symbols::Mapping>& mappings) const;

 private:
  std::map<uint64_t, int> guarded_;  ///< what it is without us
  std::set<uint64_t> lowest_;        ///< those of them below which there was nothing
};

}  // namespace pastcone::replay
