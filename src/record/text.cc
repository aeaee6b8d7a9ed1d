#include "pastcone/record/text.h"

#include <fmt/format.h>

namespace pastcone::record {

std::string with_commas(uint64_t number) {
  std::string digits = std::to_string(number);
  for (size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

std::string plural(uint64_t number, std::string_view one, std::string_view many) {
  std::string noun(one);
  if (number != 1) noun = many.empty() ? noun + "s" : std::string(many);
  return fmt::format("{} {}", with_commas(number), noun);
}

std::string human_size(uint64_t bytes) {
  constexpr const char* kUnits[] = {"KB", "MB", "GB", "TB"};
  if (bytes < 1000) return plural(bytes, "byte");
  auto size = static_cast<double>(bytes) / 1000;
  size_t unit = 0;
  for (; size >= 999.5 && unit + 1 < std::size(kUnits); ++unit) size /= 1000;
  return size < 9.95 ? fmt::format("{:.1f} {}", size, kUnits[unit]) : fmt::format("{:.0f} {}", size, kUnits[unit]);
}

}  // namespace pastcone::record
