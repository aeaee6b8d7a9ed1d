#include <algorithm>

#include "pastcone/causal/build_parts.h"
#include "pastcone/causal/event_set.h"
#include "pastcone/causal/radix.h"

namespace pastcone::causal {
namespace {

/// Where each channel begins, and the last one ends, once they lie by channel.
std::vector<uint32_t> starts(std::span<const Transfer> transfers, size_t channels) {
  std::vector<uint32_t> first(channels + 1, 0);
  for (const Transfer& each : transfers) ++first[each.channel + 1];
  for (size_t i = 1; i <= channels; ++i) first[i] += first[i - 1];
  return first;
}

/// Sorts by channel, position, and for equal positions event; drops what has no bytes and, as EdgeList does,
/// what is not in the recording. What `spare` has in it does not matter, before or afterwards.
Status put_in_order(const Execution& execution, std::vector<Transfer>& transfers,
                    std::vector<Transfer>& spare, const char* what) {
  for (const Transfer& each : transfers) {
    if (each.channel >= execution.channels.size())
      return fail("{} is on a channel that does not exist", what);
    if (each.at.thread >= execution.threads.size())
      return fail("{} is of a thread that does not exist", what);
    if (each.begin > UINT64_MAX - each.length) return fail("{} has an impossible position", what);
  }
  std::erase_if(transfers, [&](const Transfer& each) {
    return (each.length == 0 && !execution.channels[each.channel].messages) || each.at.event == 0 ||
           each.at.event > execution.threads[each.at.thread].events;
  });
  if (transfers.size() >= kNone) return fail("there are too many messages");
  auto order = [](const Transfer& a, const Transfer& b) {
    return std::tie(a.channel, a.begin, a.at) < std::tie(b.channel, b.begin, b.at);
  };
  if (std::ranges::is_sorted(transfers, order)) return {};
  std::vector<uint32_t> place = starts(transfers, execution.channels.size());
  spare.resize(transfers.size());
  for (const Transfer& each : transfers) spare[place[each.channel]++] = each;
  std::swap(transfers, spare);
  // Whoever reads streams one by one has most channels in order now.
  for (auto from = transfers.begin(); from != transfers.end();) {
    auto until = std::ranges::find_if(from, transfers.end(),
                                      [&](const Transfer& each) { return each.channel != from->channel; });
    if (!std::is_sorted(from, until, order)) std::sort(from, until, order);
    from = until;
  }
  return {};
}

Status check_sends(const Graph& graph) {
  for (uint32_t channel = 0; channel < graph.channels.size(); ++channel) {
    std::span<const Transfer> sends = graph.sends_of(channel);
    for (size_t i = 1; i < sends.size(); ++i) {
      if (sends[i].begin == sends[i - 1].begin || sends[i].begin < sends[i - 1].end()) {
        return fail("position {} of channel {} was sent twice", sends[i].begin, graph.channels[channel].id);
      }
    }
  }
  return {};
}

/// Puts the transfers of a channel, which lie by position, apart by thread.
class LaneMaker {
 public:
  LaneMaker(const Column<Transfer>& transfers, size_t threads)
      : transfers_(transfers), items_(transfers.size()), next_(threads, 0) {}

  void add(uint32_t channel, uint32_t from, uint32_t until) {
    for (uint32_t i = from; i < until; ++i) {
      uint32_t thread = transfers_[i].at.thread;
      if (next_[thread]++ == 0) threads_.push_back(thread);
    }
    std::ranges::sort(threads_);
    size_t first_lane = lanes_.size();
    for (uint32_t thread : threads_) {
      uint32_t first = first_lane == lanes_.size() ? from : lanes_.back().first + lanes_.back().count;
      lanes_.push_back({channel, thread, first, next_[thread]});
      next_[thread] = first;
    }
    for (uint32_t i = from; i < until; ++i) items_[next_[transfers_[i].at.thread]++] = i;
    for (uint32_t thread : threads_) next_[thread] = 0;
    threads_.clear();
    auto event = [&](uint32_t item) { return transfers_[item].at.event; };
    for (size_t lane = first_lane; lane < lanes_.size(); ++lane) {
      auto items = std::span(items_).subspan(lanes_[lane].first, lanes_[lane].count);
      if (!std::ranges::is_sorted(items, {}, event)) std::ranges::stable_sort(items, {}, event);
    }
    of_channel_.push_back(static_cast<uint32_t>(lanes_.size()));
  }

  Lanes take() && { return {std::move(lanes_), std::move(items_), std::move(of_channel_)}; }

