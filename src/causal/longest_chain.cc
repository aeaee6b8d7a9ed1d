#include <algorithm>
#include <limits>
#include <memory>
#include <type_traits>

#include "pastcone/causal/cone.h"
#include "pastcone/causal/path.h"

namespace pastcone::causal {
namespace {

/// The longest ways from a to the stops behind it, up to b: one pass over stops and links as they lie.
/// `Way` is wide enough for all events.
template <typename Way>
class LongestSearch {
 public:
  LongestSearch(const Graph& graph, Node a, Node b, Order order)
      : graph_(graph),
        chains_(graph.chains()),
        stops_(chains_.stops.data()),
        links_(chains_.links.data()),
        skipped_((graph.anchors(order).kinds & kinds_of(EdgeKind::kHandOver)) == 0 ? Link::kHandOver : 0),
        first_(stop_at(a)),
        last_(stop_at(b)),
        ways_(std::make_unique_for_overwrite<Room[]>(first_ > last_ ? 0 : last_ - first_ + 1)),
        reached_(graph.thread_count(), kUnreached),
        head_(a.event - event_of(first_)),
        tail_(b.event - event_of(last_)) {
    reached_[a.thread] = -static_cast<Way>(head_);
  }

  /// None if edges and anchors do not agree, which damaged ones may not.
  std::optional<Chain> run() && {
    if (first_ > last_) return {};
    uint32_t stop = first_;
    set_way(stop, -static_cast<Way>(head_));
    for (++stop; stop < graph_.thread_count() && stop <= last_; ++stop) set_way(stop, kUnreached);
    uint32_t link = stops_[stop].first_link;
    for (; stop <= last_; ++stop) {
      const Stop& here = stops_[stop];
      Way& reached = reached_[here.thread];
      Way way = reached + static_cast<Way>(here.steps);
      for (uint32_t until = stops_[stop + 1].first_link; link < until; ++link)
        way = std::max(way, way_by(links_[link], here));
      if (way < 0) way = kUnreached;
      reached = way;
      set_way(stop, way);
    }
    Way way = way_to(last_) + static_cast<Way>(tail_);
    if (way < 0) return {};
    return trace_back(static_cast<uint64_t>(way) + 1);
  }

 private:
  static constexpr Way kUnreached = std::numeric_limits<Way>::min() / 2;

  using Room = std::make_unsigned_t<Way>;

  Way way_to(uint32_t stop) const { return static_cast<Way>(ways_[stop - first_]); }
  void set_way(uint32_t stop, Way way) { ways_[stop - first_] = static_cast<Room>(way); }

  uint32_t stop_at(Node node) const {
    uint32_t group = graph_.group_at(node);
    return group == kNone ? node.thread : chains_.stop_of[group];
  }
  uint32_t event_of(uint32_t stop) const {
    uint32_t group = stops_[stop].group;
    return group == kNone ? 0 : graph_.groups[group].event;
  }

  /// Before a way has come as far as a it is below 0: there, a source that lies before a is no way. Hubs are
  /// no steps.
  Way way_by(const Link& link, const Stop& to) const {
    uint32_t from = link.from & ~Link::kHandOver;
    if ((link.from & skipped_) != 0 || from < first_) return kUnreached;
    Way way = way_to(from) + static_cast<Way>(link.steps);
    return way >= (to.steps != 0 ? 1 : 0) ? way : kUnreached;
  }

  /// Each edge leads back by a stop at least: so there is room for them, from the last on, where the ways are
  /// that are needed no more.
  Chain trace_back(uint64_t events) {
    uint32_t end = last_ - first_ + 1, begin = end;
    for (uint32_t stop = last_; stop != first_;) {
      const Stop& here = stops_[stop];
      uint32_t until = stops_[stop + 1].first_link, link = here.first_link;
      while (link < until && way_by(links_[link], here) != way_to(stop)) ++link;
      if (link < until) {
        ways_[--begin] = graph_.groups[here.group].first_edge + (link - here.first_link);
        stop = links_[link].from & ~Link::kHandOver;
      } else {
        do --stop;
        while (stops_[stop].thread != here.thread);
      }
    }
    return chain(events, begin, end - begin);
  }

  Chain chain(uint64_t events, uint32_t first, uint32_t count) {
    if constexpr (std::is_same_v<Room, uint32_t>) {
      return {events, {&ways_[first], count}, std::move(ways_)};
    } else {
      auto edges = std::make_unique_for_overwrite<uint32_t[]>(count);
      for (uint32_t i = 0; i < count; ++i) edges[i] = static_cast<uint32_t>(ways_[first + i]);
      return {events, {edges.get(), count}, std::move(edges)};
    }
  }

  const Graph& graph_;
  const Chains& chains_;
  const Stop* stops_;
  const Link* links_;
  uint32_t skipped_;              ///< links with this bit do not count
  uint32_t first_, last_;         ///< the stops that a and b follow
  std::unique_ptr<Room[]> ways_;  ///< steps from a to each stop from first_ on
  std::vector<Way> reached_;      ///< of each thread: to its last stop
  uint32_t head_, tail_;          ///< steps from first_ to a, from last_ to b
};

constexpr uint64_t kFewEvents = uint64_t{1} << 30;

}  // namespace

std::optional<Chain> longest_chain(const Graph& graph, Node a, Node b, Order order) {
  if (!happened_before(graph, a, b, order) || graph.chains().stops.empty()) return {};
  if (graph.event_count() < kFewEvents) return LongestSearch<int32_t>(graph, a, b, order).run();
  return LongestSearch<int64_t>(graph, a, b, order).run();
}

}  // namespace pastcone::causal
