#include "pastcone/causal/sweep.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>

#include "pastcone/causal/cone.h"
#include "pastcone/causal/vectors.h"

namespace pastcone::causal {
namespace {

/// Rows that are used again when they are free.
class Rows {
 public:
  Rows(uint32_t width, uint64_t bytes) : width_(width), limit_(bytes / (sizeof(uint32_t) * (width + 1))) {}

  uint32_t take() {
    ++used_;
    if (!free_.empty()) {
      uint32_t row = free_.back();
      free_.pop_back();
      return row;
    }
    rows_.push_back(std::make_unique_for_overwrite<uint32_t[]>(width_));
    return static_cast<uint32_t>(rows_.size() - 1);
  }
  void give_back(uint32_t row) {
    --used_;
    free_.push_back(row);
  }
  bool full() const { return used_ >= limit_; }
  uint32_t* operator[](uint32_t row) { return rows_[row].get(); }
  void copy(uint32_t to, uint32_t from) {
    std::memcpy(rows_[to].get(), rows_[from].get(), width_ * sizeof(uint32_t));
  }
  void clear(uint32_t row) { std::memset(rows_[row].get(), 0, width_ * sizeof(uint32_t)); }

 private:
  uint32_t width_;
  uint64_t limit_, used_ = 0;
  std::vector<std::unique_ptr<uint32_t[]>> rows_;
  std::vector<uint32_t> free_;
};

class Sweep {
 public:
  Sweep(const Graph& graph, const Anchors& anchors, SweepVisitor& visitor, uint64_t bytes)
      : graph_(graph),
        anchors_(anchors),
        visitor_(visitor),
        order_(graph.order()),
        rows_(graph.thread_count(), bytes),
        current_(graph.thread_count(), kNone),
        states_(graph.group_count()) {
    for (uint32_t edge = 0; edge < graph.edges.size(); ++edge) {
      if (wanted(edge) && graph.edges[edge].from_group != kNone) ++states_[graph.edges[edge].from_group].uses;
    }
  }

  void run() {
    for (uint32_t thread = 0; thread < graph_.thread_count(); ++thread)
      visitor_.epoch(thread, kNone, nullptr);
    for (size_t i = 0; i < order_.size(); ++i) {
      fetch_ahead(i);
      enter(order_[i]);
    }
  }

 private:
  struct State {
    uint32_t uses = 0;      ///< edges that are still to be followed from there
    uint32_t kept = kNone;  ///< its row, after its thread went on
  };

  /// Groups by rank are all over the place, and most of the time would go to waiting for them.
  void fetch_ahead(size_t place) const {
    auto group = [&](size_t distance) { return order_[std::min(place + distance, order_.size() - 1)]; };
    __builtin_prefetch(&graph_.groups[group(24)]);
    __builtin_prefetch(&graph_.edges[graph_.groups[group(16)].first_edge]);
    uint32_t from = graph_.edges[graph_.groups[group(8)].first_edge].from_group;
    if (from != kNone) __builtin_prefetch(&states_[from]);
  }

  bool wanted(uint32_t edge) const { return (anchors_.kinds & kinds_of(graph_.kind(edge))) != 0; }

  void enter(uint32_t group) {
    const Group& here = graph_.groups[group];
    uint32_t& row = current_[here.thread];
    gather(group);
    visitor_.incoming(group, row == kNone ? nullptr : rows_[row], incoming_);
    leave_last(group, row);
    for (const Incoming& each : incoming_) {
      if (each.row != nullptr) join(rows_[row], each.row, graph_.thread_count());
      rows_[row][each.from.thread] = std::max(rows_[row][each.from.thread], each.from.event);
    }
    for (const Incoming& each : incoming_) used(graph_.edges[each.edge].from_group);
    rows_[row][here.thread] = here.event;
    visitor_.epoch(here.thread, group, rows_[row]);
    bool last = group + 1 == graph_.first_group[here.thread + 1];
    if (last) finish(group, row);
  }

  void gather(uint32_t group) {
    incoming_.clear();
    found_again_.clear();
    for (uint32_t edge = graph_.groups[group].first_edge; edge < graph_.groups[group + 1].first_edge;
         ++edge) {
      if (!wanted(edge)) continue;
      const Edge& each = graph_.edges[edge];
      incoming_.push_back({edge, each.from, row_of(each)});
    }
  }