 private:
  const Column<Transfer>& transfers_;
  std::vector<Lane> lanes_;
  std::vector<uint32_t> items_, of_channel_{0};
  std::vector<uint32_t> next_;     ///< of each thread: how many there are, then where the next one goes
  std::vector<uint32_t> threads_;  ///< of the channel
};

Lanes lanes(const Column<Transfer>& transfers, const Column<uint32_t>& first, size_t threads) {
  LaneMaker maker(transfers, threads);
  for (uint32_t channel = 0; channel + 1 < first.size(); ++channel)
    maker.add(channel, first[channel], first[channel + 1]);
  return std::move(maker).take();
}

/// A thread's later sends have later positions.
Status check_lanes(const Graph& graph) {
  for (const Lane& lane : graph.send_lanes.lanes) {
    auto items = graph.send_lanes.items.view().subspan(lane.first, lane.count);
    if (std::ranges::is_sorted(items)) continue;
    return fail("{} sent on channel {} with positions that go back", graph.thread_id(lane.thread),
                graph.channels[lane.channel].id);
  }
  return {};
}

/// Something was sent that nobody received, but what was sent behind it was.
bool has_gaps(std::span<const Transfer> sends, std::span<const Transfer> receives, bool messages) {
  size_t place = 0;
  uint64_t taken = 0;  // all before it
  for (const Transfer& receive : receives) {
    if (messages) {
      if (place < sends.size() && sends[place].begin < receive.begin) return true;
      while (place < sends.size() && sends[place].begin <= receive.begin) ++place;
      continue;
    }
    while (place < sends.size() && sends[place].end() <= taken) ++place;
    if (place < sends.size() && std::max(sends[place].begin, taken) < receive.begin) return true;
    taken = std::max(taken, receive.end());
  }
  return false;
}

uint32_t channel_flags(const Graph& graph, uint32_t channel, const ChannelInput& input) {
  uint32_t flags = (input.messages ? Channel::kMessages : 0) | (input.queue ? Channel::kQueue : 0);
  if (!input.in_order) flags |= Channel::kAnyOrder | Channel::kUnordered;
  for (const Lane& lane : graph.receive_lanes.of(channel)) {
    auto items = graph.receive_lanes.items.view().subspan(lane.first, lane.count);
    if (!std::ranges::is_sorted(items)) flags |= Channel::kUnordered;
  }
  if (has_gaps(graph.sends_of(channel), graph.receives_of(channel), input.messages)) flags |= Channel::kGaps;
  return flags;
}

/// The lists of sends and receives by channel and thread.
Status index_transfers(Graph& graph) {
  size_t channels = graph.channels.size(), threads = graph.threads.size();
  graph.first_send = starts(graph.sends.view(), channels);
  graph.first_receive = starts(graph.receives.view(), channels);
  TRY_STATUS(check_sends(graph));
  graph.send_lanes = lanes(graph.sends, graph.first_send, threads);
  graph.receive_lanes = lanes(graph.receives, graph.first_receive, threads);
  return check_lanes(graph);
}

}  // namespace

ByThread by_thread(std::span<const Transfer> transfers, const Column<Thread>& threads) {
  auto count = static_cast<uint32_t>(transfers.size());
  std::vector<uint32_t> first(threads.size() + 1, 0), items;
  EventSet events(threads);
  for (const Transfer& each : transfers) {
    ++first[each.at.thread + 1];
    events.add(each.at);
  }
  for (size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
  if (events.count() == count) {  // one in each
    items.resize(count);
    for (uint32_t i = 0; i < count; ++i) items[events.before(transfers[i].at)] = i;
  } else {
    items = sorted_places(count, [&](uint32_t i) { return events.before(transfers[i].at); });
  }
  return {std::move(first), std::move(items)};
}

Status add_transfers(Execution& execution, Graph& graph) {
  std::vector<Transfer> spare;
  TRY_STATUS(put_in_order(execution, execution.sends, spare, "a send"));
  TRY_STATUS(put_in_order(execution, execution.receives, spare, "a receive"));
  graph.sends = std::move(execution.sends);
  graph.receives = std::move(execution.receives);
  std::vector<Channel> list;
  list.reserve(execution.channels.size());
  for (const ChannelInput& input : execution.channels) list.push_back({input.id, 0, 0});
  graph.channels = list;
  TRY_STATUS(index_transfers(graph));
  for (uint32_t channel = 0; channel < list.size(); ++channel)
    list[channel].flags = channel_flags(graph, channel, execution.channels[channel]);
  graph.channels = std::move(list);
  return {};
}

}  // namespace pastcone::causal
