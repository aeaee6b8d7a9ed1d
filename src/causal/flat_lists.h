// What of a graph lies in its flat form, and how: one description for both ways. A part of flat.h.
//
// A coder has number(list, value, expected) for what is near what was expected, and plain(list, value). To
// write it is given a Graph, to read FlatLists that have their sizes already.
#pragma once

#include <algorithm>
#include <vector>

#include "pastcone/causal/graph.h"

namespace pastcone::causal {

/// Numbers of one kind lie together.
enum class FlatList : uint32_t {
  kThreads,
  kFirstGroups,
  kGroups,
  kGroupEdges,
  kEdgeThreads,
  kEdgeEvents,
  kLabels,
  kKinds,
  kCausal,
  kEnforced,
  kChannels,
  kSends,
  kSendThreads,
  kSendEvents,
  kReceives,
  kReceiveThreads,
  kReceiveEvents,
  kAccesses,
  kPorts,
  kArrivals,
  kTakings,
  kBetween,
  kCount,
};
inline constexpr uint32_t kFlatLists = static_cast<uint32_t>(FlatList::kCount);

/// The members of Graph that are read; all others follow from them.
struct FlatLists {
  struct Vectors {
    std::vector<uint32_t> vectors;
  };

  std::vector<Thread> threads;
  std::vector<uint32_t> first_group;
  std::vector<Group> groups;
  std::vector<Edge> edges;
  std::vector<uint8_t> kinds;
  Vectors causal, enforced;
  std::vector<Channel> channels;
  std::vector<Transfer> sends, receives;
  std::vector<AccessInput> accesses;
  std::vector<PortInput> ports;
  std::vector<ArrivalInput> arrivals;
  std::vector<TakingInput> takings;
  struct {
    std::vector<uint32_t> first, items;
  } between;
  std::vector<uint32_t> points, since;
};

/// Of each thread the last event that was mentioned: the next one is not far.
class LastEvents {
 public:
  explicit LastEvents(size_t threads) : last_(threads + 1, 0) {}

  template <typename Coder>
  void code(Coder& coder, FlatList threads, FlatList events, auto& node) {
    coder.plain(threads, node.thread);
    uint32_t& last = last_[std::min<size_t>(node.thread, last_.size() - 1)];
    coder.number(events, node.event, last);
    last = node.event;
  }

