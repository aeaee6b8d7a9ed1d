#include "pastcone/debug/watch_words.h"

namespace pastcone::debug {
namespace {

constexpr uint32_t kLargest = 8;

Word around(const Word& word) { return {word.address & ~uint64_t{kLargest - 1}, kLargest}; }

/// By a larger one; they are aligned.
bool is_covered(const Word& word, const std::set<Word>& words) {
  for (uint32_t size = 2 * word.size; size <= kLargest; size *= 2)
    if (words.contains({word.address & ~uint64_t{size - 1}, size})) return true;
  return false;
}

}  // namespace

void add_words(uint64_t address, uint32_t size, std::set<Word>& into) {
  while (size > 0) {
    uint32_t piece = kLargest;
    while (address % piece != 0 || piece > size) piece /= 2;
    into.insert({address, piece});
    address += piece;
    size -= piece;
  }
}

void add_read_words(const std::vector<std::pair<uint64_t, uint32_t>>& memory, std::set<Word>& into) {
  constexpr uint64_t kLowest = 1 << 16, kEnd = (uint64_t{1} << 47) - 4096;
  for (const auto& [address, size] : memory)
    if (address >= kLowest && address < kEnd - size) add_words(address, size, into);
}

std::optional<std::set<Word>> fit(const std::set<Word>& words, const std::set<Word>& exact, size_t most) {
  std::set<Word> kept;
  for (const Word& word : words)
    if (!is_covered(word, words)) kept.insert(word);
  if (kept.size() <= most) return kept;
  std::set<Word> all = whole(kept, exact);
  if (all.size() <= most) return all;
  return {};
}

std::set<Word> whole(const std::set<Word>& words, const std::set<Word>& exact) {
  std::set<uint64_t> as_they_are;
  for (const Word& word : exact) as_they_are.insert(around(word).address);
  std::set<Word> all;
  for (const Word& word : words) {
    if (!as_they_are.contains(around(word).address))
      all.insert(around(word));
    else if (!is_covered(word, words))
      all.insert(word);
  }
  return all;
}

}  // namespace pastcone::debug
