#include "pastcone/causal/contests.h"

#include <algorithm>

#include "pastcone/causal/radix.h"

namespace pastcone::causal {
namespace {

void add_channel(const Graph& graph, uint32_t channel, Contests& contests) {
  const Channel& info = graph.channels[channel];
  Contest contest{channel,
                  false,
                  (info.flags & Channel::kQueue) != 0,
                  false,
                  static_cast<uint32_t>(contests.messages.size()),
                  0,
                  static_cast<uint32_t>(contests.takings.size()),
                  0,
                  {},
                  {}};
  auto number = static_cast<uint32_t>(contests.list.size());
  std::span<const Transfer> receives = graph.receives_of(channel);
  size_t receive = 0;
  uint32_t item = graph.first_send[channel];
  for (const Transfer& send : graph.sends_of(channel)) {
    auto message = static_cast<uint32_t>(contests.messages.size());
    contests.messages.push_back({send.at, number, send.at.thread, 0, item++, {}});
    // Who took its first byte.
    while (receive < receives.size() &&
           (info.messages() ? receives[receive].begin < send.begin : receives[receive].end() <= send.begin)) {
      ++receive;
    }
    bool taken = receive < receives.size() && (info.messages() ? receives[receive].begin == send.begin
                                                               : receives[receive].begin <= send.begin);
    if (taken) contests.takings.push_back({receives[receive].at, message, kNone, true});
  }
  contests.list.push_back(std::move(contest));
}

void add_ports(const Graph& graph, Contests& contests) {
  auto first = static_cast<uint32_t>(contests.list.size());
  std::vector<uint32_t> number(graph.arrivals.size(), kNone);
  auto there = [&](Node node) { return node.event != 0 && node.event <= graph.threads[node.thread].events; };
  for (uint32_t port = 0; port < graph.ports.size(); ++port) {
    contests.list.push_back(
        {port, true, graph.ports[port].queue != 0, graph.ports[port].set != 0, 0, 0, 0, 0, {}, {}});
  }
  auto count = static_cast<uint32_t>(graph.arrivals.size());
  for (uint32_t place : sorted_places(count, [&](uint32_t i) { return graph.arrivals[i].port; })) {
    const ArrivalInput& arrival = graph.arrivals[place];
    if (!there(arrival.send)) continue;
    number[place] = static_cast<uint32_t>(contests.messages.size());
    contests.messages.push_back(
        {arrival.send, first + arrival.port, arrival.lane, arrival.tag, place, arrival.until});
  }
  for (const TakingInput& taking : graph.takings) {
    if (number[taking.arrival] == kNone || !there(taking.at)) continue;
    contests.takings.push_back({taking.at, number[taking.arrival], taking.tag, taking.any_lane != 0});
  }
}

std::vector<uint32_t> ascending(std::vector<uint32_t> threads) {
  std::ranges::sort(threads);
  threads.erase(std::unique(threads.begin(), threads.end()), threads.end());
  return threads;
}

void put_takings_in_order(Contests& contests) {
  auto sort_by = [&](auto key) {
    std::vector<ContestTaking> sorted;
    sorted.reserve(contests.takings.size());
    auto count = static_cast<uint32_t>(contests.takings.size());
    for (uint32_t place : sorted_places(count, [&](uint32_t i) { return key(contests.takings[i]); })) {
      sorted.push_back(contests.takings[place]);
    }
    contests.takings = std::move(sorted);
  };
  sort_by([](const ContestTaking& taking) { return uint64_t{taking.at.thread} << 32 | taking.at.event; });
  sort_by([&](const ContestTaking& taking) { return uint64_t{contests.messages[taking.message].contest}; });
  for (uint32_t i = 0; i < contests.takings.size(); ++i)
    contests.messages[contests.takings[i].message].taking = i;
}

/// What belongs to each contest, now that the lists are in order.
void fill_in(Contests& contests) {
  uint32_t message = 0, taking = 0;
  for (uint32_t number = 0; number < contests.list.size(); ++number) {
    Contest& contest = contests.list[number];
    contest.first_message = message;
    contest.first_taking = taking;
    std::vector<uint32_t> senders, receivers;
    for (; message < contests.messages.size() && contests.messages[message].contest == number; ++message) {
      uint32_t thread = contests.messages[message].send.thread;
      if (senders.empty() || senders.back() != thread) senders.push_back(thread);
    }
    for (; taking < contests.takings.size() &&
           contests.messages[contests.takings[taking].message].contest == number;
         ++taking) {
      uint32_t thread = contests.takings[taking].at.thread;
      if (receivers.empty() || receivers.back() != thread) receivers.push_back(thread);
    }
    contest.messages = message - contest.first_message;
    contest.takings = taking - contest.first_taking;
    contest.senders = ascending(std::move(senders));
    contest.receivers = ascending(std::move(receivers));
  }
}

}  // namespace

uint32_t place_in(std::span<const uint32_t> list, uint32_t thread) {
  auto found = std::ranges::lower_bound(list, thread);
  return found != list.end() && *found == thread ? static_cast<uint32_t>(found - list.begin()) : kNone;
}

Contests find_contests(const Graph& graph) {
  Contests contests;
  for (uint32_t channel = 0; channel < graph.channels.size(); ++channel) {
    if (graph.send_lanes.of(channel).size() > 1 || graph.receive_lanes.of(channel).size() > 1) {
      add_channel(graph, channel, contests);
    }
  }
  add_ports(graph, contests);
  put_takings_in_order(contests);
  fill_in(contests);
  return contests;
}

}  // namespace pastcone::causal