 private:
  std::vector<uint32_t> last_;
};

template <typename Coder>
void code_threads(Coder& coder, auto& lists) {
  for (auto& each : lists.threads) {
    coder.plain(FlatList::kThreads, each.process);
    coder.plain(FlatList::kThreads, each.number);
    coder.plain(FlatList::kThreads, each.events);
    coder.plain(FlatList::kThreads, each.flags);
    coder.plain(FlatList::kThreads, each.creator.thread);
    coder.plain(FlatList::kThreads, each.creator.event);
  }
}

template <typename Coder>
void code_groups(Coder& coder, auto& lists) {
  uint32_t last = 0, event = 0;
  for (auto& each : lists.first_group) {
    coder.number(FlatList::kFirstGroups, each, last);
    last = each;
  }
  last = 0;
  for (auto& each : lists.groups) {
    coder.number(FlatList::kGroups, each.event, event);
    coder.number(FlatList::kGroupEdges, each.first_edge, last);
    event = each.event;
    last = each.first_edge;
  }
}

/// A thread's edges of one kind mostly come from the same few others, and go on where the last one was.
template <typename Coder>
void code_edges(Coder& coder, auto& lists) {
  struct Last {
    uint32_t event = 0, label = 0;
  };
  size_t threads = std::max<size_t>(lists.threads.size(), 1);
  std::vector<Last> lasts(threads * kEdgeKinds);
  for (size_t i = 0; i < lists.edges.size(); ++i) {
    auto& each = lists.edges[i];
    coder.plain(FlatList::kKinds, lists.kinds[i]);
    coder.plain(FlatList::kEdgeThreads, each.from.thread);
    Last& last = lasts[std::min<size_t>(each.from.thread, threads - 1) * kEdgeKinds +
                       std::min<size_t>(lists.kinds[i], kEdgeKinds - 1)];
    coder.number(FlatList::kEdgeEvents, each.from.event, last.event);
    coder.number(FlatList::kLabels, each.label, last.label);
    last = {each.from.event, each.label + 1};
  }
}

template <typename Coder>
void code_vectors(Coder& coder, FlatList list, auto& vectors, size_t width) {
  for (size_t i = 0; i < vectors.size(); ++i) {
    uint32_t expected = i < width ? 0 : vectors[i - width];
    coder.number(list, vectors[i], expected);
  }
}

template <typename Coder>
void code_transfers(Coder& coder, FlatList numbers, FlatList threads, FlatList events, auto& transfers,
                    size_t thread_count) {
  LastEvents last(thread_count);
  uint64_t position = 0;
  uint32_t channel = 0, length = 0;
  for (auto& each : transfers) {
    coder.number(numbers, each.channel, channel);
    if (each.channel != channel) position = 0;
    coder.number(numbers, each.begin, position);
    coder.number(numbers, each.length, length);
    last.code(coder, threads, events, each.at);
    position = each.begin + each.length;
    channel = each.channel;
    length = each.length;
  }
}

template <typename Coder>
void code_ports(Coder& coder, auto& lists) {
  size_t threads = lists.threads.size();
  LastEvents accesses(threads), sends(threads), takings(threads);
  for (auto& each : lists.accesses) {
    accesses.code(coder, FlatList::kAccesses, FlatList::kAccesses, each.at);
    coder.plain(FlatList::kAccesses, each.until);
    coder.plain(FlatList::kAccesses, each.object);
    coder.plain(FlatList::kAccesses, each.write);
  }
  for (auto& each : lists.ports) {
    coder.plain(FlatList::kPorts, each.label);
    coder.plain(FlatList::kPorts, each.queue);
    coder.plain(FlatList::kPorts, each.set);
  }
  for (auto& each : lists.arrivals) {
    coder.plain(FlatList::kArrivals, each.port);
    coder.plain(FlatList::kArrivals, each.lane);
    coder.plain(FlatList::kArrivals, each.tag);
    sends.code(coder, FlatList::kArrivals, FlatList::kArrivals, each.send);
    coder.plain(FlatList::kArrivals, each.until.thread);
    coder.plain(FlatList::kArrivals, each.until.event);
  }
  uint32_t arrival = 0;
  for (auto& each : lists.takings) {
    coder.number(FlatList::kTakings, each.arrival, arrival);
    takings.code(coder, FlatList::kTakings, FlatList::kTakings, each.at);
    coder.plain(FlatList::kTakings, each.tag);
    coder.plain(FlatList::kTakings, each.any_lane);
    arrival = each.arrival + 1;
  }
}

template <typename Coder>
void code_between(Coder& coder, auto& lists) {
  uint32_t last = 0;
  for (auto& each : lists.between.first) {
    coder.number(FlatList::kBetween, each, last);
    last = each;
  }
  uint32_t item = 0, point = 0;
  for (size_t i = 0; i < lists.between.items.size(); ++i) {
    coder.number(FlatList::kBetween, lists.between.items[i], item);
    coder.number(FlatList::kBetween, lists.points[i], point);
    coder.plain(FlatList::kBetween, lists.since[i]);
    item = lists.between.items[i];
    point = lists.points[i];
  }
}

/// All but threads and groups.
template <typename Coder>
void code_rest(Coder& coder, auto& lists) {
  size_t threads = lists.threads.size();
  code_edges(coder, lists);
  code_vectors(coder, FlatList::kCausal, lists.causal.vectors, threads);
  code_vectors(coder, FlatList::kEnforced, lists.enforced.vectors, threads);
  for (auto& each : lists.channels) {
    coder.plain(FlatList::kChannels, each.id);
    coder.plain(FlatList::kChannels, each.flags);
  }
  code_transfers(coder, FlatList::kSends, FlatList::kSendThreads, FlatList::kSendEvents, lists.sends,
                 threads);
  code_transfers(coder, FlatList::kReceives, FlatList::kReceiveThreads, FlatList::kReceiveEvents,
                 lists.receives, threads);
  code_ports(coder, lists);
  code_between(coder, lists);
}

/// Whether every number in the lists leads somewhere, and everything that has to be in order is. What follows
/// from them is not there yet.
Status check_lists(const FlatLists& lists, uint32_t real_threads, uint32_t objects);

}  // namespace pastcone::causal
