#include "pastcone/causal/testing/random_execution.h"

#include <algorithm>
#include <map>

namespace pastcone::causal_testing {
namespace {

using causal::AccessInput;
using causal::BarrierInput;
using causal::kinds_of;

/// Kinds that the input names edge by edge.
constexpr EdgeKind kNamed[] = {EdgeKind::kReadiness, EdgeKind::kAccept, EdgeKind::kConnect, EdgeKind::kEof,
                               EdgeKind::kCondition, EdgeKind::kSignal, EdgeKind::kHandOver};

class Machine {
 public:
  Machine(std::mt19937& random, const RandomOptions& options) : random_(random), options_(options) {}

  RandomExecution run() {
    uint32_t roots = 1 + below(2);
    for (uint32_t i = 0; i < roots; ++i) new_thread({}, true);
    uint32_t channels = 1 + below(4);
    for (uint32_t i = 0; i < channels; ++i) new_channel();
    input_.objects = 3;
    for (uint32_t i = 0; i < options_.steps; ++i) {
      uint32_t thread = below(static_cast<uint32_t>(alive_.size()));
      if (alive_[thread]) step(thread);
    }
    finish();
    return {std::move(input_), std::move(truth_)};
  }

 private:
  struct ChannelState {
    std::vector<Node> bytes;  ///< streams: who sent each
    size_t read = 0;
    std::vector<std::pair<size_t, bool>> queue;  ///< messages: place of the send; taken
    std::vector<Node> receivers;
    std::vector<std::pair<Node, Node>> deliveries;  ///< send, receive
  };

  uint32_t below(uint32_t limit) {
    return limit == 0 ? 0 : std::uniform_int_distribution<uint32_t>(0, limit - 1)(random_);
  }

  Node happen(uint32_t thread) {
    Node node{thread, ++input_.threads[thread].events};
    truth_.nodes.push_back(node);
    Node creator = input_.threads[thread].creator;
    if (node.event == 1 && creator.event != 0) {
      edge(creator, node, input_.threads[thread].by_fork ? EdgeKind::kFork : EdgeKind::kCreate);
    }
    return node;
  }

  void edge(Node from, Node to, EdgeKind kind) { truth_.edges.push_back({from, to, kind}); }
  void named_edge(Node from, Node to, EdgeKind kind) {
    edge(from, to, kind);
    input_.edges.push_back({from, to, kind, 7});
  }

  void new_thread(Node creator, bool fork) {
    auto& threads = input_.threads;
    if (!threads.empty() && threads.back().id.process() != threads[creator.thread].id.process()) fork = true;
    ThreadId id(ProcessId(1), 1);
    if (!threads.empty()) {
      ThreadId last = threads.back().id;
      id = fork ? ThreadId(ProcessId(last.process().number() + 1), 1)
                : ThreadId(last.process(), last.number() + 1);
    }
    threads.push_back({id, 0, creator, fork, false});
    alive_.push_back(true);
  }

  void new_channel() {
    bool messages = below(3) == 0;
    input_.channels.push_back({100 + input_.channels.size(), messages, !messages || below(2) == 0});
    channels_.emplace_back();
    truth_.sends.emplace_back();
  }

  void step(uint32_t thread) {
    switch (below(16)) {
      case 0:
        happen(thread);
        break;
      case 1:
        if (input_.threads.size() < options_.threads) new_thread(happen(thread), below(2) == 0);
        break;
      case 2:
        if (below(3) == 0) end(thread);
        break;
      case 3:
        join(thread);
        break;
      case 4:
      case 5:
      case 6:
        send(thread);
        break;
      case 7:
      case 8:
      case 9:
      case 10:
        receive(thread);
        break;
      case 11:
      case 12:
        access(thread);
        break;
      case 13:
        meet();
        break;
      default:
        learn(thread);
    }
  }

  void end(uint32_t thread) {
    happen(thread);
    alive_[thread] = false;
    input_.threads[thread].ended = true;
    if (std::ranges::find(alive_, true) == alive_.end())
      new_thread(Node{thread, input_.threads[thread].events}, true);
  }

