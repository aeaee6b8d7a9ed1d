#include "pastcone/causal/testing/message_program.h"

#include <algorithm>

namespace pastcone::causal_testing {

using causal::EdgeKind;
using causal::kNone;

MessageProgram::MessageProgram(std::mt19937& random, const ProgramOptions& options) : options_(options) {
  auto below = [&](uint32_t limit) { return std::uniform_int_distribution<uint32_t>(0, limit - 1)(random); };
  uint32_t count = std::max(options.receivers + 1, 2 + below(3));
  for (uint32_t thread = 0; thread < count; ++thread) {
    auto& ops = threads_.emplace_back();
    uint32_t length = 1 + below(count == 4 ? 4 : 5);
    for (uint32_t i = 0; i < length; ++i) {
      uint32_t peer = (thread + 1 + below(count - 1)) % count, tag = options.tags ? below(2) : 0;
      bool receiver = thread < options.receivers;
      switch (below(6)) {
        case 0:
          ops.push_back({Op::kDirectSend, peer, 0});
          break;
        case 1:
          ops.push_back({Op::kDirectReceive, peer, 0});
          break;
        case 2:
        case 3:
          if (receiver) {
            ops.push_back({Op::kReceive, 0, options.tags && below(2) == 0 ? tag : kNone});
            break;
          }
          [[fallthrough]];
        default:
          ops.push_back({receiver && below(2) == 0 ? Op::kReceive : Op::kSend, 0, tag});
          if (ops.back().kind == Op::kReceive) ops.back().tag = kNone;
      }
    }
  }
  run(random);
}

bool MessageProgram::can_go_on(const State& state, uint32_t thread) const {
  if (state.done[thread] == threads_[thread].size()) return false;
  const Op& here = op(next(state, thread));
  if (here.kind != Op::kDirectReceive) return true;
  auto count = [&](uint32_t who, Op::Kind kind, uint32_t peer) {
    auto end = threads_[who].begin() + state.done[who];
    return std::count_if(threads_[who].begin(), end,
                         [&](const Op& each) { return each.kind == kind && each.peer == peer; });
  };
  return count(here.peer, Op::kDirectSend, thread) > count(thread, Op::kDirectReceive, here.peer);
}

std::vector<Node> MessageProgram::available(const State& state, Node receive,
                                            const std::set<Node>& withheld) const {
  std::vector<Node> heads;
  std::set<uint32_t> seen;
  for (Node message : state.queue) {
    if (op(receive).tag != kNone && op(receive).tag != op(message).tag) continue;
    if (seen.insert(message.thread).second && !withheld.contains(message)) heads.push_back(message);
  }
  if (options_.queue && heads.size() > 1) heads.resize(1);
  return heads;
}

void MessageProgram::advance(State& state, Node node, Node message) const {
  ++state.done[node.thread];
  if (op(node).kind == Op::kSend) state.queue.push_back(node);
  if (op(node).kind == Op::kReceive) std::erase(state.queue, message);
  if (!options_.queue) std::ranges::sort(state.queue);
}

void MessageProgram::run(std::mt19937& random) {
  State state{std::vector<uint32_t>(threads_.size(), 0), {}};
  for (;;) {
    std::vector<uint32_t> ready;
    for (uint32_t thread = 0; thread < threads_.size(); ++thread) {
      if (!can_go_on(state, thread)) continue;
      Node node = next(state, thread);
      if (op(node).kind != Op::kReceive || !available(state, node).empty()) ready.push_back(thread);
    }
    if (ready.empty()) return;
    Node node = next(state, ready[random() % ready.size()]);
    Node message;
    if (op(node).kind == Op::kReceive) {
      auto heads = available(state, node);
      message = taken_[node] = heads[random() % heads.size()];
    } else if (op(node).kind == Op::kDirectReceive) {
      auto same = [&](const auto& entry) {
        return entry.first.thread == node.thread && entry.second.thread == op(node).peer;
      };
      auto skip = std::ranges::count_if(direct_, same);
      for (Node other : order_) {
        if (other.thread != op(node).peer || op(other).kind != Op::kDirectSend ||
            op(other).peer != node.thread)
          continue;
        if (skip-- == 0) direct_[node] = other;
      }
    }
    order_.push_back(node);
    advance(state, node, message);
  }
}

Execution MessageProgram::execution() const {
  Execution result;
  auto count = static_cast<uint32_t>(threads_.size());
  for (uint32_t thread = 0; thread < count; ++thread) {
    auto events = std::ranges::count(order_, thread, &Node::thread);
    result.threads.push_back(
        {ThreadId(ProcessId(thread + 1), 1), static_cast<uint32_t>(events), {}, true, true});
  }
  result.channels.push_back({0, true, options_.queue});
  for (uint32_t i = 0; i < count * count; ++i) result.channels.push_back({1 + i, false, true});
  if (options_.port) result.ports.push_back({0, options_.queue, 0});
  std::map<Node, uint32_t> position;
  std::map<uint32_t, uint64_t> sent, received;
  for (Node node : order_) {
    const Op& here = op(node);
    if (here.kind == Op::kDirectSend || here.kind == Op::kDirectReceive) {
      bool send = here.kind == Op::kDirectSend;
      uint32_t channel = send ? 1 + node.thread * count + here.peer : 1 + here.peer * count + node.thread;
      uint64_t begin = (send ? sent : received)[channel]++;
      (send ? result.sends : result.receives).push_back({begin, 1, channel, node});
    } else if (here.kind == Op::kSend) {
      position[node] = static_cast<uint32_t>(position.size());
      if (options_.port) {
        result.arrivals.push_back({0, node.thread, here.tag, node, {}});
      } else {
        result.sends.push_back({position[node], 1, 0, node});
      }
    } else if (options_.port) {
      result.takings.push_back({position[taken_.at(node)], node, here.tag, 1});
      result.edges.push_back({taken_.at(node), node, EdgeKind::kMessage, 0});
    } else {
      result.receives.push_back({position[taken_.at(node)], 1, 0, node});
    }
  }
  return result;
}

template <typename Choose, typename Visit>
void MessageProgram::explore(Choose choose, Visit visit) const {
  std::vector<State> open{{std::vector<uint32_t>(threads_.size(), 0), {}}};
  std::set<State> seen{open.back()};
  while (!open.empty()) {
    State state = std::move(open.back());
    open.pop_back();
    visit(state);
    for (uint32_t thread = 0; thread < threads_.size(); ++thread) {
      if (!can_go_on(state, thread)) continue;
      Node node = next(state, thread);
      std::vector<Node> messages{Node{}};
      if (op(node).kind == Op::kReceive) messages = choose(state, node);
      for (Node message : messages) {
        State after = state;
        advance(after, node, message);
        if (seen.insert(after).second) open.push_back(std::move(after));
      }
    }
  }
}

std::set<Node> MessageProgram::others(Node receive) const {
  std::set<Node> found;
  auto as_in_the_run = [&](const State& state, Node node) -> std::vector<Node> {
    auto mine = taken_.find(node);
    if (node == receive || mine == taken_.end()) return {};
    auto heads = available(state, node);
    if (std::ranges::find(heads, mine->second) == heads.end()) return {};
    return {mine->second};
  };
  explore(as_in_the_run, [&](const State& state) {
    if (next(state, receive.thread) != receive) return;
    for (Node message : available(state, receive)) found.insert(message);
  });
  found.erase(taken_.at(receive));
  return found;
}

std::map<Node, std::set<Node>> MessageProgram::deliveries(
    const std::vector<causal::TraceRecord>& records) const {
  std::map<Node, std::set<Node>> result;
  std::set<Node> forced, traced;  // sends, and receives
  for (const causal::TraceRecord& record : records) {
    forced.insert(record.send);
    traced.insert(record.receive);
  }
  auto choose = [&](const State& state, Node node) {
    std::vector<Node> messages;
    if (traced.contains(node)) {
      if (std::ranges::find(state.queue, taken_.at(node)) != state.queue.end()) messages = {taken_.at(node)};
    } else {
      messages = available(state, node, forced);
    }
    result[node].insert(messages.begin(), messages.end());
    return messages;
  };
  explore(choose, [](const State&) {});
  return result;
}

}  // namespace pastcone::causal_testing
