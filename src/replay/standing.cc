#include "pastcone/replay/standing.h"

namespace pastcone::replay {

void end_as_recorded(std::vector<Standing>& all, const std::map<ThreadId, ThreadSummary>& recorded) {
  std::erase_if(all, [&](Standing& where) {
    if (!where.ended) return false;
    auto summary = recorded.find(where.last.thread());
    if (summary == recorded.end() || summary->second.events == 0) return true;
    where.last = EventId(where.last.thread(), summary->second.events);
    where.left = summary->second.left;
    return false;
  });
}

}  // namespace pastcone::replay
