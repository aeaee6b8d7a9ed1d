#include "pastcone/graph/signals.h"

#include <csignal>
#include <cstring>
#include <set>
#include <tuple>

#include "pastcone/graph/steps.h"

namespace pastcone::graph {

void Signals::take(uint32_t process, uint32_t signal, ByteView info, causal::Node at) {
  constexpr size_t kCode = 8, kPid = 16;
  if (info.size() < kPid + 4) {
    deliveries_.push_back({process, signal, 0, at});
    return;
  }
  int32_t code = 0;
  uint32_t pid = 0;
  std::memcpy(&code, info.data() + kCode, 4);
  std::memcpy(&pid, info.data() + kPid, 4);
  bool by_kill = code == SI_USER || code == SI_TKILL || code == SI_QUEUE;
  if (by_kill) deliveries_.push_back({process, signal, pid, at});
  if (signal == SIGCHLD && code >= CLD_EXITED && code <= CLD_DUMPED) children_.emplace_back(pid, at);
}

void Signals::add_edges(const Facts& facts, const std::map<ThreadId, uint32_t>& thread_of,
                        causal::Execution& execution) const {
  struct Kill {
    uint32_t sender, signal;
    int64_t target;
    causal::Node at;
  };
  std::vector<Kill> kills;
  for (const Fact& fact : facts.list) {
    if (fact.kind != FactKind::kKilled) continue;
    auto pid = pids_.find(fact.thread.process().number());
    auto thread = thread_of.find(fact.thread);
    if (pid == pids_.end() || thread == thread_of.end()) continue;
    kills.push_back({pid->second,
                     static_cast<uint32_t>(fact.number),
                     static_cast<int64_t>(fact.key),
                     {thread->second, leaving(fact.event)}});
  }
  using Way = std::tuple<uint32_t, uint32_t, uint32_t>;  // process, signal, sender
  auto way = [](const Delivery& d) { return Way{d.process, d.signal, d.sender}; };
  std::map<Way, std::set<uint32_t>> receivers;
  for (const Delivery& delivery : deliveries_) receivers[way(delivery)].insert(delivery.at.thread);
  std::map<Way, size_t> before;
  for (const Delivery& delivery : deliveries_) {
    auto pid = pids_.find(delivery.process);
    if (pid == pids_.end()) continue;
    auto first = thread_of.find(ThreadId(ProcessId(delivery.process), 1));
    causal::Node created =
        first != thread_of.end() ? execution.threads[first->second].creator : causal::Node{};
    std::vector<causal::Node> fitting;
    for (const Kill& kill : kills) {
      bool fits = kill.signal == delivery.signal && (kill.target == pid->second || kill.target <= 0) &&
                  (delivery.sender == 0 || delivery.sender == kill.sender);
      bool earlier =
          kill.at.thread == created.thread && kill.at.event < created.event;  // it had the pid before
      if (fits && !earlier) fitting.push_back(kill.at);
    }
    if (delivery.sender == 0 && fitting.size() != 1) continue;
    size_t which = receivers[way(delivery)].size() == 1 ? before[way(delivery)]++ : 0;
    if (which >= fitting.size() || fitting[which].thread == delivery.at.thread) continue;
    execution.edges.push_back({fitting[which], delivery.at, causal::EdgeKind::kSignal});
  }
}

}  // namespace pastcone::graph
