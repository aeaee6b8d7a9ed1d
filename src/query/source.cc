#include "pastcone/query/source.h"

namespace pastcone::query {

const ProcessTable& Source::processes() {
  if (!processes_) processes_ = ProcessTable::read(recording_);
  return *processes_;
}

Result<const causal::Graph*> Source::graph() {
  if (graph_ == nullptr) graph_ = TRY(finders_.graph());
  return graph_.get();
}

Result<const causal::Races*> Source::races() {
  if (!races_) races_ = causal::Races::find(*TRY(graph()));
  return &*races_;
}

Result<const std::vector<ObjectSummary>*> Source::objects() {
  if (!objects_) objects_ = TRY(finders_.objects());
  return &*objects_;
}

std::string_view Source::place(EventId event) {
  if (!places_ && finders_.places) places_ = finders_.places();
  return places_ ? places_(event) : std::string_view();
}

double Source::events_about() const {
  constexpr double kBytesPerEvent = 4;
  return static_cast<double>(recording_.stream_bytes(format::Stream::kEvents).raw) / kBytesPerEvent;
}

}  // namespace pastcone::query
