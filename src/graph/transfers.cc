#include "pastcone/graph/transfers.h"

#include <algorithm>
#include <utility>

#include "pastcone/graph/steps.h"

namespace pastcone::graph {
namespace {

using format::Op;
using format::Shape;
using Use = Transfers::Use;

// What kCorrect says of a send, beside a result.
constexpr int64_t kContinue = -(int64_t{1} << 20), kTaken = 3 * kContinue;

/// None: nothing went.
std::optional<uint64_t> sent_by(const Item& correction, uint64_t length) {
  int64_t result = correction.result;
  if (result >= 0) return static_cast<uint64_t>(result);
  if (result <= kTaken) return length;
  if (result <= kContinue) return static_cast<uint64_t>(kContinue - result);
  return {};
}

/// Those that have no position follow each other.
void place(std::vector<Use>& uses) {
  bool several = std::any_of(uses.begin(), uses.end(),
                             [&](const Use& use) { return use.at.thread != uses[0].at.thread; });
  if (several) {
    std::stable_sort(uses.begin(), uses.end(), [](const Use& a, const Use& b) { return a.turn < b.turn; });
  }
  uint64_t next = 0;
  for (Use& use : uses) {
    if (!use.position) use.position = next;
    next = std::max(next, *use.position + use.length);
  }
}

/// Messages have an unused position before each.
bool has_gaps(std::vector<Use> sends) {
  std::sort(sends.begin(), sends.end(), [](const Use& a, const Use& b) { return a.position < b.position; });
  uint64_t next = 0;
  for (const Use& use : sends) {
    if (*use.position != next) return true;
    next += use.length;
  }
  return false;
}

/// Replay puts bytes into a channel in the order of their positions.
void add_order(std::vector<Use> sends, std::vector<causal::EdgeInput>& edges) {
  std::stable_sort(sends.begin(), sends.end(), [](const Use& a, const Use& b) { return a.position < b.position; });
  for (size_t i = 1; i < sends.size(); ++i) {
    if (sends[i - 1].at.thread == sends[i].at.thread) continue;
    edges.push_back({sends[i - 1].at, sends[i].at, causal::EdgeKind::kHandOver});
  }
}

void append(std::vector<causal::Transfer>& list, const std::vector<Use>& uses, uint32_t channel) {
  for (const Use& use : uses) {
    list.push_back({*use.position, static_cast<uint32_t>(use.length), channel, use.at});
  }
}

}  // namespace

void Transfers::finish(causal::Execution& execution) && {
  for (auto& [id, ends] : channels_) {
    place(ends.sends);
    place(ends.receives);
    auto channel = static_cast<uint32_t>(execution.channels.size());
    execution.channels.push_back({id, ends.messages || has_gaps(ends.sends), true});
    if (!execution.channels.back().messages) add_order(ends.sends, execution.edges);
    append(execution.sends, ends.sends, channel);
    append(execution.receives, ends.receives, channel);
    ends = {};
  }
}

void TransferScan::take(const Item& item, uint64_t turn) {
  if (item.op == Op::kOffset) position_ = item.position;
  if (item.op == Op::kCorrect && sent_) {
    if (auto went = sent_by(item, sent_->length))
      sent_->length = *went;
    else
      sent_.reset();
  }
  if (!item.is_event()) return;
  settle();
  std::optional<uint64_t> position = std::exchange(position_, {});
  if (!item.is_call()) return;
  causal::Node at{index_, leaving(item.event)};
  if (item.shape == Shape::kSend) {
    sent_ = Use{at, turn, item.length, position};
    channel_ = item.channel;
  }
  bool message = item.shape == Shape::kMessage;
  if ((message || item.shape == Shape::kReceive) && (item.result > 0 || (item.result == 0 && position))) {
    transfers_.add_receive(item.channel, {at, turn, static_cast<uint64_t>(item.result), position},
                           message && position);
  }
}

void TransferScan::settle() {
  if (sent_ && (sent_->length > 0 || sent_->position)) transfers_.add_send(channel_, *sent_);
  sent_.reset();
}

}  // namespace pastcone::graph
