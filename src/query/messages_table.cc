#include <algorithm>

#include "pastcone/graph/messages.h"
#include "pastcone/graph/names.h"
#include "pastcone/query/tables.h"

namespace pastcone::query {
namespace {

using causal::Graph;
using causal::kNone;

enum Column : int { kChannel, kBegin, kEnd, kSend, kReceive, kSender, kReceiver };

constexpr ColumnInfo kColumns[] = {{"channel", "INTEGER", true, true},
                                   {"begin", "INTEGER"},
                                   {"end", "INTEGER"},
                                   {"send", "TEXT"},
                                   {"receive", "TEXT"},
                                   {"sender", "TEXT", false, true},
                                   {"receiver", "TEXT", false, true}};

class MessageRows : public Rows {
 public:
  explicit MessageRows(const Graph& graph) : graph_(graph) {}

  Status start(std::span<const Condition> conditions) override {
    auto all = graph_.channels.view();
    auto first = all.begin(), until = all.end();
    for (const Condition& condition : conditions) {
      // Channels come by their ids.
      if (condition.comparison != Comparison::kEqual) continue;
      auto id = static_cast<uint64_t>(condition.number);
      first = std::max(first, std::ranges::lower_bound(all, id, {}, &causal::Channel::id));
      until = std::min(until, std::ranges::upper_bound(all, id, {}, &causal::Channel::id));
    }
    until = std::max(first, until);
    messages_.emplace(graph_, static_cast<uint32_t>(first - all.begin()),
                      static_cast<uint32_t>(until - all.begin()));
    return next();
  }

  Status next() override {
    message_ = messages_->next();
    return {};
  }

  bool done() const override { return !message_; }

  void cell(int column, Cell& cell) override {
    uint32_t send = message_->send, receive = message_->receive;
    switch (column) {
      case kChannel:
        return cell.natural(graph_.channels[message_->channel].id);
      case kBegin:
        return cell.natural(message_->begin);
      case kEnd:
        return cell.natural(message_->end);
      case kSend:
        if (send != kNone) cell.text(to_string(graph::event_of(graph_, graph_.sends[send].at)));
        return;
      case kReceive:
        if (receive != kNone) cell.text(to_string(graph::event_of(graph_, graph_.receives[receive].at)));
        return;
      case kSender:
        if (send != kNone) cell.text(to_string(graph_.thread_id(graph_.sends[send].at.thread)));
        return;
      case kReceiver:
        if (receive != kNone) cell.text(to_string(graph_.thread_id(graph_.receives[receive].at.thread)));
        return;
      default:
        return;
    }
  }

 private:
  const Graph& graph_;
  std::optional<graph::Messages> messages_;
  std::optional<graph::Message> message_;
};

class MessagesTable : public Table {
 public:
  explicit MessagesTable(Source& source) : source_(source) {}

  const TableInfo& info() const override { return kMessagesTable; }
  double rows(std::span<const Condition> conditions) const override {
    constexpr double kPart = 0.3, kChannel = 0.1;
    return source_.events_about() * kPart * (conditions.empty() ? 1 : kChannel);
  }
  Result<std::unique_ptr<Rows>> open() override {
    return std::make_unique<MessageRows>(*TRY(source_.graph()));
  }

 private:
  Source& source_;
};

}  // namespace

const TableInfo kMessagesTable{"messages", kColumns};

std::unique_ptr<Table> messages_table(Source& source) { return std::make_unique<MessagesTable>(source); }

}  // namespace pastcone::query
