// What the epoll instances of a recording watch, as a replay tells it: what each wait was about, and what
// else a thread waited for then.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "pastcone/causal/model.h"
#include "pastcone/graph/facts.h"

namespace pastcone::graph {

/// Of a thread: from the step that leaves one wait up to that of another, which is not in it; until 0: to the
/// end.
struct Span {
  uint32_t from = 0, until = 0;
};
/// Channel or listener → when a thread waited for it.
using Spans = std::map<uint64_t, std::vector<Span>>;

class Watches {
 public:
  /// Both must outlive it.
  Watches(const std::map<ThreadId, uint32_t>& thread_of, const causal::Execution& execution)
      : thread_of_(thread_of), execution_(execution) {}

  /// A fact of kWatcher, kWatched or kUnwatched; any other is nothing to it.
  void take(const Fact& fact);
  /// What a fact of kPolled is about: a channel, or a listener; 0: neither.
  uint64_t source(const Fact& fact);
  /// The wait that it tells of leaves at `at`: from here on the thread waits for what is watched now.
  void note_wait(const Fact& fact, causal::Node at);
  /// By thread, and by the descriptor of the instance.
  const std::map<uint32_t, std::map<int32_t, Spans>>& spans() const { return spans_; }
  /// What they watch when all has been taken.
  std::vector<causal::WatchInput> at_end() const;

 private:
  struct Change {
    uint64_t source;
    bool watched;
    uint32_t process;  ///< whom alone it concerns; 0: all
  };
  struct Instance {
    std::map<uint64_t, uint64_t> source_of;  ///< by the data that goes with it
    std::vector<Change> changes;
    bool others = false;  ///< something that is neither was watched
  };
  /// How much of it a thread has seen.
  struct View {
    std::shared_ptr<Instance> instance;
    size_t changes = 0;
  };
  using Name = std::pair<uint32_t, uint64_t>;  ///< process, descriptor

  const std::shared_ptr<Instance>& instance(const Fact& fact);

  const std::map<ThreadId, uint32_t>& thread_of_;
  const causal::Execution& execution_;
  std::map<Name, std::shared_ptr<Instance>> instances_;
  std::map<std::pair<uint32_t, uint64_t>, View> views_;  ///< thread, descriptor
  std::map<uint32_t, std::map<int32_t, Spans>> spans_;
};

}  // namespace pastcone::graph
