#include "pastcone/graph/watches.h"

namespace pastcone::graph {

uint64_t Watches::source(const Fact& fact) const {
  for (ThreadId by = fact.thread;;) {
    auto found = watches_.find({by.process().number(), fact.more, fact.number});
    if (found != watches_.end()) return found->second;
    auto first = thread_of_.find(ThreadId(by.process(), 1));
    if (first == thread_of_.end()) return 0;
    causal::Node creator = execution_.threads[first->second].creator;
    if (creator.event == 0) return 0;
    by = execution_.threads[creator.thread].id;
  }
}

}  // namespace pastcone::graph
