// A set of events as bits, which knows how many of them come before a given one: so millions of events are
// put in order without sorting them. Two bits for each event that there is.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "pastcone/causal/graph.h"

namespace pastcone::causal {

class EventSet {
 public:
  explicit EventSet(const Column<Thread>& threads) : first_(threads.size() + 1, 0) {
    for (size_t i = 0; i < threads.size(); ++i) first_[i + 1] = first_[i] + threads[i].events;
    words_.resize(first_.back() / 64 + 1);
  }

  void add(Node node) {
    uint64_t place = first_[node.thread] + node.event - 1;
    words_[place / 64].bits |= uint64_t{1} << place % 64;
  }

  /// After the last add(): how many there are.
  uint32_t count() {
    uint32_t count = 0;
    for (Word& word : words_) {
      word.before = count;
      count += static_cast<uint32_t>(std::popcount(word.bits));
    }
    return count;
  }

  /// How many come before the event, by thread, then event. After count().
  uint32_t before(Node node) const { return below(first_[node.thread] + node.event - 1); }
  /// The same, and the event itself.
  uint32_t up_to(Node node) const { return below(first_[node.thread] + node.event); }

  /// Calls visit(node) for each, by thread, then event.
  template <typename Visit>
  void each(Visit visit) const {
    uint32_t thread = 0;
    for (uint64_t i = 0; i < words_.size(); ++i) {
      for (uint64_t bits = words_[i].bits; bits != 0; bits &= bits - 1) {
        uint64_t place = i * 64 + static_cast<unsigned>(std::countr_zero(bits));
        while (place >= first_[thread + 1]) ++thread;
        visit(Node{thread, static_cast<uint32_t>(place - first_[thread] + 1)});
      }
    }
  }

 private:
  struct Word {
    uint64_t bits = 0;
    uint64_t before = 0;  ///< bits in all words before it
  };

  uint32_t below(uint64_t place) const {
    const Word& word = words_[place / 64];
    uint64_t bits = word.bits & ((uint64_t{1} << place % 64) - 1);
    return static_cast<uint32_t>(word.before) + static_cast<uint32_t>(std::popcount(bits));
  }

  std::vector<uint64_t> first_;  ///< place of each thread's first event
  std::vector<Word> words_;
};

}  // namespace pastcone::causal
