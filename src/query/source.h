// What queries are about: a recording, and what is found out about it when a query asks for it, once.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pastcone/base/result.h"
#include "pastcone/causal/races.h"
#include "pastcone/trace/processes.h"
#include "pastcone/trace/recording.h"

namespace pastcone::query {

struct ObjectSummary {
  std::string name, kind;
  bool shared = false;
  uint64_t accesses = 0, hand_overs = 0, threads = 0;
};

/// How to get what is not in the streams themselves.
struct Finders {
  std::function<Result<std::shared_ptr<const causal::Graph>>()> graph;
  std::function<Result<std::vector<ObjectSummary>>()> objects;  ///< object n is at n - 1
  /// Asked once where events are in the source; what it gives says so of each, in a text that stays. Empty:
  /// not known.
  std::function<std::function<std::string_view(EventId)>()> places;
};

class Source {
 public:
  /// The recording must outlive it.
  Source(const Recording& recording, Finders finders) : recording_(recording), finders_(std::move(finders)) {}

  const Recording& recording() const { return recording_; }
  const ProcessTable& processes();
  Result<const causal::Graph*> graph();
  Result<const causal::Races*> races();
  Result<const std::vector<ObjectSummary>*> objects();
  /// "server.c:80 in handle_request"; empty: not known.
  std::string_view place(EventId event);
  /// Events of all threads, near enough, without reading them.
  double events_about() const;

 private:
  const Recording& recording_;
  Finders finders_;
  std::optional<ProcessTable> processes_;
  std::shared_ptr<const causal::Graph> graph_;
  std::optional<causal::Races> races_;
  std::optional<std::vector<ObjectSummary>> objects_;
  std::function<std::string_view(EventId)> places_;
};

}  // namespace pastcone::query
