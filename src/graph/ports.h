// Places where the order of messages was open although each came on a channel of its own, for races.h:
//
//   - What a thread receives after poll, select or epoll_wait said that something is there. It took the
//   message
//     of one channel, and could have been told of another. A port is what a thread waited for together; each
//     channel is a lane.
//   - A listening socket, where connections come in the order in which they were made.
//
// A replay tells which channels a wait told of (facts.h); the first receive from one of them that follows is
// the one that was chosen. Without a replay it is taken from what the thread did: if n were ready, the first
// receives from n channels. How many descriptors poll was asked about is in the log: one is no choice; and
// those that were ever asked about together are one port. So are all that one epoll instance told of, or the
// selects of a thread. A channel belongs to a port from when the thread had it. So too many receives may be
// flagged, where a thread waits for different things at different times. Channels that several threads send
// to or receive from are contested already, and left out; so is which of a connection and a message came
// first.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "pastcone/base/result.h"
#include "pastcone/causal/contests.h"
#include "pastcone/graph/told.h"
#include "pastcone/trace/stream_reader.h"

namespace pastcone::graph {

/// PortInput::label, which also says what a lane is.
inline constexpr uint32_t kPolled = 0;     ///< the channel's place in the graph's
inline constexpr uint32_t kListening = 1;  ///< the connection

class Ports {
 public:
  /// What one thread waited for: which descriptors together, and the receives that followed.
  struct Waits {
    std::map<int32_t, int32_t> together;  ///< a descriptor → another one of its port, or itself
    /// channel → of each receive that was chosen: which event, and a descriptor of the port.
    std::map<uint64_t, std::map<uint32_t, int32_t>> chosen;
    std::map<uint64_t, uint32_t> opened;  ///< connection → where this thread got it

    int32_t port_of(int32_t descriptor) const;
    void join(int32_t a, int32_t b);
  };

  Waits& waits(uint32_t thread) { return waits_[thread]; }
  void add_connect(uint64_t connection, causal::Node at) { connects_.emplace(connection, at); }
  /// `listener` 0: it is not known.
  void add_accept(uint64_t connection, causal::Node at, uint64_t listener) {
    accepts_.push_back({connection, at, listener});
  }
  void add_listen(uint32_t process) { listeners_[process] = true; }

  /// Into `execution`, which has its threads and transfers. Uses them up.
  void finish(causal::Execution& execution) &&;

 private:
  struct Lane;
  void add_polled(uint32_t thread, Waits& waits, const std::map<uint64_t, Lane>& lanes,
                  causal::Execution& execution) const;
  void add_listening(causal::Execution& execution) const;
  uint32_t listener(uint32_t thread, const causal::Execution& execution) const;

  std::map<uint32_t, Waits> waits_;
  std::map<uint64_t, causal::Node> connects_;
  struct Accept {
    uint64_t connection;
    causal::Node at;
    uint64_t listener;
  };
  std::vector<Accept> accepts_;
  std::map<uint32_t, bool> listeners_;  ///< processes that have listened
};

/// One thread, item by item.
class PortScan {
 public:
  PortScan(uint32_t index, ThreadId id, const Told& told, Ports& ports)
      : index_(index),
        process_(id.process().number()),
        told_(told),
        ports_(ports),
        waits_(ports.waits(index)) {}

  Status take(StreamReader& reader, const Item& item);

 private:
  Status wait(StreamReader& reader, const Item& item);
  Status poll(StreamReader& reader, const Item& item);
  bool chosen(uint64_t channel);
  void open(const Item& item, causal::Node at);

  uint32_t index_, process_;
  const Told& told_;
  Ports& ports_;
  Ports::Waits& waits_;
  const Told::Wait* wait_ = nullptr;  ///< what the last wait told, if it is known
  int64_t ready_ = 0;                 ///< by the last wait, if it had a choice
  int32_t port_ = 0;                  ///< a descriptor of it
  std::set<uint64_t> used_;           ///< channels since then
  std::vector<int32_t> asked_;        ///< descriptors that the last poll was about
};

/// The channel that a message came on, by its place in Contests::messages; none: it is a connection.
std::optional<uint64_t> channel_of(const causal::Graph& graph, const causal::Contests& contests,
                                   uint32_t message);

}  // namespace pastcone::graph
