// Bytes and messages: which positions of its channel each send and receive covers. Where an end was never
// shared the log does not say, since the sum of what went before tells; then the order of the threads that
// used it is the order of their turns.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "pastcone/causal/model.h"
#include "pastcone/trace/item.h"

namespace pastcone::graph {

class Transfers {
 public:
  struct Use {
    causal::Node at;
    uint64_t turn = 0;  ///< of the thread then
    uint64_t length = 0;
    std::optional<uint64_t> position;
  };

  void add_send(uint64_t channel, const Use& use) { channels_[channel].sends.push_back(use); }
  void add_receive(uint64_t channel, const Use& use, bool message) {
    Ends& ends = channels_[channel];
    ends.messages = ends.messages || message;
    ends.receives.push_back(use);
  }
  /// Into `execution`. Uses them up.
  void finish(causal::Execution& execution) &&;

 private:
  struct Ends {
    std::vector<Use> sends, receives;
    bool messages = false;
  };

  std::map<uint64_t, Ends> channels_;
};

/// The transfers of one thread, item by item. What a send did is known when the item after it has come.
class TransferScan {
 public:
  TransferScan(uint32_t index, Transfers& transfers) : index_(index), transfers_(transfers) {}

  /// `turn`: the thread's own by now.
  void take(const Item& item, uint64_t turn);
  void finish() { settle(); }

 private:
  void settle();

  uint32_t index_;
  Transfers& transfers_;
  std::optional<uint64_t> position_;
  std::optional<Transfers::Use> sent_;
  uint64_t channel_ = 0;
};

}  // namespace pastcone::graph
