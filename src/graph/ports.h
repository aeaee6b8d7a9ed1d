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
// receives from n channels. An epoll instance is a port of each thread that waits at it, and a replay tells
// what it watched at each wait: a channel is a lane of its own each time it was watched. How many descriptors
// poll was asked about is in the log: one is no choice; and those that were ever asked about together are one
// port. So are the selects of a thread. A channel belongs to such a port from when the thread had it; so too
// many receives may be flagged, where a thread waits for different things at different times. Channels that
// several threads send to or receive from are contested already, and left out; so is which of a connection
// and a message came first.
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
inline constexpr uint32_t kPolled =
    0;  ///< the channel's place in the graph's, and a multiple of their number
inline constexpr uint32_t kListening = 1;  ///< the connection

// What a thread waited for together is known by a descriptor that poll was asked about, or by
inline constexpr int32_t kAnyDescriptor = -1;  ///< for select, and epoll instances that are not known
constexpr int32_t port_of_instance(int32_t descriptor) { return kAnyDescriptor - 1 - descriptor; }
constexpr bool is_instance(int32_t port) { return port < kAnyDescriptor; }

class Ports {
 public:
  /// What one thread waited for: which descriptors together, and the receives that followed.
  struct Waits {
    std::map<int32_t, int32_t> together;  ///< a descriptor → another one of its port, or itself
    /// channel → of each receive that was chosen: which event, and a descriptor of the port.
    std::map<uint64_t, std::map<uint32_t, int32_t>> chosen;
    std::map<uint64_t, uint32_t> opened;                ///< connection → where this thread got it
    const std::map<int32_t, Spans>* watched = nullptr;  ///< by epoll instances; see Told::watched

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
  using Lanes = std::map<uint64_t, Lane>;  ///< by channel
  void read_lanes(const causal::Execution& execution, Lanes& lanes) const;
  void add_polled(uint32_t thread, Waits& waits, const Lanes& lanes, causal::Execution& execution) const;
  void add_watched(uint32_t thread, int32_t instance, const Spans& spans, const Lanes& lanes,
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

/// One thread, item by item. What is told must outlive the ports.
class PortScan {
 public:
  PortScan(uint32_t index, ThreadId id, const Told& told, Ports& ports)
      : index_(index),
        process_(id.process().number()),
        told_(told),
        ports_(ports),
        waits_(ports.waits(index)) {
    waits_.watched = &told.watched(index);
  }

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
