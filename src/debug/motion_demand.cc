// Motions to a demand point (P2): a stop that is always the same stop, whoever is stopped by a breakpoint on the way.
#include "pastcone/causal/demand.h"
#include "pastcone/debug/motion.h"
#include "pastcone/graph/steps.h"

namespace pastcone::debug {

using causal::Cut;
using causal::Graph;
using causal::Node;
using causal::Order;
using replay::Halt;

namespace {

/// Where edges into exactly this step come from; through hubs, where nobody runs.
std::vector<Node> needs_of(const Graph& graph, Node node) {
  std::vector<Node> needs;
  bool in_hub = node.thread >= graph.real_threads;
  uint32_t begin = graph.first_group[node.thread], end = graph.first_group[node.thread + 1];
  while (!in_hub && begin < end) {  // the first one that is not before it
    uint32_t middle = begin + (end - begin) / 2;
    if (graph.groups[middle].event < node.event) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  for (uint32_t group = begin; group < graph.first_group[node.thread + 1]; ++group) {
    if (graph.groups[group].event > node.event) break;
    for (uint32_t edge = graph.groups[group].first_edge; edge < graph.groups[group + 1].first_edge; ++edge)
      if ((kinds_of(graph.kind(edge)) & causal::kCausalKinds) != 0) needs.push_back(graph.edges[edge].from);
  }
  return needs;
}

}  // namespace

Goal goal_of(const Graph& graph, Node node) {
  Goal goal{{node}, causal::past_cone(graph, node, Order::kEnforced)};
  std::set<Node> known{node};
  for (std::vector<Node> look{node}; !look.empty();) {
    Node next = look.back();
    look.pop_back();
    for (Node need : needs_of(graph, next)) {
      if (!known.insert(need).second) continue;
      look.push_back(need);
      goal.targets.push_back(need);
    }
  }
  return goal;
}

std::set<ProcessId> Motion::stoppable(const Cut& target) const {
  std::set<ProcessId> found;
  for (uint32_t index = 0; index < world_.graph.real_threads; ++index) {
    ThreadId thread = world_.graph.thread_id(index);
    if (target[index] == 0) continue;
    auto stop = gates_.next_stop ? gates_.next_stop(thread, run_.steps_done(thread)) : std::nullopt;
    bool by_message = stop && *stop <= graph::plain_step(world_.graph, {index, target[index]});
    if (by_message || (gates_.wanted && gates_.wanted(thread.process()))) found.insert(thread.process());
  }
  return found;
}

Result<Rest> Motion::to(const Goal& goal) {
  Node first = goal.targets.front();
  if (goal.point != 0) {
    beyond_[world_.graph.thread_id(first.thread)] = {
        .step = graph::plain_step(world_.graph, first), .point = goal.point};
  }
  TRY_STATUS(run_by_demand(goal.targets, goal.cut));
  return rest_;
}

Status Motion::run_by_demand(const std::vector<Node>& targets, const Cut& cut) {
  std::set<ProcessId> points = stoppable(cut);
  if (points.empty()) return run(cut);
  // What none of them has to do will be done.
  causal::Demand demand(world_.graph, targets, Order::kEnforced);
  Cut done;
  demand.rely_only_on([&](Node need) {
    Cut cone = causal::past_cone(world_.graph, need, Order::kEnforced);
    for (uint32_t index = 0; index < world_.graph.real_threads; ++index) {
      bool may_stop = points.contains(world_.graph.thread_id(index).process());
      if (may_stop && cone[index] > done[index]) return false;
    }
    return true;
  });
  for (bool tried = false;;) {
    done = run_.present().cut;
    bool further = demand.advance(done);
    if (!further && tried) return {};
    tried = !further;
    TRY_STATUS(run(further ? demand.horizons() : demand.attempts()));
    if (rest_.halt != Halt::kStanding) return {};
  }
}

Result<Rest> Motion::everybody() {
  Goal all;
  for (uint32_t thread = 0; thread < world_.graph.real_threads; ++thread) {
    all.targets.push_back({thread, world_.graph.threads[thread].events});
    all.cut.push_back(world_.graph.threads[thread].events);
  }
  return to(all);
}

}  // namespace pastcone::debug
