// The names of system calls, x86-64. From calls.inc.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace pastcone {

/// "read" for 0; empty for a number that has no name.
std::string_view call_name(uint32_t number);

/// 0 for "read".
std::optional<uint32_t> call_number(std::string_view name);

}  // namespace pastcone
