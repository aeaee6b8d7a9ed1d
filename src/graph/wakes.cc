#include "pastcone/graph/wakes.h"

#include <algorithm>
#include <map>

namespace pastcone::graph {
namespace {

/// A condition: its process, unless it is shared, and what it is called.
using Condition = std::pair<uint32_t, uint64_t>;
using Signals =
    std::map<std::pair<Condition, ThreadId>, std::vector<const Fact*>>;  ///< in each thread's order

Condition condition_of(const Fact& fact) {
  bool shared = fact.number != 0;
  return {shared ? 0 : fact.thread.process().number(), fact.key};
}

/// A signal that was given during this use of the mutex.
const Fact* signal_in(const Signals& signals, Condition condition, const Use& use) {
  auto found = signals.find({condition, use.at.thread});
  if (found == signals.end()) return nullptr;
  auto next = std::ranges::lower_bound(found->second, use.at.point, {}, &Fact::point);
  if (next == found->second.end()) return nullptr;
  bool inside = use.until.point != 0 && use.until.thread == use.at.thread && (*next)->point < use.until.point;
  return inside ? *next : nullptr;
}

/// The one who waited had the mutex last before this use of it.
const Fact* first_signal(const Signals& signals, Condition condition, const std::vector<Use>& uses,
                         size_t woken) {
  const Fact* first = nullptr;
  for (size_t i = woken; i > 0 && uses[i - 1].at.thread != uses[woken].at.thread; --i) {
    if (const Fact* found = signal_in(signals, condition, uses[i - 1])) first = found;
  }
  return first;
}

}  // namespace

void add_wakes(const Facts& facts, LockEdges& into) {
  Signals signals;
  std::map<std::pair<ThreadId, uint64_t>, const Fact*> wakes;
  for (const Fact& fact : facts.list) {
    if (fact.kind == FactKind::kSignalled) signals[{condition_of(fact), fact.thread}].push_back(&fact);
    if (fact.kind == FactKind::kWoken) wakes[{fact.thread, fact.point}] = &fact;
  }
  if (wakes.empty()) return;
  for (const Object& object : facts.objects) {
    if (object.kind != stage::ObjectKind::kMutex) continue;
    for (size_t i = 0; i < object.uses.size(); ++i) {
      auto wake = wakes.find({object.uses[i].at.thread, object.uses[i].at.point});
      if (wake == wakes.end()) continue;
      const Fact* signal = first_signal(signals, condition_of(*wake->second), object.uses, i);
      if (signal != nullptr)
        into.edges.push_back(
            {signal->place(), object.uses[i].at, causal::EdgeKind::kCondition, causal::kNone});
    }
  }
}

}  // namespace pastcone::graph
