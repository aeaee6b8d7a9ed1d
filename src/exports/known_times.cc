#include "pastcone/exports/known_times.h"

#include <algorithm>
#include <ctime>
#include <optional>

#include "pastcone/graph/steps.h"
#include "pastcone/trace/stream_reader.h"

namespace pastcone::exports {
namespace {

using format::Op;

/// Beyond this a reading is no time that anything could be drawn at.
constexpr int64_t kLatest = int64_t{1} << 62;

/// ns of the time of day, if that is what it is.
std::optional<int64_t> time_of_day(const Item& item) {
  int64_t ns = 0;
  switch (item.op) {
    case Op::kStart:
    case Op::kRealtime:
      return item.time;
    case Op::kClock:
      if (item.clock == CLOCK_REALTIME) return item.time;
      return std::nullopt;
    case Op::kTimeOfDay:
      if (__builtin_mul_overflow(item.time, 1000, &ns)) return std::nullopt;
      return ns;
    default:
      return std::nullopt;
  }
}

bool is_monotonic(const Item& item) {
  return item.op == Op::kMonotonic || (item.op == Op::kClock && item.clock == CLOCK_MONOTONIC);
}

bool possible(int64_t ns) { return ns >= 0 && ns < kLatest; }

}  // namespace

Result<std::vector<KnownTime>> known_times(const Recording& recording, const causal::Graph& graph) {
  std::vector<KnownTime> known, monotonic;
  std::optional<int64_t> behind;  // the time of day less CLOCK_MONOTONIC: at least so much
  for (uint32_t thread = 0; thread < graph.real_threads; ++thread) {
    StreamReader reader(recording, graph.thread_id(thread));
    std::optional<int64_t> last;
    while (auto item = TRY(reader.next())) {
      if (!item->is_event()) continue;
      causal::Node at = graph::find_step(graph, thread, graph::leaving(item->event));
      if (auto ns = time_of_day(*item); ns && possible(*ns)) {
        known.push_back({at, *ns});
        last = *ns;
      } else if (is_monotonic(*item) && possible(item->time)) {
        monotonic.push_back({at, item->time});
        if (last) behind = std::max(behind.value_or(INT64_MIN), *last - item->time);
      }
    }
  }
  if (!behind) return known;
  for (const KnownTime& each : monotonic) known.push_back({each.at, each.ns + *behind});
  return known;
}

}  // namespace pastcone::exports
