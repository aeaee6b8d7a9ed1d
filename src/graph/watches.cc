#include "pastcone/graph/watches.h"

namespace pastcone::graph {

/// The descriptor may have been inherited.
const std::shared_ptr<Watches::Instance>& Watches::instance(const Fact& fact) {
  std::shared_ptr<Instance>& own = instances_[{fact.thread.process().number(), fact.more}];
  ThreadId by = fact.thread;
  for (size_t depth = 0; !own && depth < execution_.threads.size(); ++depth) {  // circles: as in Images::of
    auto first = thread_of_.find(ThreadId(by.process(), 1));
    if (first == thread_of_.end() || execution_.threads[first->second].creator.event == 0) break;
    by = execution_.threads[execution_.threads[first->second].creator.thread].id;
    auto found = instances_.find({by.process().number(), fact.more});
    if (found != instances_.end()) own = found->second;
  }
  if (!own) own = std::make_shared<Instance>();
  return own;
}

void Watches::take(const Fact& fact) {
  uint32_t process = fact.thread.process().number();
  if (fact.kind == FactKind::kWatcher) {
    instances_[{process, fact.more}] = std::make_shared<Instance>();
  } else if (fact.kind == FactKind::kWatched) {
    Instance& watcher = *instance(fact);
    watcher.source_of[fact.number] = fact.key;
    if (fact.key != 0) watcher.changes.push_back({fact.key, true, 0});
    watcher.others = watcher.others || fact.key == 0;
  } else if (fact.kind == FactKind::kUnwatched && fact.more != stage::kEveryWatcher) {
    instance(fact)->changes.push_back({fact.key, false, 0});
  } else if (fact.kind == FactKind::kUnwatched) {
    for (auto each = instances_.lower_bound({process, 0});
         each != instances_.end() && each->first.first == process; ++each)
      each->second->changes.push_back({fact.key, false, process});
  }
}

uint64_t Watches::source(const Fact& fact) {
  const Instance& watcher = *instance(fact);
  auto found = watcher.source_of.find(fact.number);
  return found == watcher.source_of.end() ? 0 : found->second;
}

std::vector<causal::WatchInput> Watches::at_end() const {
  std::vector<causal::WatchInput> all;
  for (const auto& [name, watcher] : instances_) {
    const auto& [process, descriptor] = name;
    auto set = static_cast<uint32_t>(descriptor);
    std::map<uint64_t, bool> watched;
    for (const Change& change : watcher->changes)
      if (change.process == 0 || change.process == process) watched[change.source] = change.watched;
    for (auto [source, now] : watched)
      if (now) all.push_back({process, set, source});
    if (watcher->others) all.push_back({process, set, 0});
  }
  return all;
}

void Watches::note_wait(const Fact& fact, causal::Node at) {
  View& view = views_[{at.thread, fact.more}];
  Spans& spans = spans_[at.thread][static_cast<int32_t>(fact.more)];
  auto is_open = [](const std::vector<Span>& list) { return !list.empty() && list.back().until == 0; };
  if (const auto& now = instance(fact); view.instance != now) {
    for (auto& [source, list] : spans) {
      if (is_open(list)) list.back().until = at.event;
    }
    view = {now, 0};
  }
  const std::vector<Change>& changes = view.instance->changes;
  std::map<uint64_t, bool> watched;  // of what has changed
  for (; view.changes < changes.size(); ++view.changes) {
    const Change& change = changes[view.changes];
    if (change.process == 0 || change.process == fact.thread.process().number())
      watched[change.source] = change.watched;
  }
  for (auto [source, now] : watched) {
    std::vector<Span>& list = spans[source];
    if (now && !is_open(list)) list.push_back({at.event, 0});
    if (!now && is_open(list)) list.back().until = at.event;
  }
}

}  // namespace pastcone::graph
