#include "pastcone/debug/watch_words.h"

#include <algorithm>

namespace pastcone::debug {
namespace {

bool contains(const Word& a, const Word& b) {
  return a.address <= b.address && b.address + b.size <= a.address + a.size;
}

}  // namespace

void add_words(uint64_t address, uint32_t size, std::set<Word>& into) {
  while (size > 0) {
    uint32_t piece = 8;
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

std::optional<std::set<Word>> fit(const std::set<Word>& words, size_t most) {
  std::set<Word> kept;
  for (const Word& word : words) {
    bool covered =
        std::ranges::any_of(words, [&](const Word& other) { return other != word && contains(other, word); });
    if (!covered) kept.insert(word);
  }
  if (kept.size() <= most) return kept;
  std::set<Word> all = whole(kept);
  if (all.size() <= most) return all;
  return {};
}

std::set<Word> whole(const std::set<Word>& words) {
  std::set<Word> all;
  for (const Word& word : words) all.insert({word.address & ~uint64_t{7}, 8});
  return all;
}

}  // namespace pastcone::debug