  void join(uint32_t thread) {
    for (uint32_t other = 0; other < alive_.size(); ++other) {
      if (alive_[other] || joined_[other]) continue;
      joined_[other] = true;
      named_edge({other, input_.threads[other].events}, happen(thread),
                 input_.threads[other].by_fork ? EdgeKind::kWait : EdgeKind::kJoin);
      return;
    }
  }

  void send(uint32_t thread) {
    uint32_t channel = below(static_cast<uint32_t>(channels_.size()));
    ChannelState& state = channels_[channel];
    Node node = happen(thread);
    if (input_.channels[channel].messages) {
      uint64_t begin = truth_.sends[channel].empty() ? 1 : truth_.sends[channel].back().begin + 7;
      uint32_t length = below(6);
      state.queue.emplace_back(truth_.sends[channel].size(), false);
      truth_.sends[channel].push_back({node, begin, length, {Node{}}});
      input_.sends.push_back({begin, length, channel, node});
      return;
    }
    uint32_t length = 1 + below(5);
    truth_.sends[channel].push_back({node, state.bytes.size(), length, std::vector<Node>(length)});
    input_.sends.push_back({state.bytes.size(), length, channel, node});
    state.bytes.insert(state.bytes.end(), length, node);
  }

  void receive(uint32_t thread) {
    uint32_t channel = below(static_cast<uint32_t>(channels_.size()));
    ChannelState& state = channels_[channel];
    if (input_.channels[channel].messages) {
      receive_message(thread, channel);
      return;
    }
    if (state.read == state.bytes.size()) return;
    Node node = happen(thread);
    auto length = 1 + below(static_cast<uint32_t>(std::min<size_t>(state.bytes.size() - state.read, 9)));
    input_.receives.push_back({state.read, length, channel, node});
    for (uint32_t i = 0; i < length; ++i, ++state.read) {
      edge(state.bytes[state.read], node, EdgeKind::kMessage);
      state.deliveries.emplace_back(state.bytes[state.read], node);
      for (TrueSend& send : truth_.sends[channel]) {
        if (state.read >= send.begin && state.read < send.begin + send.length)
          send.takers[state.read - send.begin] = node;
      }
    }
    received(state, node);
  }

  void receive_message(uint32_t thread, uint32_t channel) {
    ChannelState& state = channels_[channel];
    bool queue = input_.channels[channel].queue;
    std::vector<std::pair<size_t, bool>*> heads;  // of each sender the first that is not taken; or of all
    std::map<uint32_t, bool> seen;
    for (auto& entry : state.queue) {
      uint32_t sender = queue ? 0 : truth_.sends[channel][entry.first].at.thread;
      if (!entry.second && !std::exchange(seen[sender], true)) heads.push_back(&entry);
    }
    if (heads.empty()) return;
    auto* taken = heads[below(static_cast<uint32_t>(heads.size()))];
    taken->second = true;
    if (below(8) == 0) return;  // it was lost
    TrueSend& send = truth_.sends[channel][taken->first];
    Node node = happen(thread);
    send.takers[0] = node;
    input_.receives.push_back({send.begin, below(send.length + 1), channel, node});
    edge(send.at, node, EdgeKind::kMessage);
    state.deliveries.emplace_back(send.at, node);
    if (queue) received(state, node);
  }

  void received(ChannelState& state, Node node) {
    for (Node before : state.receivers) edge(before, node, EdgeKind::kEnd);
    state.receivers.push_back(node);
  }

  void access(uint32_t thread) {
    AccessInput access;
    access.object = below(input_.objects);
    access.write = below(2);
    access.at = happen(thread);
    if (below(3) == 0) access.until = happen(thread).event;
    input_.accesses.push_back(access);
  }

