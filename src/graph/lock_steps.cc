#include "pastcone/graph/lock_steps.h"

#include <algorithm>
#include <map>
#include <optional>

namespace pastcone::graph {
namespace {

using causal::Node;

/// The points of one thread that become steps.
class ThreadPoints {
 public:
  struct Point {
    uint64_t number;
    uint32_t after;  ///< the plain step before it

    auto operator<=>(const Point&) const = default;
  };

  void add(uint64_t number, uint32_t after) { points_.push_back({number, after}); }

  void sort() {
    std::ranges::sort(points_);
    auto same = std::ranges::unique(points_, {}, &Point::number);
    points_.erase(same.begin(), same.end());
    for (size_t i = 1; i < points_.size(); ++i)
      points_[i].after = std::max(points_[i].after, points_[i - 1].after);
  }

  uint32_t of_plain(uint32_t step) const {
    return step + place_of(std::ranges::lower_bound(points_, step, {}, &Point::after));
  }
  uint32_t of_point(uint64_t number) const {
    auto found = std::ranges::lower_bound(points_, number, {}, &Point::number);
    return found->after + place_of(found) + 1;
  }
  /// The first step at or behind a point that comes after this plain step.
  uint32_t first_from(uint32_t step, uint64_t number) const {
    auto found = std::ranges::lower_bound(points_, number, {}, &Point::number);
    uint32_t next = of_plain(step + 1);
    return found == points_.end() ? next : std::min(next, of_point(found->number));
  }
  uint32_t count() const { return static_cast<uint32_t>(points_.size()); }
  const std::vector<Point>& all() const { return points_; }

 private:
  using Place = std::vector<Point>::const_iterator;
  uint32_t place_of(Place place) const { return static_cast<uint32_t>(place - points_.begin()); }

  std::vector<Point> points_;
};

class Renumbering {
 public:
  Renumbering(const LockEdges& locks, causal::Execution& execution)
      : locks_(locks), execution_(execution), threads_(execution.threads.size()) {
    for (uint32_t i = 0; i < threads_.size(); ++i) thread_of_[execution.threads[i].id] = i;
  }

  void run() {
    each_place([&](const Place& place) { note(place); });
    for (ThreadPoints& thread : threads_) thread.sort();
    renumber();
    note_begins();
    list_between();
    for (const LockEdge& edge : locks_.edges) {
      auto from = node_of(edge.from), to = node_of(edge.to);
      if (from && to) execution_.edges.push_back({*from, *to, edge.kind, edge.label});
    }
    for (const LockMeeting& meeting : locks_.meetings) {
      execution_.barriers.push_back(
          {meeting.object, nodes_of(meeting.arrivals), nodes_of(meeting.departures)});
    }
  }

 private:
  template <typename Visit>
  void each_place(Visit visit) const {
    for (const LockEdge& edge : locks_.edges) {
      visit(edge.from);
      visit(edge.to);
    }
    for (const LockMeeting& meeting : locks_.meetings) {
      for (const Place& place : meeting.arrivals) visit(place);
      for (const Place& place : meeting.departures) visit(place);
    }
  }

  /// Its thread and plain step, if the recording has them.
  std::optional<Node> plain_of(const Place& place) const {
    auto thread = thread_of_.find(place.thread);
    if (thread == thread_of_.end()) return {};
    if (place.point == kItsEnd) return Node{thread->second, plain_events_of(thread->second)};
    if (place.step == 0 || place.step > plain_events_of(thread->second)) return {};
    return Node{thread->second, static_cast<uint32_t>(place.step)};
  }
  uint32_t plain_events_of(uint32_t thread) const {
    return plain_events_.empty() ? execution_.threads[thread].events : plain_events_[thread];
  }

  void note(const Place& place) {
    auto plain = plain_of(place);
    if (plain && place.point != 0 && place.point != kItsEnd)
      threads_[plain->thread].add(place.point, plain->event);
  }

  std::optional<Node> node_of(const Place& place) const {
    auto plain = plain_of(place);
    if (!plain) return {};
    if (place.point == 0) return moved(*plain);
    if (place.point == kItsEnd) return end_of(plain->thread);
    return Node{plain->thread, threads_[plain->thread].of_point(place.point)};
  }
  std::vector<Node> nodes_of(const std::vector<Place>& places) const {
    std::vector<Node> nodes;
    for (const Place& place : places) {
      if (auto node = node_of(place)) nodes.push_back(*node);
    }
    return nodes;
  }

  Node moved(Node node) const {
    if (node.event == 0 || node.thread >= threads_.size()) return node;
    return {node.thread, threads_[node.thread].of_plain(node.event)};
  }

  /// What it still does with locks on its way out comes before.
  Node end_of(uint32_t thread) const { return {thread, plain_events_[thread] + threads_[thread].count()}; }
  bool is_of_end(const causal::EdgeInput& edge) const {
    bool kind = edge.kind == causal::EdgeKind::kWait || edge.kind == causal::EdgeKind::kSignal;
    return kind && edge.from.event == plain_events_[edge.from.thread];
  }

  void renumber() {
    for (size_t i = 0; i < threads_.size(); ++i) plain_events_.push_back(execution_.threads[i].events);
    for (size_t i = 0; i < threads_.size(); ++i) {
      causal::ThreadInput& thread = execution_.threads[i];
      thread.creator = moved(thread.creator);
      thread.events += threads_[i].count();
    }
    for (causal::EdgeInput& edge : execution_.edges) {
      edge.from = is_of_end(edge) ? end_of(edge.from.thread) : moved(edge.from);
      edge.to = moved(edge.to);
    }
    for (auto* transfers : {&execution_.sends, &execution_.receives}) {
      for (causal::Transfer& transfer : *transfers) transfer.at = moved(transfer.at);
    }
    for (causal::ArrivalInput& arrival : execution_.arrivals) {
      arrival.send = moved(arrival.send);
      arrival.until = moved(arrival.until);
    }
    for (causal::TakingInput& taking : execution_.takings) taking.at = moved(taking.at);
  }

  /// Where what is given back was taken, if that is not a step: the first one behind it.
  void note_begins() {
    for (const LockEdge& edge : locks_.edges) {
      auto from = node_of(edge.from);
      if (!from || edge.since_point == 0) continue;
      auto step = static_cast<uint32_t>(edge.since_step);
      begins_[*from] = std::min(from->event, threads_[from->thread].first_from(step, edge.since_point));
    }
  }

  void list_between() {
    for (uint32_t thread = 0; thread < threads_.size(); ++thread) {
      for (const ThreadPoints::Point& point : threads_[thread].all()) {
        Node at{thread, threads_[thread].of_point(point.number)};
        auto begin = begins_.find(at);
        execution_.between.push_back(
            {at, static_cast<uint32_t>(point.number), begin == begins_.end() ? 0 : begin->second});
      }
    }
  }

  const LockEdges& locks_;
  causal::Execution& execution_;
  std::map<ThreadId, uint32_t> thread_of_;
  std::vector<ThreadPoints> threads_;
  std::map<Node, uint32_t> begins_;
  std::vector<uint32_t> plain_events_;  ///< of each thread, once they are counted anew
};

}  // namespace

void add_lock_steps(const LockEdges& locks, causal::Execution& execution) {
  Renumbering(locks, execution).run();
}

}  // namespace pastcone::graph
