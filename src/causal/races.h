// Receives that could have taken another message, exactly (P3, after Netzer and Miller; its quick test is
// on_the_fly.h).
//
// The run up to the receive is taken as it was. A message m *raced* for a receive r that took another one if
// there is a state in which r is about to happen and m is the next of its sender, all messages before having
// gone where they went. That is so if
//   - r did not come before m's send, nor before the receive of an earlier message of the same lane;
//   - in a queue (pipe, Unix socket, listening socket), nor before that of any message sent before m: these
//   arrive before it;
//   - m's own receive did not come before the event before r, nor the event up to which r's thread could take
//   it;
//   - r takes messages of any lane, and any tag or m's.
// "Before" is by causal edges, without the order in which receivers that share an end happened to get there.
// All that is asked of the graph are the vectors at sends and receives of such places: one sweep. With n
// messages from s senders for r receivers, time is n·s at worst, and n·s·r + n·r·log n where several threads
// receive; the answer is n·r intervals of receives. Exact for what arrives by lanes, and for one queue with
// one receiver. What the order in other queues, or the order in which several receivers emptied a queue,
// excludes is not used: there too many may be flagged, never too few.
//
// Messages that raced for an earlier receive than their own are the ones P3 traces: with their receives
// forced, and all others kept from them and from what the same sender sent after them, everything else
// happens again by itself. That includes messages that nobody received.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pastcone/causal/contests.h"

namespace pastcone::causal {

/// A receive of one message at a contested place.
struct RacyReceive {
  Node at;
  uint32_t taking;  ///< its place in Contests::takings
  uint32_t rivals;  ///< how many messages raced for it, other than the one it took
};

/// A record of P3's trace files. A receive {0, 0}: nobody received it, and nobody may.
struct TraceRecord {
  Node receive, send;

  auto operator<=>(const TraceRecord&) const = default;
};

class Races {
 public:
  static Races find(const Graph& graph);

  const Contests& contests() const { return contests_; }
  /// Receives that take whatever comes first.
  size_t contested() const { return list_.size(); }
  /// Those of them with rivals: by contest, thread and event.
  const std::vector<RacyReceive>& receives() const { return receives_; }
  /// The messages that raced for it, by their place in Contests::messages. For all receives: rival_walk.h.
  std::vector<uint32_t> rivals(const RacyReceive& receive) const;
  /// The same of several, in one go through all that raced.
  std::vector<std::vector<uint32_t>> rivals(std::span<const RacyReceive* const> receives) const;
  /// What would have to be traced, by receiver and event: P3's files TF, one after the other.
  const std::vector<TraceRecord>& traced() const { return traced_; }

 private:
  friend class RaceFinder;
  friend class RivalWalk;

  /// For the receives [first, last) of `list_`, a message could have been taken.
  struct Interval {
    uint32_t contest, message, first, last;
  };

  Contests contests_;
  std::vector<uint32_t> list_;       ///< takings from any lane: by contest, thread and tag, then event
  std::vector<uint32_t> listed_;     ///< of each taking: its place there, or kNone
  std::vector<Interval> intervals_;  ///< by contest
  std::vector<RacyReceive> receives_;
  std::vector<TraceRecord> traced_;
};

/// The same records by sender and event: P3's files CTF.
std::vector<TraceRecord> by_sender(std::vector<TraceRecord> records);

}  // namespace pastcone::causal
