// What of a graph lies in its flat form as a whole, and how: one description for both ways. A part of flat.h.
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
  kChannels,
  kLanes,
  kAccesses,
  kPorts,
  kArrivals,
  kTakings,
  kWatches,
  kBetween,
  kBlocks,  ///< sizes of what lies behind the lists
  kCount,
};
inline constexpr uint32_t kFlatLists = static_cast<uint32_t>(FlatList::kCount);

/// The members of Graph that are read at once.
struct FlatLists {
  struct Lanes {
    std::vector<Lane> lanes;
    std::vector<uint32_t> of_channel;
  };

  std::vector<Thread> threads;
  std::vector<uint32_t> first_group;
  std::vector<Channel> channels;
  std::vector<uint32_t> first_send, first_receive;
  Lanes send_lanes, receive_lanes;
  std::vector<AccessInput> accesses;
  std::vector<PortInput> ports;
  std::vector<ArrivalInput> arrivals;
  std::vector<TakingInput> takings;
  std::vector<WatchInput> watches;
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
void code_rising(Coder& coder, FlatList list, auto& numbers) {
  uint32_t last = 0;
  for (auto& each : numbers) {
    coder.number(list, each, last);
    last = each;
  }
}

template <typename Coder>
void code_lanes(Coder& coder, auto& lanes) {
  code_rising(coder, FlatList::kLanes, lanes.of_channel);
  for (auto& each : lanes.lanes) {
    coder.plain(FlatList::kLanes, each.channel);
    coder.plain(FlatList::kLanes, each.thread);
    coder.plain(FlatList::kLanes, each.first);
    coder.plain(FlatList::kLanes, each.count);
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
  for (auto& each : lists.watches) {
    coder.plain(FlatList::kWatches, each.process);
    coder.plain(FlatList::kWatches, each.set);
    coder.plain(FlatList::kWatches, each.what);
  }
}

template <typename Coder>
void code_between(Coder& coder, auto& lists) {
  code_rising(coder, FlatList::kBetween, lists.between.first);
  uint32_t item = 0, point = 0;
  for (size_t i = 0; i < lists.between.items.size(); ++i) {
    coder.number(FlatList::kBetween, lists.between.items[i], item);
    coder.number(FlatList::kBetween, lists.points[i], point);
    coder.plain(FlatList::kBetween, lists.since[i]);
    item = lists.between.items[i];
    point = lists.points[i];
  }
}

template <typename Coder>
void code_lists(Coder& coder, auto& lists) {
  code_threads(coder, lists);
  code_rising(coder, FlatList::kFirstGroups, lists.first_group);
  for (auto& each : lists.channels) {
    coder.plain(FlatList::kChannels, each.id);
    coder.plain(FlatList::kChannels, each.flags);
  }
  code_rising(coder, FlatList::kChannels, lists.first_send);
  code_rising(coder, FlatList::kChannels, lists.first_receive);
  code_lanes(coder, lists.send_lanes);
  code_lanes(coder, lists.receive_lanes);
  code_ports(coder, lists);
  code_between(coder, lists);
}

/// How many there are of what.
struct FlatCounts {
  uint32_t threads, real_threads, groups, edges;
  uint32_t channels, sends, receives, send_lanes, receive_lanes;
  uint32_t objects, accesses, ports, arrivals, takings, watches, between;
  uint32_t lost;
  uint32_t causal_spacing, enforced_spacing;
  uint32_t hand_overs;  ///< whether there are any
};

/// Whether every number in the lists leads somewhere, and everything that has to be in order is. What follows
/// from them is not there yet.
Status check_lists(const FlatLists& lists, const FlatCounts& counts);

}  // namespace pastcone::causal
