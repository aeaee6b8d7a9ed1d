// The one operation on vectors that takes time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pastcone::causal {

/// into[i] = max(into[i], from[i]).
void join(uint32_t* into, const uint32_t* from, size_t count);

}  // namespace pastcone::causal
