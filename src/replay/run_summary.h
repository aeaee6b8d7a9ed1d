// What the director must know about a whole run before it can start: how much each channel carries, which
// output there is, how each thread ends. One pass over all event streams.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "pastcone/base/ids.h"
#include "pastcone/base/result.h"
#include "pastcone/trace/item.h"
#include "pastcone/trace/recording.h"

namespace pastcone::replay {

struct ThreadSummary {
  uint64_t events = 0;
  bool complete = false;  ///< its stream ends because the thread did, or recording stopped; not in the middle
  std::optional<format::StopReason> left = {};  ///< if recording stopped: why; it went on outside
};

/// What is received on a channel. A receive says where it begins if the end has been shared, or if it only peeks.
struct ChannelSummary {
  uint64_t in_order = 0;  ///< bytes of receives that do not say where
  uint64_t furthest = 0;  ///< where the last of the others ends
  uint64_t total = 0;

  uint64_t size() const { return std::max(in_order, furthest); }
  bool peeked() const { return total > size(); }  ///< some bytes were looked at more than once
};

/// The turns of one group that occur in the logs.
class Turns {
 public:
  /// False: there cannot be so many.
  bool add(uint64_t number);
  /// Calls take(before, next) wherever some are missing between two. The first, 1, is in no log.
  template <typename Take>
  void each_gap(Take take) const {
    uint64_t before = 1;
    for (uint64_t number = 2; number < seen_.size(); ++number) {
      if (!seen_[number]) continue;
      if (number != before + 1) take(before, number);
      before = number;
    }
  }

 private:
  std::vector<bool> seen_;
};

struct RunSummary {
  std::map<ThreadId, ThreadSummary> threads;
  std::vector<ChannelSummary> channels;
  std::map<uint32_t, Turns> turns;  ///< by group
  std::vector<uint64_t> outputs;   ///< the numbers of all writes to standard output and error, in order
  uint64_t output_bytes = 0;       ///< before the last of them
  uint32_t last_connection = 0;    ///< highest ids that occur
  uint32_t last_group = 0;
  uint64_t events = 0;

  /// An error if a stream is damaged.
  static Result<RunSummary> read(const Recording& recording);
};

/// Adds up one thread's items. The pure part of RunSummary::read.
class ThreadScan {
 public:
  /// False: the item makes no sense (a channel that cannot be).
  bool take(const Item& item, RunSummary& run);
  const ThreadSummary& summary() const { return summary_; }

 private:
  bool take_transfer(const Item& item, RunSummary& run);

  ThreadSummary summary_;
  std::optional<uint64_t> position_;  ///< where the next receive begins, if it says so
  std::optional<Item> output_;        ///< kOutput, of which the event has not come yet
};

}  // namespace pastcone::replay
