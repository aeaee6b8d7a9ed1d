// What has to be watched to know of every change of some memory: in the four debug registers that there are,
// or by its pages.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace pastcone::debug {

/// Aligned; 1, 2, 4 or 8 bytes.
struct Word {
  uint64_t address = 0;
  uint32_t size = 0;
  auto operator<=>(const Word&) const = default;
};

inline bool overlap(const Word& a, const Word& b) {
  return a.address < b.address + b.size && b.address < a.address + a.size;
}

constexpr size_t kMostWords = 4;

/// Of `size` bytes at an address.
void add_words(uint64_t address, uint32_t size, std::set<Word>& into);
/// The same of what an expression has read, or could not yet; not where nobody ever has memory.
void add_read_words(const std::vector<std::pair<uint64_t, uint32_t>>& memory, std::set<Word>& into);

/// As few as they can be without many more bytes than needed; none if they are too many. `exact`: of these it has to
/// be seen whether it was they that were written, or something beside them.
std::optional<std::set<Word>> fit(const std::set<Word>& words, const std::set<Word>& exact = {},
                                  size_t most = kMostWords);
/// However many they are, of 8 bytes each but for those that are exact, and what lies beside them.
std::set<Word> whole(const std::set<Word>& words, const std::set<Word>& exact = {});

}  // namespace pastcone::debug
