#include "pastcone/graph/ports.h"

#include <algorithm>

namespace pastcone::graph {

using causal::Execution;
using causal::kNone;
using causal::Node;
using causal::Transfer;

int32_t Ports::Waits::port_of(int32_t descriptor) const {
  for (auto found = together.find(descriptor); found != together.end() && found->second != descriptor;
       found = together.find(descriptor)) {
    descriptor = found->second;
  }
  return descriptor;
}

void Ports::Waits::join(int32_t a, int32_t b) {
  a = port_of(a);
  together[port_of(b)] = a;
  together[a] = a;
}

/// What came on a channel that somebody waited for.
struct Ports::Lane {
  uint32_t place = 0;  ///< of the channel in the execution's
  uint32_t sender = kNone, receiver = kNone;
  bool contested = false;
  std::vector<Transfer> sends, receives;  ///< by position
  std::vector<uint32_t> taken;            ///< of each send: by which step of the receiver; 0: by none
  size_t last_taken = 0;                  ///< of these: behind the last one that was

  bool belongs_to(uint32_t thread) const { return !contested && (receiver == thread || receiver == kNone); }
  void find_taken(bool messages);
  /// From `first` on, behind the last one that was taken by then.
  size_t behind(size_t first, uint32_t step) const;

  void add(std::vector<Transfer> Lane::*list, uint32_t Lane::*thread, const Transfer& transfer) {
    contested = contested || (this->*thread != kNone && this->*thread != transfer.at.thread);
    this->*thread = transfer.at.thread;
    (this->*list).push_back(transfer);
  }
};

/// A send is taken by who gets its first byte.
void Ports::Lane::find_taken(bool messages) {
  size_t next = 0;
  for (const Transfer& send : sends) {
    auto before = [&](const Transfer& receive) {
      return messages ? receive.begin < send.begin : receive.end() <= send.begin;
    };
    while (next < receives.size() && before(receives[next])) ++next;
    bool is_taken = next < receives.size() &&
                    (messages ? receives[next].begin == send.begin : receives[next].begin <= send.begin);
    taken.push_back(is_taken ? receives[next].at.event : 0);
    if (is_taken) last_taken = taken.size();
  }
}

size_t Ports::Lane::behind(size_t first, uint32_t step) const {
  for (size_t i = first; i < last_taken && taken[i] <= step; ++i) {
    if (taken[i] != 0) first = i + 1;
  }
  return first;
}

/// Each time it was watched, a channel is a lane that begins with the first wait then, and from which nothing
/// can be had later than that.
void Ports::add_watched(uint32_t thread, int32_t instance, const Spans& spans, const Lanes& lanes,
                        Execution& execution) const {
  auto port = static_cast<uint32_t>(execution.ports.size());
  auto channels = static_cast<uint32_t>(execution.channels.size());
  const Waits& waits = waits_.at(thread);
  size_t used = 0;
  auto arrive = [&](uint32_t lane, Node send, uint32_t until, uint32_t taken, bool any) {
    if (taken != 0) {
      auto arrival = static_cast<uint32_t>(execution.arrivals.size());
      execution.takings.push_back({arrival, {thread, taken}, kNone, uint32_t{any}});
    }
    execution.arrivals.push_back({port, lane, 0, send, {thread, until}});
  };
  for (const auto& [channel, list] : spans) {
    auto found = lanes.find(channel);
    if (found == lanes.end() || found->second.sends.empty() || !found->second.belongs_to(thread)) continue;
    const Lane& lane = found->second;
    auto chosen = waits.chosen.find(channel);
    auto is_chosen = [&](uint32_t step) {
      if (chosen == waits.chosen.end()) return false;
      auto by = chosen->second.find(step);
      return by != chosen->second.end() && by->second == port_of_instance(instance);
    };
    uint32_t number = lane.place;
    size_t next = 0;
    for (const Span& span : list) {
      arrive(number, {thread, span.from}, 0, span.from, false);
      next = lane.behind(next, span.from);
      // The first one behind those that were taken then could have been.
      size_t until = span.until == 0 ? lane.last_taken : lane.behind(next, span.until);
      for (uint32_t last = 0; next < std::min(until + 1, lane.sends.size()); ++next) {
        uint32_t taken = lane.taken[next];
        bool then = next < until && taken != last && is_chosen(taken);
        arrive(number, lane.sends[next].at, span.until, taken, then);
        last = taken;
      }
      next = until;
      number += channels;
    }
    ++used;
  }
  if (used > 0) execution.ports.push_back({kPolled, 0, 0});
}

/// Each channel that was chosen once is a lane of the port.
void Ports::add_polled(uint32_t thread, Waits& waits, const Lanes& lanes, Execution& execution) const {
  std::map<int32_t, std::vector<const Lane*>> ports;
  std::map<uint64_t, int32_t> port_of;  // of a channel: one of those that it was chosen at
  for (const auto& [channel, receives] : waits.chosen) {
    for (const auto& [event, port] : receives) {
      if (!is_instance(port)) waits.join(port_of.emplace(channel, port).first->second, port);
    }
  }
  for (const auto& [channel, port] : port_of) {
    const Lane& lane = lanes.at(channel);
    if (lane.belongs_to(thread) && !lane.sends.empty()) ports[waits.port_of(port)].push_back(&lane);
  }
  for (const auto& [ignored, channels] : ports) {
    if (channels.size() < 2) continue;
    auto port = static_cast<uint32_t>(execution.ports.size());
    execution.ports.push_back({kPolled, 0, 0});
    for (const Lane* lane : channels) {
      const causal::ChannelInput& channel = execution.channels[lane->place];
      auto take = [&](Node at, bool any) {
        execution.takings.push_back(
            {static_cast<uint32_t>(execution.arrivals.size()) - 1, at, kNone, uint32_t{any}});
      };
      if (auto opened = waits.opened.find(channel.id / 2); opened != waits.opened.end()) {
        // Nothing can be had of it before, whenever it was sent.
        execution.arrivals.push_back({port, lane->place, 0, {thread, opened->second}, {}});
        take({thread, opened->second}, false);
      }
      const auto& chosen = waits.chosen.at(channel.id);
      uint32_t last = 0;
      for (size_t i = 0; i < lane->sends.size(); ++i) {
        execution.arrivals.push_back({port, lane->place, 0, lane->sends[i].at, {}});
        uint32_t taken = lane->taken[i];
        if (taken == 0) continue;
        take({thread, taken}, taken != last && chosen.contains(taken));
        last = taken;
      }
    }
  }
}

/// The nearest of the process and its ancestors that has listened; itself, if none has.
uint32_t Ports::listener(uint32_t thread, const Execution& execution) const {
  uint32_t own = execution.threads[thread].id.process().number();
  for (uint32_t steps = 0; steps <= execution.threads.size(); ++steps) {
    uint32_t process = execution.threads[thread].id.process().number();
    if (listeners_.contains(process)) return process;
    if (execution.threads[thread].creator.event == 0) break;
    thread = execution.threads[thread].creator.thread;
  }
  return own;
}

void Ports::add_listening(Execution& execution) const {
  struct Connection {
    uint64_t number;
    Node connect, accept;
  };
  std::map<uint64_t, std::vector<Connection>> ports;
  for (const Accept& accept : accepts_) {
    auto connect = connects_.find(accept.connection);
    if (connect == connects_.end()) continue;
    uint64_t place = accept.listener != 0 ? accept.listener : listener(accept.at.thread, execution);
    ports[place].push_back({accept.connection, connect->second, accept.at});
  }
  for (const auto& [ignored, connections] : ports) {
    if (connections.size() < 2) continue;
    auto port = static_cast<uint32_t>(execution.ports.size());
    execution.ports.push_back({kListening, 1, 0});
    for (const Connection& each : connections) {
      auto arrival = static_cast<uint32_t>(execution.arrivals.size());
      execution.arrivals.push_back({port, static_cast<uint32_t>(each.number), 0, each.connect, {}});
      execution.takings.push_back({arrival, each.accept, kNone, 1});
    }
  }
}

void Ports::read_lanes(const Execution& execution, Lanes& lanes) const {
  std::vector<Lane*> wanted(execution.channels.size(), nullptr);
  for (uint32_t place = 0; place < wanted.size(); ++place) {
    auto lane = lanes.find(execution.channels[place].id);
    if (lane == lanes.end()) continue;
    wanted[place] = &lane->second;
    lane->second.place = place;
  }
  for (const Transfer& each : execution.sends) {
    if (Lane* lane = wanted[each.channel]) lane->add(&Lane::sends, &Lane::sender, each);
  }
  for (const Transfer& each : execution.receives) {
    if (Lane* lane = wanted[each.channel]) lane->add(&Lane::receives, &Lane::receiver, each);
  }
  for (auto& [channel, lane] : lanes) {
    std::ranges::stable_sort(lane.sends, {}, &Transfer::begin);
    std::ranges::stable_sort(lane.receives, {}, &Transfer::begin);
    if (!lane.sends.empty()) lane.find_taken(execution.channels[lane.place].messages);
  }
}

void Ports::finish(Execution& execution) && {
  Lanes lanes;
  for (const auto& [thread, waits] : waits_) {
    for (const auto& [channel, receives] : waits.chosen) lanes[channel];
    for (const auto& [instance, spans] : *waits.watched) {
      for (const auto& [channel, list] : spans) lanes[channel];
    }
  }
  if (!lanes.empty()) {
    read_lanes(execution, lanes);
    for (auto& [thread, waits] : waits_) {
      add_polled(thread, waits, lanes, execution);
      for (const auto& [instance, spans] : *waits.watched)
        add_watched(thread, instance, spans, lanes, execution);
    }
  }
  add_listening(execution);
}

std::optional<uint64_t> channel_of(const causal::Graph& graph, const causal::Contests& contests,
                                   uint32_t message) {
  const causal::ContestMessage& found = contests.messages[message];
  const causal::Contest& contest = contests.list[found.contest];
  if (!contest.port) return graph.channels[contest.place].id;
  if (graph.ports[contest.place].label != kPolled || graph.channels.size() == 0) return {};
  return graph.channels[found.lane % graph.channels.size()].id;
}

}  // namespace pastcone::graph
