#include "pastcone/graph/told.h"

#include "pastcone/graph/steps.h"

namespace pastcone::graph {

Told::Told(const Facts& facts, const causal::Execution& execution)
    : known_(facts.complete && !facts.list.empty()) {
  std::map<ThreadId, uint32_t> thread_of;
  for (uint32_t i = 0; i < execution.threads.size(); ++i) thread_of[execution.threads[i].id] = i;
  Watches watches(thread_of, execution);
  for (const Fact& fact : facts.list) {
    auto thread = thread_of.find(fact.thread);
    if (thread == thread_of.end()) continue;
    causal::Node at{thread->second, leaving(fact.event)};
    if (fact.kind == FactKind::kReady) waits_[at].sources.push_back(fact.key);
    watches.take(fact);
    if (fact.kind == FactKind::kPolled) {
      watches.note_wait(fact, at);
      Wait& wait = waits_[at];
      wait.epoll = static_cast<int32_t>(fact.more);
      if (uint64_t source = watches.source(fact)) wait.sources.push_back(source);
    }
    if (fact.kind == FactKind::kAccepted) accepts_[at] = fact.key;
    if (fact.kind == FactKind::kFifo) fifos_.insert(fact.key);
  }
  if (known_) watched_ = watches.spans();
  if (known_) watches_ = watches.at_end();
}

const Told::Wait& Told::at(causal::Node wait) const {
  static const Wait kNothing;
  auto found = waits_.find(wait);
  return found == waits_.end() ? kNothing : found->second;
}

const std::map<int32_t, Spans>& Told::watched(uint32_t thread) const {
  static const std::map<int32_t, Spans> kNothing;
  auto found = watched_.find(thread);
  return found == watched_.end() ? kNothing : found->second;
}

uint64_t Told::listener(causal::Node accept) const {
  auto found = accepts_.find(accept);
  return found == accepts_.end() ? 0 : found->second;
}

}  // namespace pastcone::graph
