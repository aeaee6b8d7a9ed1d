#include <algorithm>

#include "pastcone/causal/build_parts.h"
#include "pastcone/causal/radix.h"

namespace pastcone::causal {
namespace {

uint64_t by_event(Node node) { return uint64_t{node.thread} << 32 | node.event; }

/// Sorts by channel, position, and for equal positions event; drops what has no bytes and, as EdgeList does,
/// what is not in the recording.
Status put_in_order(Execution& execution, std::vector<Transfer>& transfers, const char* what) {
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
  auto count = static_cast<uint32_t>(transfers.size());
  std::vector<Transfer> sorted;
  sorted.reserve(count);
  for (uint32_t place : sorted_places(count, [&](uint32_t i) { return uint64_t{transfers[i].channel}; })) {
    sorted.push_back(transfers[place]);
  }
  transfers = std::move(sorted);
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

std::vector<uint32_t> starts(const std::vector<Transfer>& transfers, size_t channels) {
  std::vector<uint32_t> first(channels + 1, 0);
  for (const Transfer& each : transfers) ++first[each.channel + 1];
  for (size_t i = 1; i <= channels; ++i) first[i] += first[i - 1];
  return first;
}

ByThread by_thread(const Column<Transfer>& transfers, size_t threads) {
  std::vector<uint32_t> first(threads + 1, 0);
  for (const Transfer& each : transfers) ++first[each.at.thread + 1];
  for (size_t i = 1; i <= threads; ++i) first[i] += first[i - 1];
  std::vector<uint32_t> items = sorted_places(static_cast<uint32_t>(transfers.size()),
                                              [&](uint32_t i) { return by_event(transfers[i].at); });
  return {std::move(first), std::move(items)};
}

/// From the same list by thread, which has each lane's items in the order of events already.
Lanes lanes(const Column<Transfer>& transfers, const ByThread& threads, size_t channels) {
  Lanes result;
  auto count = static_cast<uint32_t>(transfers.size());
  std::vector<uint32_t> items(count);
  std::vector<uint32_t> places =
      sorted_places(count, [&](uint32_t i) { return transfers[threads.items[i]].channel; });
  for (uint32_t i = 0; i < count; ++i) items[i] = threads.items[places[i]];
  std::vector<Lane> list;
  std::vector<uint32_t> of_channel(channels + 1, 0);
  for (uint32_t i = 0; i < count; ++i) {
    const Transfer& each = transfers[items[i]];
    if (list.empty() || list.back().channel != each.channel || list.back().thread != each.at.thread) {
      list.push_back({each.channel, each.at.thread, i, 0});
      ++of_channel[each.channel + 1];
    }
    ++list.back().count;
  }
  for (size_t i = 1; i <= channels; ++i) of_channel[i] += of_channel[i - 1];
  return {std::move(list), std::move(items), std::move(of_channel)};
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

}  // namespace

Status add_transfers(Execution& execution, Graph& graph) {
  TRY_STATUS(put_in_order(execution, execution.sends, "a send"));
  TRY_STATUS(put_in_order(execution, execution.receives, "a receive"));
  size_t channels = execution.channels.size(), threads = graph.threads.size();
  graph.first_send = starts(execution.sends, channels);
  graph.first_receive = starts(execution.receives, channels);
  graph.sends = std::move(execution.sends);
  graph.receives = std::move(execution.receives);
  std::vector<Channel> list;
  list.reserve(channels);
  for (const ChannelInput& input : execution.channels) list.push_back({input.id, 0, 0});
  graph.channels = std::move(list);
  TRY_STATUS(check_sends(graph));
  graph.sends_by_thread = by_thread(graph.sends, threads);
  graph.receives_by_thread = by_thread(graph.receives, threads);
  graph.send_lanes = lanes(graph.sends, graph.sends_by_thread, channels);
  TRY_STATUS(check_lanes(graph));
  graph.receive_lanes = lanes(graph.receives, graph.receives_by_thread, channels);
  list.clear();
  for (uint32_t channel = 0; channel < channels; ++channel) {
    list.push_back(
        {execution.channels[channel].id, channel_flags(graph, channel, execution.channels[channel]), 0});
  }
  graph.channels = std::move(list);
  return {};
}

}  // namespace pastcone::causal
