// Bytes and messages: which positions of its channel each send and receive covers. Where an end was never
// shared the log does not say, since the sum of what went before tells; then the order of the threads that
// used it is the order of their turns.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "pastcone/causal/model.h"
#include "pastcone/graph/turns.h"
#include "pastcone/trace/item.h"

namespace pastcone::graph {

class Transfers {
 public:
  struct Use {
    causal::Node at;
    Turn turn;
    uint64_t length = 0;
    std::optional<uint64_t> position;
    std::optional<uint64_t> went = length;  ///< of a send: so many of them; none: it failed
  };

  void add_send(uint64_t channel, const Use& use) { channels_[channel].sends.push_back(use); }
  void add_receive(uint64_t channel, const Use& use) { channels_[channel].receives.push_back(use); }
  /// Somebody opened it by name: a FIFO, or a pipe by one of its descriptors' names.
  void add_named(uint64_t channel) { fifos_.insert(channel); }
  /// A replay has told which are FIFOs.
  void set_fifos(std::set<uint64_t> channels) { fifos_ = std::move(channels); }
  /// Into `execution`. Uses them up.
  void finish(causal::Execution& execution) &&;

 private:
  struct Ends {
    std::vector<Use> sends, receives;
  };

  std::map<uint64_t, Ends> channels_;
  std::set<uint64_t> fifos_;
};

/// The transfers of one thread, item by item. What a send did is known when the item after it has come.
class TransferScan {
 public:
  TransferScan(uint32_t index, Transfers& transfers) : index_(index), transfers_(transfers) {}

  /// `turn` has taken the item.
  void take(const Item& item, const TurnScan& turn);
  void finish() { settle(); }

 private:
  void settle();

  uint32_t index_;
  Transfers& transfers_;
  std::optional<uint64_t> position_;
  std::optional<Transfers::Use> sent_;
  bool corrected_ = false;  ///< sent_; a second correction is of the whole call
  uint64_t channel_ = 0;
};

}  // namespace pastcone::graph
