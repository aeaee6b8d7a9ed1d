#include "pastcone/base/suggest.h"

#include <algorithm>
#include <utility>

namespace pastcone {

size_t edit_distance(std::string_view a, std::string_view b) {
  // Rows of the usual table; `before` is the one two up, for swaps.
  std::vector<size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = std::exchange(above, std::exchange(row, before));
  }
  return above[b.size()];
}

std::string suggest(std::string_view typed, const std::vector<std::string>& candidates) {
  constexpr size_t kLongest = 64;  // nobody mistypes more than that
  if (typed.size() > kLongest) return {};
  std::string nearest;
  size_t least = std::max<size_t>(1, std::min(typed.size() / 2, size_t{3})) + 1;
  for (const std::string& candidate : candidates) {
    bool begins = typed.size() > 1 && candidate.starts_with(typed);
    size_t distance = begins ? 0 : edit_distance(typed, candidate);
    if (distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

}  // namespace pastcone
