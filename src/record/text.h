// Numbers as people read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pastcone::record {

/// 12034 → "12,034".
std::string with_commas(uint64_t number);
/// "1 event", "12,034 events"; `many` where an s is not enough.
std::string plural(uint64_t number, std::string_view one, std::string_view many = {});
/// "84 KB", "1.2 MB".
std::string human_size(uint64_t bytes);

}  // namespace pastcone::record