  const uint32_t* row_of(const Edge& edge) {
    if (edge.from_group == kNone) return nullptr;
    if (states_[edge.from_group].kept != kNone) return rows_[states_[edge.from_group].kept];
    if (is_current(edge.from_group)) return rows_[current_[edge.from.thread]];
    Node there{edge.from.thread, graph_.groups[edge.from_group].event};
    found_again_.push_back(past_cone(graph_, anchors_, std::span(&there, 1)));
    return found_again_.back().data();
  }

  /// Groups of a thread come in order: the one in current_ is the last that was entered.
  bool is_current(uint32_t group) {
    uint32_t row = current_[graph_.groups[group].thread];
    return row != kNone && rows_[row][graph_.groups[group].thread] == graph_.groups[group].event;
  }

  /// The thread's row is to become that of `group`. The last one's is kept if edges are still to come from
  /// it.
  void leave_last(uint32_t group, uint32_t& row) {
    if (row == kNone || group == graph_.first_group[graph_.groups[group].thread]) {
      row = rows_.take();
      rows_.clear(row);
      return;
    }
    if (states_[group - 1].uses == 0 || rows_.full()) return;
    uint32_t next = rows_.take();
    rows_.copy(next, row);
    states_[group - 1].kept = row;
    row = next;
  }

  void used(uint32_t group) {
    if (group == kNone || --states_[group].uses != 0) return;
    if (states_[group].kept != kNone) rows_.give_back(std::exchange(states_[group].kept, kNone));
  }

  void finish(uint32_t group, uint32_t& row) {
    if (states_[group].uses != 0 && !rows_.full()) {
      states_[group].kept = row;
    } else {
      rows_.give_back(row);
    }
    row = kNone;
  }

  const Graph& graph_;
  const Anchors& anchors_;
  SweepVisitor& visitor_;
  std::span<const uint32_t> order_;
  Rows rows_;
  std::vector<uint32_t> current_;  ///< row of each thread
  std::vector<State> states_;      ///< of each group
  std::vector<Incoming> incoming_;
  std::deque<Cut> found_again_;
};

class AnchorMaker : public SweepVisitor {
 public:
  AnchorMaker(const Graph& graph, const Anchors& anchors, std::vector<uint32_t>& vectors, SweepVisitor* other)
      : graph_(graph), anchors_(anchors), vectors_(vectors), other_(other) {}

  void incoming(uint32_t group, const uint32_t* before, std::span<const Incoming> edges) override {
    if (other_ != nullptr) other_->incoming(group, before, edges);
  }

  void epoch(uint32_t thread, uint32_t group, const uint32_t* row) override {
    if (other_ != nullptr) other_->epoch(thread, group, row);
    if (group == kNone) return;
    uint32_t groups = group + 1 - graph_.first_group[thread];
    if (groups % anchors_.spacing != 0) return;
    size_t width = graph_.thread_count(), anchor = anchors_.first[thread] + groups / anchors_.spacing - 1;
    std::memcpy(&vectors_[anchor * width], row, width * sizeof(uint32_t));
  }

 private:
  const Graph& graph_;
  const Anchors& anchors_;
  std::vector<uint32_t>& vectors_;
  SweepVisitor* other_;
};

}  // namespace

void sweep(const Graph& graph, const Anchors& anchors, SweepVisitor& visitor, uint64_t vector_bytes) {
  Sweep(graph, anchors, visitor, vector_bytes).run();
}

Anchors make_anchors(const Graph& graph, Kinds kinds, uint32_t spacing, uint64_t vector_bytes,
                     SweepVisitor* visitor) {
  Anchors anchors;
  anchors.kinds = kinds;
  anchors.spacing = spacing;
  std::vector<uint32_t> first(graph.thread_count() + 1, 0);
  for (uint32_t thread = 0; thread < graph.thread_count(); ++thread) {
    first[thread + 1] = first[thread] + (graph.first_group[thread + 1] - graph.first_group[thread]) / spacing;
  }
  std::vector<uint32_t> vectors(size_t{first.back()} * graph.thread_count());
  anchors.first = std::move(first);
  anchors.vectors = Column<uint32_t>::over(vectors);
  AnchorMaker maker(graph, anchors, vectors, visitor);
  sweep(graph, anchors, maker,
        vector_bytes);  // cones that it asks for need only the anchors that are there by then
  anchors.vectors = std::move(vectors);
  return anchors;
}

}  // namespace pastcone::causal
