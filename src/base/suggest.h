// "Did you mean …?"
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pastcone {

/// How many letters must be inserted, deleted, replaced or swapped with their neighbour to get from one to
/// the other.
size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to what was typed; empty if none is near.
std::string suggest(std::string_view typed, const std::vector<std::string>& candidates);

}  // namespace pastcone