  void meet() {
    std::vector<uint32_t> who;
    for (uint32_t thread = 0; thread < alive_.size(); ++thread) {
      if (alive_[thread] && below(3) != 0) who.push_back(thread);
    }
    if (who.size() < 2) return;
    BarrierInput round;
    round.object = below(2);
    for (uint32_t thread : who) round.arrivals.push_back(happen(thread));
    std::ranges::shuffle(who, random_);
    for (uint32_t thread : who) round.departures.push_back(happen(thread));
    input_.barriers.push_back(round);
    for (const BarrierInput& earlier : input_.barriers) {
      if (earlier.object != round.object) continue;
      for (Node arrival : earlier.arrivals) {
        for (Node departure : round.departures) edge(arrival, departure, EdgeKind::kBarrier);
      }
    }
  }

  void learn(uint32_t thread) {
    Node from =
        truth_.nodes.empty() ? Node{} : truth_.nodes[below(static_cast<uint32_t>(truth_.nodes.size()))];
    if (from.event == 0 || from.thread == thread) return;
    named_edge(from, happen(thread), kNamed[below(std::size(kNamed))]);
  }

  void finish() {
    for (auto& thread : input_.threads) {
      if (options_.cut_off && below(3) == 0) {
        thread.events -= below(thread.events / 2 + 1);
        thread.ended = false;
      }
      truth_.events.push_back(thread.events);
    }
    std::erase_if(input_.accesses, [&](const AccessInput& access) { return !truth_.has(access.at); });
    add_accesses();
    add_lanes();
    std::erase_if(truth_.nodes, [&](Node node) { return !truth_.has(node); });
    std::erase_if(truth_.edges,
                  [&](const TrueEdge& edge) { return !truth_.has(edge.from) || !truth_.has(edge.to); });
    truth_.places.resize(truth_.events.size());
    for (size_t i = 0; i < truth_.nodes.size(); ++i) truth_.places[truth_.nodes[i].thread].push_back(i);
  }

  /// Every pair of accesses of which one writes.
  void add_accesses() {
    for (size_t i = 0; i < input_.accesses.size(); ++i) {
      for (size_t k = i + 1; k < input_.accesses.size(); ++k) {
        const AccessInput &a = input_.accesses[i], &b = input_.accesses[k];
        if (a.object != b.object || (a.write == 0 && b.write == 0)) continue;
        uint32_t release = std::min(std::max(a.at.event, a.until), truth_.events[a.at.thread]);
        edge({a.at.thread, release}, b.at, EdgeKind::kObject);
      }
    }
  }

  /// Every pair of receives from one sender, as far as its sends are known.
  void add_lanes() {
    for (const ChannelState& state : channels_) {
      for (size_t i = 0; i < state.deliveries.size(); ++i) {
        for (size_t k = i + 1; k < state.deliveries.size(); ++k) {
          auto [send, receive] = state.deliveries[i];
          auto [other_send, other_receive] = state.deliveries[k];
          if (send.thread != other_send.thread || !truth_.has(send) || !truth_.has(other_send)) continue;
          if (receive != other_receive) edge(receive, other_receive, EdgeKind::kLane);
        }
      }
    }
  }

  std::mt19937& random_;
  RandomOptions options_;
  Execution input_;
  Truth truth_;
  std::vector<bool> alive_;
  std::map<uint32_t, bool> joined_;
  std::vector<ChannelState> channels_;
};

}  // namespace

size_t Truth::place(Node node) const { return places[node.thread][node.event - 1]; }

std::vector<NodeSet> Truth::pasts(Kinds kinds) const {
  std::vector<std::vector<size_t>> before(nodes.size());
  for (const TrueEdge& edge : edges) {
    if (kinds & kinds_of(edge.kind)) before[place(edge.to)].push_back(place(edge.from));
  }
  std::vector<NodeSet> pasts(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    pasts[i].set(i);
    if (nodes[i].event > 1) pasts[i] |= pasts[place({nodes[i].thread, nodes[i].event - 1})];
    for (size_t other : before[i]) pasts[i] |= pasts[other];
  }
  return pasts;
}

RandomExecution random_execution(std::mt19937& random, const RandomOptions& options) {
  return Machine(random, options).run();
}

}  // namespace pastcone::causal_testing
