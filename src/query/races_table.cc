#include "pastcone/causal/rival_walk.h"
#include "pastcone/graph/names.h"
#include "pastcone/graph/ports.h"
#include "pastcone/query/tables.h"

namespace pastcone::query {
namespace {

using causal::Graph;
using causal::Races;
using causal::RacyReceive;
using causal::RivalWalk;

enum Column : int {
  kReceive,
  kTook,
  kRival,
  kChannel,
  kRivalChannel,
  kReceiver,
  kSender,
  kRivalSender,
  kLocation
};

constexpr ColumnInfo kColumns[] = {{"receive", "TEXT"},
                                   {"took", "TEXT"},
                                   {"rival", "TEXT"},
                                   {"channel", "INTEGER", false, true},
                                   {"rival_channel", "INTEGER", false, true},
                                   {"receiver", "TEXT", false, true},
                                   {"sender", "TEXT", false, true},
                                   {"rival_sender", "TEXT", false, true},
                                   {"location", "TEXT", false, true}};

/// One for each receive and each message that raced for it.
class RaceRows : public Rows {
 public:
  RaceRows(Source& source, const Graph& graph, const Races& races)
      : source_(source), graph_(graph), races_(races) {}

  Status start(std::span<const Condition>) override {
    walk_.emplace(races_);
    go_on();
    return {};
  }

  Status next() override {
    if (++rival_ == walk_->rivals().size()) go_on();
    return {};
  }

  bool done() const override { return receive_ == nullptr; }

  void cell(int column, Cell& cell) override {
    uint32_t took = races_.contests().takings[receive_->taking].message, rival = walk_->rivals()[rival_];
    switch (column) {
      case kReceive:
        return cell.text(to_string(graph::event_of(graph_, receive_->at)));
      case kTook:
        return cell.text(to_string(graph::event_of(graph_, send_of(took))));
      case kRival:
        return cell.text(to_string(graph::event_of(graph_, send_of(rival))));
      case kChannel:
        return channel(took, cell);
      case kRivalChannel:
        return channel(rival, cell);
      case kReceiver:
        return cell.text(to_string(graph_.thread_id(receive_->at.thread)));
      case kSender:
        return cell.text(to_string(graph_.thread_id(send_of(took).thread)));
      case kRivalSender:
        return cell.text(to_string(graph_.thread_id(send_of(rival).thread)));
      case kLocation:
        if (auto place = source_.place(graph::event_of(graph_, receive_->at)); !place.empty())
          cell.constant(place);
        return;
      default:
        return;
    }
  }

 private:
  void go_on() {
    receive_ = walk_->next();
    rival_ = 0;
  }

  causal::Node send_of(uint32_t message) const { return races_.contests().messages[message].send; }

  void channel(uint32_t message, Cell& cell) const {
    if (auto found = graph::channel_of(graph_, races_.contests(), message)) cell.natural(*found);
  }

  Source& source_;
  const Graph& graph_;
  const Races& races_;
  std::optional<RivalWalk> walk_;
  const RacyReceive* receive_ = nullptr;
  size_t rival_ = 0;
};

class RacesTable : public Table {
 public:
  explicit RacesTable(Source& source) : source_(source) {}

  const TableInfo& info() const override { return kRacesTable; }
  double rows(std::span<const Condition>) const override {
    constexpr double kPart = 0.2;
    return source_.events_about() * kPart;
  }
  Result<std::unique_ptr<Rows>> open() override {
    const Graph* graph = TRY(source_.graph());
    return std::make_unique<RaceRows>(source_, *graph, *TRY(source_.races()));
  }

 private:
  Source& source_;
};

}  // namespace

const TableInfo kRacesTable{"races", kColumns};

std::unique_ptr<Table> races_table(Source& source) { return std::make_unique<RacesTable>(source); }

}  // namespace pastcone::query
