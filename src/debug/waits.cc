#include "pastcone/debug/waits.h"

#include <algorithm>
#include <deque>
#include <set>

#include "pastcone/graph/steps.h"

namespace pastcone::debug {
namespace {

using causal::Arrow;
using causal::Cut;
using causal::EdgeKind;
using causal::Graph;
using causal::kNone;
using causal::Node;

/// Sources that are not in the cut; of a barrier, who has not arrived.
void add_missing(const Graph& graph, const Cut& cut, uint32_t group, Node to, std::vector<Arrow>& found) {
  for (uint32_t edge = graph.groups[group].first_edge; edge < graph.groups[group + 1].first_edge; ++edge) {
    const causal::Edge& each = graph.edges[edge];
    if (each.from.thread >= graph.real_threads) {
      bool is_round = each.from_group != kNone && graph.groups[each.from_group].event == each.from.event;
      if (is_round) add_missing(graph, cut, each.from_group, to, found);
      continue;
    }
    if (each.from.event > cut[each.from.thread])
      found.push_back({each.from, to, graph.kind(edge), each.label});
  }
}

bool is_turn(const Arrow& arrow) { return arrow.kind == EdgeKind::kHandOver; }

/// A shortest way from a thread back to itself, among these.
std::vector<ThreadId> cycle_from(const Sleeps& sleeps, const std::set<ThreadId>& among, ThreadId start) {
  std::map<ThreadId, ThreadId> before;
  std::deque<ThreadId> open{start};
  while (!open.empty()) {
    ThreadId thread = open.front();
    open.pop_front();
    for (ThreadId next : sleeps.at(thread).waits_for) {
      if (next == start) {
        std::vector<ThreadId> cycle;
        for (ThreadId at = thread; at != start; at = before.at(at)) cycle.push_back(at);
        cycle.push_back(start);
        std::ranges::reverse(cycle);
        return cycle;
      }
      if (among.contains(next) && before.emplace(next, thread).second) open.push_back(next);
    }
  }
  return {};
}

/// Rather not by waits for ends.
std::vector<ThreadId> shortest_cycle(const Sleeps& sleeps, const std::set<ThreadId>& all) {
  std::set<ThreadId> without_ends;
  for (ThreadId thread : all)
    if (!sleeps.at(thread).for_end) without_ends.insert(thread);
  for (const std::set<ThreadId>& among : {without_ends, all}) {
    std::vector<ThreadId> shortest;
    for (ThreadId thread : among) {
      std::vector<ThreadId> cycle = cycle_from(sleeps, among, thread);
      if (!cycle.empty() && (shortest.empty() || cycle.size() < shortest.size())) shortest = cycle;
    }
    if (!shortest.empty()) return shortest;
  }
  return {};
}

/// Who waits for others than these, and who waits for him.
void erase_waiting(const Sleeps& sleeps, std::set<ThreadId>& threads) {
  for (bool changed = true; changed;) {
    changed = std::erase_if(threads, [&](ThreadId thread) {
                return std::ranges::any_of(sleeps.at(thread).waits_for,
                                           [&](ThreadId other) { return !threads.contains(other); });
              }) > 0;
  }
}

}  // namespace

std::vector<Arrow> missing(const Graph& graph, const Cut& cut, uint32_t thread) {
  Node now{thread, cut[thread]};
  uint32_t end = graph.threads[thread].events;
  auto next = static_cast<uint32_t>(graph::event_at(graph, now) + 1);
  uint32_t last = graph::plain_step(graph, {thread, end}) < graph::leaving(next)
                      ? end
                      : graph::find_step(graph, thread, graph::leaving(next)).event;
  uint32_t group = graph.group_at(now);
  std::vector<Arrow> turns;
  for (group = group == kNone ? graph.first_group[thread] : group + 1;
       group < graph.first_group[thread + 1] && graph.groups[group].event <= last; ++group) {
    std::vector<Arrow> found;
    add_missing(graph, cut, group, {thread, graph.groups[group].event}, found);
    bool only_turns = std::ranges::all_of(found, is_turn);
    if (only_turns && turns.empty()) turns = found;
    if (only_turns) continue;
    std::erase_if(found, is_turn);
    return found;
  }
  return turns;
}

std::vector<ThreadId> deadlocked(const Sleeps& sleeps) {
  std::set<ThreadId> stuck;
  for (const auto& [thread, sleep] : sleeps)
    if (sleep.for_ever && !sleep.waits_for.empty()) stuck.insert(thread);
  erase_waiting(sleeps, stuck);
  return {stuck.begin(), stuck.end()};
}

std::vector<std::vector<ThreadId>> find_cycles(const Sleeps& sleeps) {
  std::vector<std::vector<ThreadId>> cycles;
  std::vector<ThreadId> all = deadlocked(sleeps);
  std::set<ThreadId> left(all.begin(), all.end());
  for (;;) {
    std::vector<ThreadId> cycle = shortest_cycle(sleeps, left);
    if (cycle.empty()) return cycles;
    for (ThreadId thread : cycle) left.erase(thread);
    erase_waiting(sleeps, left);
    cycles.push_back(std::move(cycle));
  }
}

}  // namespace pastcone::debug
