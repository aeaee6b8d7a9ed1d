// The lock-free stacks of chunk indices in the stage: closed chunks on their way to the recorder, free ones
// on their way back. Treiber's, with a tag against ABA. A process that is killed in the middle of an
// operation leaks at most the one chunk it was handling; the final sweep of `live` finds that.
#pragma once

#include <cstdint>
#include <vector>

#include "pastcone/stage/layout.h"

namespace pastcone::record {

class ChunkStack {
 public:
  /// `head` is Header::free_chunks or Header::closed_chunks.
  ChunkStack(const stage::View& view, uint64_t& head) : view_(view), head_(head) {}

  void push(uint32_t index) {
    uint64_t old = __atomic_load_n(&head_, __ATOMIC_RELAXED), next;
    do {
      __atomic_store_n(&view_.chunk_link(index), static_cast<uint32_t>(old), __ATOMIC_RELAXED);
      next = ((old >> 32) + 1) << 32 | (index + 1);
    } while (!__atomic_compare_exchange_n(&head_, &old, next, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
  }

  /// Takes everything, oldest first. The links of what was taken belong to the caller until it pushes them
  /// again.
  std::vector<uint32_t> pop_all() {
    uint64_t old = __atomic_load_n(&head_, __ATOMIC_RELAXED);
    do {
      if (static_cast<uint32_t>(old) == 0) return {};
    } while (!__atomic_compare_exchange_n(&head_, &old, ((old >> 32) + 1) << 32, true, __ATOMIC_ACQUIRE,
                                          __ATOMIC_RELAXED));
    std::vector<uint32_t> taken;
    // Bounded: a program that scribbles over its stage must not send the recorder round in circles.
    for (auto at = static_cast<uint32_t>(old);
         at != 0 && at <= stage::kMaxChunks && taken.size() < stage::kMaxChunks;
         at = __atomic_load_n(&view_.chunk_link(at - 1), __ATOMIC_RELAXED)) {
      taken.push_back(at - 1);
    }
    return {taken.rbegin(), taken.rend()};
  }

 private:
  stage::View view_;
  uint64_t& head_;
};

}  // namespace pastcone::record
