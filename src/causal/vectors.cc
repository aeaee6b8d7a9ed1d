#include "pastcone/causal/vectors.h"

namespace pastcone::causal {

#if defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
__attribute__((target_clones("avx2", "default"), optimize("O3")))
#endif
void join(uint32_t* __restrict into, const uint32_t* __restrict from, size_t count) {
  for (size_t i = 0; i < count; ++i) into[i] = into[i] > from[i] ? into[i] : from[i];
}

}  // namespace pastcone::causal
