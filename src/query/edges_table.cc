#include <algorithm>

#include "pastcone/graph/names.h"
#include "pastcone/graph/steps.h"
#include "pastcone/query/selection.h"
#include "pastcone/query/tables.h"

namespace pastcone::query {
namespace {

using causal::Graph;
using causal::Node;

enum Column : int {
  kFrom,
  kTo,
  kKind,
  kCausal,
  kFromProcess,
  kFromThread,
  kFromNumber,
  kToProcess,
  kToThread,
  kToNumber
};

constexpr ColumnInfo kColumns[] = {{"from_event", "TEXT"},
                                   {"to_event", "TEXT", true},
                                   {"kind", "TEXT", false, true},
                                   {"causal", "INTEGER", false, true},
                                   {"from_process", "TEXT", false, true},
                                   {"from_thread", "TEXT", false, true},
                                   {"from_number", "INTEGER"},
                                   {"to_process", "TEXT", true, true},
                                   {"to_thread", "TEXT", true, true},
                                   {"to_number", "INTEGER", true}};

constexpr Selection::Columns kSelecting{kTo, kToProcess, kToThread, kToNumber};

/// By the thread they lead to, and its events.
class EdgeRows : public Rows {
 public:
  explicit EdgeRows(const Graph& graph) : graph_(graph), selection_({}, kSelecting) {}

  Status start(std::span<const Condition> conditions) override {
    selection_ = Selection(conditions, kSelecting);
    some_ = !conditions.empty();
    next_thread_ = group_ = last_group_ = edge_ = 0;
    skip();
    return {};
  }

  Status next() override {
    ++edge_;
    skip();
    return {};
  }

  bool done() const override { return group_ == last_group_; }

  void cell(int column, Cell& cell) override {
    Node from = graph_.edges[edge_].from, to{graph_.groups[group_].thread, graph_.groups[group_].event};
    switch (column) {
      case kFrom:
        return cell.text(graph::name_of(graph_, from));
      case kTo:
        return cell.text(graph::name_of(graph_, to));
      case kKind:
        return cell.constant(causal::to_string(graph_.kind(edge_)));
      case kCausal:
        return cell.integer(graph_.kind(edge_) != causal::EdgeKind::kHandOver);
      case kFromProcess:
      case kFromThread:
      case kFromNumber:
        return part(column - kFromProcess, from, cell);
      default:
        return part(column - kToProcess, to, cell);
    }
  }

 private:
  /// A hub has none of them.
  void part(int which, Node node, Cell& cell) const {
    if (graph_.threads[node.thread].hub()) return;
    EventId event = graph::event_of(graph_, node);
    if (which == 0) cell.text(to_string(event.process()));
    if (which == 1) cell.text(to_string(event.thread()));
    if (which == 2) cell.natural(event.index());
  }

  /// To the group of the edge, in the next threads if need be.
  void skip() {
    while (true) {
      while (group_ < last_group_ && edge_ == graph_.groups[group_ + 1].first_edge) ++group_;
      if (group_ < last_group_ || next_thread_ == graph_.thread_count()) return;
      enter(next_thread_++);
    }
  }

  void enter(uint32_t thread) {
    group_ = graph_.first_group[thread];
    last_group_ = graph_.first_group[thread + 1];
    if (some_) {
      bool wanted = !graph_.threads[thread].hub() && selection_.contains(graph_.thread_id(thread));
      if (!wanted) last_group_ = group_;
      group_ = first_from(selection_.from());
      // One more at the end: a thread that was cut off on its way into an event is shown at the one before.
      if (selection_.to() < UINT64_MAX - 2)
        last_group_ = std::min(last_group_, first_from(selection_.to() + 2));
    }
    edge_ = graph_.groups[group_].first_edge;
  }

  /// The first group of those at hand that belongs to this event or a later one.
  uint32_t first_from(uint64_t event) const {
    auto groups = graph_.groups.view().subspan(group_, last_group_ - group_);
    auto earlier = [&](const causal::Group& group) {
      return graph::event_of_step(graph_, {group.thread, group.event}) < event;
    };
    return group_ + static_cast<uint32_t>(std::ranges::partition_point(groups, earlier) - groups.begin());
  }

  const Graph& graph_;
  Selection selection_;
  bool some_ = false;  ///< only some threads are wanted, or some events
  uint32_t next_thread_ = 0, group_ = 0, last_group_ = 0, edge_ = 0;
};

class EdgesTable : public Table {
 public:
  explicit EdgesTable(Source& source) : source_(source) {}

  const TableInfo& info() const override { return kEdgesTable; }
  double rows(std::span<const Condition> conditions) const override {
    constexpr double kPart = 0.3;
    return rows_left(source_.events_about() * kPart,
                     static_cast<double>(source_.recording().threads().size()), conditions, kSelecting);
  }
  Result<std::unique_ptr<Rows>> open() override { return std::make_unique<EdgeRows>(*TRY(source_.graph())); }

 private:
  Source& source_;
};

}  // namespace

const TableInfo kEdgesTable{"edges", kColumns};

std::unique_ptr<Table> edges_table(Source& source) { return std::make_unique<EdgesTable>(source); }

}  // namespace pastcone::query
