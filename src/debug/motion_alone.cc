// Motions of one process: the others are asked for something only when it stands before what needs that.
//
// What an event needs is not always waited for by the runtime: the result of a wait4 is in the recording, whether the
// child has ended or not. So nobody goes past an event before all that leads to it has been done.
#include <algorithm>

#include "pastcone/debug/horizons.h"
#include "pastcone/debug/motion.h"
#include "pastcone/debug/units.h"
#include "pastcone/graph/steps.h"

namespace pastcone::debug {

using causal::Cut;
using causal::Graph;
using causal::Node;
using causal::Order;
using replay::Halt;

namespace {

bool contains(const Cut& cut, const Cut& other) {
  for (size_t i = 0; i < cut.size(); ++i)
    if (other[i] > cut[i]) return false;
  return true;
}

/// What is in the other one, and not in the first.
std::vector<Node> beyond(const Cut& cut, const Cut& other) {
  std::vector<Node> found;
  for (uint32_t thread = 0; thread < other.size(); ++thread)
    if (other[thread] > cut[thread]) found.push_back({thread, other[thread]});
  return found;
}

/// What others than the process itself have to have done for this.
Cut needs_of_others(const Graph& graph, Node node) {
  Cut cone = causal::past_cone(graph, node, Order::kEnforced);
  cone.resize(graph.real_threads);
  for (uint32_t thread = 0; thread < graph.real_threads; ++thread)
    if (graph.threads[thread].process == graph.threads[node.thread].process) cone[thread] = 0;
  return cone;
}

bool is_met(const Graph& graph, uint32_t group, const Cut& have) {
  uint32_t process = graph.threads[graph.groups[group].thread].process;
  for (uint32_t edge = graph.groups[group].first_edge; edge < graph.groups[group + 1].first_edge; ++edge) {
    Node from = graph.edges[edge].from;
    if (from.thread >= graph.real_threads)  // a barrier's
      return contains(have, needs_of_others(graph, {graph.groups[group].thread, graph.groups[group].event}));
    if (graph.threads[from.thread].process != process && from.event > have[from.thread]) return false;
  }
  return true;
}

/// The last step of the thread before one that needs more of other processes than there is.
uint32_t limit_of(const Graph& graph, uint32_t thread, uint32_t from, const Cut& have) {
  uint32_t begin = graph.first_group[thread], end = graph.first_group[thread + 1], last = end;
  while (begin < end) {  // the first group behind `from`
    uint32_t middle = begin + (end - begin) / 2;
    if (graph.groups[middle].event <= from) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  for (uint32_t group = begin; group < last; ++group)
    if (!is_met(graph, group, have)) return graph.groups[group].event - 1;
  return graph.threads[thread].events;
}

}  // namespace

Cut Motion::limits(ProcessId process, Cut have) const {
  const Graph& graph = world_.graph;
  Cut target = have;
  for (uint32_t thread = 0; thread < graph.real_threads; ++thread)
    if (graph.threads[thread].process == process.number()) target[thread] = limit_of(graph, thread, have[thread], have);
  return target;
}

std::optional<Cut> Motion::needed_by(ProcessId process, const Cut& limits) const {
  const Graph& graph = world_.graph;
  std::vector<Node> next;
  for (uint32_t thread = 0; thread < graph.real_threads; ++thread) {
    bool more = limits[thread] < graph.threads[thread].events;
    if (graph.threads[thread].process == process.number() && more) next.push_back({thread, limits[thread] + 1});
  }
  // One that comes later in any case is not asked for yet.
  std::optional<Cut> needed;
  for (Node node : next) {
    bool later = std::ranges::any_of(next, [&](Node other) {
      return other.thread != node.thread && causal::happened_before(graph, other, node, Order::kEnforced);
    });
    if (later) continue;
    if (!needed) needed.emplace(graph.real_threads);
    join(*needed, needs_of_others(graph, node));
  }
  return needed;
}

/// Whether one of the others may be stopped on its way.
bool Motion::others_may_stop(ProcessId process) const {
  Cut ends;
  for (uint32_t thread = 0; thread < world_.graph.real_threads; ++thread)
    ends.push_back(world_.graph.threads[thread].events);
  return std::ranges::any_of(stoppable(ends), [&](ProcessId other) { return other != process; });
}

std::optional<Cut> Motion::certain_way(ProcessId process) const {
  const Graph& graph = world_.graph;
  pid_t id = run_.pid(process);
  // Who is traced may have points of a gdb.
  if (id == 0 || run_.tracer().traces(id) || (gates_.wanted && gates_.wanted(process))) return {};
  Cut way = run_.present().cut;
  size_t threads = 0, stops = 0;
  for (uint32_t index = 0; index < graph.real_threads; ++index) {
    if (graph.threads[index].process != process.number()) continue;
    ThreadId thread = graph.thread_id(index);
    auto stop = gates_.next_stop ? gates_.next_stop(thread, run_.steps_done(thread)) : std::nullopt;
    Node last{index, graph.threads[index].events};
    if (stop) last = graph::find_step(graph, index, static_cast<uint32_t>(*stop));
    Cut cone = causal::past_cone(graph, last, Order::kEnforced);
    cone.resize(graph.real_threads);
    join(way, cone);
    ++threads;
    stops += stop ? 1 : 0;
  }
  if (stops > 0 && threads > 1) return {};  // where the others are then is another question
  return way;
}

Result<Rest> Motion::advance(ProcessId process) {
  Cut have = run_.present().cut;
  bool one_by_one = others_may_stop(process);
  if (auto way = one_by_one ? std::nullopt : certain_way(process)) return to(*way);
  for (;;) {
    Cut target = limits(process, have);
    TRY_STATUS(run(target));
    if (rest_.halt != Halt::kStanding || !rest_.stops.empty()) return rest_;
    std::optional<Cut> needed = needed_by(process, target);
    if (!needed || contains(have, *needed)) return rest_;
    join(have, run_.present().cut);
    std::vector<Node> asked = beyond(have, *needed);
    join(have, *needed);
    if (!one_by_one) continue;
    TRY_STATUS(run_by_demand(asked, have));
    if (rest_.halt != Halt::kStanding || !rest_.stops.empty()) return rest_;
  }
}

Result<Rest> Motion::step(ThreadId thread) {
  ProcessId process = thread.process();
  for (;;) {
    Cut have = run_.present().cut, target = limits(process, have);
    replay::Horizons own = horizons_of(world_.recording, world_.graph, target);
    std::erase_if(own, [&](const auto& entry) { return entry.first.process() != process; });
    run_.live().set_horizons(own);
    Arrival arrival = run_.step(thread);
    bool at_break = arrival.halt == Halt::kTraced && arrival.stop->kind == replay::TraceStop::Kind::kBreak;
    if (at_break && gates_.passes && TRY(gates_.passes(arrival))) continue;
    if (arrival.halt != Halt::kStanding) {
      note(arrival);
      return rest_;
    }
    std::optional<Cut> needed = needed_by(process, target);
    if (!needed || contains(have, *needed)) return rest_;
    std::vector<Node> asked = beyond(have, *needed);
    const Cut before = have;
    join(have, *needed);
    TRY_STATUS(run_.freeze(process));
    held_.insert(process);
    TRY_STATUS(run_by_demand(asked, have));
    held_.erase(process);
    bool in_vain = run_.present().cut == before;  // it is something else that keeps it
    if (in_vain || rest_.halt != Halt::kStanding || !rest_.stops.empty()) return rest_;
  }
}

}  // namespace pastcone::debug
