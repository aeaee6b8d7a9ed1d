#include "pastcone/graph/children.h"

namespace pastcone::graph {

std::optional<uint32_t> Children::child(uint32_t pid, causal::Node at,
                                        const causal::Execution& execution) const {
  auto found = by_pid_.find(pid);
  if (found == by_pid_.end()) return {};
  auto process_of = [&](uint32_t thread) { return execution.threads[thread].id.process(); };
  std::vector<uint32_t> own, others;  // who wait for a process of others have inherited it
  bool by_thread = true;
  for (uint32_t child : found->second) {
    causal::Node creator = execution.threads[child].creator;
    if (process_of(child) == process_of(at.thread)) continue;
    if (creator.thread == at.thread && creator.event > at.event) continue;  // not yet
    bool is_own = creator.event != 0 && process_of(creator.thread) == process_of(at.thread);
    (is_own ? own : others).push_back(child);
    if (is_own) by_thread = by_thread && creator.thread == at.thread;
  }
  const std::vector<uint32_t>& fitting = own.empty() ? others : own;
  if (fitting.empty() || (fitting.size() > 1 && (own.empty() || !by_thread))) return {};
  return fitting.back();
}

}  // namespace pastcone::graph
