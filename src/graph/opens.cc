#include "pastcone/graph/opens.h"

#include "pastcone/graph/steps.h"

namespace pastcone::graph {

void Opens::take(const Item& item, uint32_t thread) {
  constexpr uint32_t kConnect = 42, kAccept = 43, kAccept4 = 288;
  if (!item.is_call() || item.shape != format::Shape::kOpen || item.channel == 0) return;
  uint64_t connection = (item.channel - 1) / 2;
  causal::Node at{thread, leaving(item.event)};
  if (item.call == kConnect) connects_.emplace(connection, at);
  if (item.call == kAccept || item.call == kAccept4) accepts_.emplace(at, connection);
}

uint64_t Opens::accepted_at(causal::Node at) const {
  auto found = accepts_.find(at);
  return found == accepts_.end() ? 0 : found->second;
}

causal::Node Opens::connector(uint64_t connection) const {
  auto found = connects_.find(connection);
  return found == connects_.end() ? causal::Node{} : found->second;
}

void Opens::add_edges(causal::Execution& execution) const {
  for (const auto& [at, connection] : accepts_) {
    causal::Node from = connector(connection);
    if (from.event == 0) continue;
    execution.edges.push_back({before(from), at, causal::EdgeKind::kAccept});
  }
}

}  // namespace pastcone::graph
