#include "pastcone/causal/graph.h"

#include <algorithm>

#include "pastcone/causal/build_parts.h"

namespace pastcone::causal {

const char* to_string(EdgeKind kind) {
  static constexpr const char* kNames[] = {
      "message", "readiness", "accept", "connect", "end of file", "object", "shared end", "sender's order",
      "barrier", "condition", "create", "join",    "fork",        "wait",   "signal",     "hand-over"};
  static_assert(std::size(kNames) == kEdgeKinds);
  return kind < EdgeKind::kCount ? kNames[static_cast<size_t>(kind)] : "?";
}

uint64_t Graph::event_count() const {
  uint64_t sum = 0;
  for (uint32_t thread = 0; thread < real_threads; ++thread) sum += threads[thread].events;
  return sum;
}

uint32_t Graph::group_at(Node node) const {
  auto from = groups.begin() + first_group[node.thread],
       until = groups.begin() + first_group[node.thread + 1];
  auto after = std::upper_bound(from, until, node.event,
                                [](uint32_t event, const Group& group) { return event < group.event; });
  return after == from ? kNone : static_cast<uint32_t>(after - groups.begin() - 1);
}

std::span<const uint32_t> Graph::order() const {
  return made_order.get([&] { return by_rank(groups.view()); });
}

const ByThread& Graph::sources() const {
  return made_sources.get([&] { return causal_sources(*this); });
}

const ByThread& Graph::sends_by_thread() const {
  return made_sends_by_thread.get([&] { return by_thread(sends.view(), threads); });
}

const ByThread& Graph::receives_by_thread() const {
  return made_receives_by_thread.get([&] { return by_thread(receives.view(), threads); });
}

const Chains& Graph::chains() const {
  return made_chains.get([&] { return make_chains(*this); });
}

ThreadId Graph::thread_id(uint32_t thread) const {
  return {ProcessId(threads[thread].process), threads[thread].number};
}

Result<uint32_t> Graph::find(ThreadId id) const {
  auto real = threads.view().first(real_threads);
  auto found = std::ranges::lower_bound(
      real, id, {}, [](const Thread& thread) { return ThreadId(ProcessId(thread.process), thread.number); });
  auto thread = static_cast<uint32_t>(found - real.begin());
  if (thread < real_threads && thread_id(thread) == id) return thread;
  return fail("{} is not in the recording: `pastcone ps` lists what is", id);
}

Result<Node> Graph::find(EventId id) const {
  uint32_t thread = TRY(find(id.thread()));
  if (id.index() == 0) return fail("{}: events count from 1", id);
  if (id.index() > threads[thread].events) {
    return fail("{} is not in the recording: the last event of {} is {}", id, id.thread(),
                threads[thread].events);
  }
  return Node{thread, static_cast<uint32_t>(id.index())};
}

}  // namespace pastcone::causal
