#include "pastcone/graph/transfers.h"

#include <sys/syscall.h>

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

bool opens_by_name(uint32_t call) {
  return call == SYS_open || call == SYS_openat || call == SYS_openat2 || call == SYS_creat;
}

/// Those that have no position follow each other: they are of one process, before others got the end too.
/// Who only looked at bytes has one all the same.
void place(std::vector<Use>& uses) {
  bool several = std::any_of(uses.begin(), uses.end(),
                             [&](const Use& use) { return use.at.thread != uses[0].at.thread; });
  if (several) {
    std::stable_sort(uses.begin(), uses.end(),
                     [](const Use& a, const Use& b) { return a.turn.order() < b.turn.order(); });
  }
  uint64_t next = 0;
  for (Use& use : uses) {
    if (use.position) continue;
    use.position = next;
    next += use.length;
  }
}

void sort_by_position(std::vector<Use>& uses) {
  std::stable_sort(uses.begin(), uses.end(),
                   [](const Use& a, const Use& b) { return a.position < b.position; });
}

/// Messages have an unused position before each. By position.
bool are_messages(const std::vector<Use>& sends) {
  uint64_t next = 0;
  for (const Use& use : sends) {
    if (*use.position == next) return false;
    next = *use.position + use.length;
  }
  return !sends.empty();
}

/// Replay puts bytes into a channel in the order of their positions. By position.
void add_order(const std::vector<Use>& sends, std::vector<causal::EdgeInput>& edges) {
  for (size_t i = 1; i < sends.size(); ++i) {
    if (sends[i - 1].at.thread == sends[i].at.thread) continue;
    edges.push_back({sends[i - 1].at, sends[i].at, causal::EdgeKind::kHandOver});
  }
}

/// Whether the receives can have come in this order, by position. Positions go by what was in a message, so
/// that equal ones may be exchanged; and two that got the same bytes (one looked, the other took) say
/// nothing.
bool came_in_order(const std::vector<Use>& receives) {
  std::map<uint32_t, uint32_t> steps;
  std::map<GroupId, uint64_t> turns;
  for (size_t i = 0; i < receives.size(); ++i) {
    const Use& use = receives[i];
    if (i > 0) {
      const Use& before = receives[i - 1];
      uint64_t until = *before.position + std::max<uint64_t>(before.length, 1);
      if (before.at.thread != use.at.thread && *use.position < until) return false;
    }
    if (use.at.event < std::exchange(steps[use.at.thread], use.at.event)) return false;
    if (use.turn.number == 0) continue;  // the others are of other groups, or come later
    if (use.turn.number < std::exchange(turns[use.turn.group], use.turn.number)) return false;
  }
  return true;
}

void append(std::vector<causal::Transfer>& list, const std::vector<Use>& uses, uint32_t channel) {
  for (const Use& use : uses) {
    list.push_back({*use.position, static_cast<uint32_t>(use.length), channel, use.at});
  }
}

}  // namespace

void Transfers::finish(causal::Execution& execution) && {
  for (auto& [id, ends] : channels_) {
    // A FIFO's bytes have their places before they are written, and keep them if they are not: others like
    // them may be taken for them. In which order those of several went through it nobody knows, nor in which
    // order readers got theirs: they wait without the turn.
    bool fifo = fifos_.contains(id);
    if (!fifo) {
      std::erase_if(ends.sends, [](const Use& send) { return !send.went; });
      for (Use& send : ends.sends) send.length = *send.went;
    }
    place(ends.sends);
    place(ends.receives);
    sort_by_position(ends.sends);
    sort_by_position(ends.receives);
    auto channel = static_cast<uint32_t>(execution.channels.size());
    bool messages = !fifo && are_messages(ends.sends);
    execution.channels.push_back({id, messages, true, !fifo && came_in_order(ends.receives)});
    if (!messages && !fifo) add_order(ends.sends, execution.edges);
    append(execution.sends, ends.sends, channel);
    append(execution.receives, ends.receives, channel);
    ends = {};
  }
}

void TransferScan::take(const Item& item, const TurnScan& turn) {
  if (item.op == Op::kOffset) position_ = item.position;
  if (item.op == Op::kCorrect && sent_ && !std::exchange(corrected_, true)) {
    sent_->went = sent_by(item, sent_->length);
  }
  if (!item.is_event()) return;
  settle();
  std::optional<uint64_t> position = std::exchange(position_, {});
  if (!item.is_call()) return;
  causal::Node at{index_, leaving(item.event)};
  if (item.shape == Shape::kSend) {
    sent_ = Use{at, turn.now(), item.length, position};
    channel_ = item.channel;
  }
  if ((item.shape == Shape::kMessage || item.shape == Shape::kReceive) &&
      (item.result > 0 || (item.result == 0 && position))) {
    transfers_.add_receive(item.channel, {at, turn.now(), static_cast<uint64_t>(item.result), position});
  }
  if (item.shape == Shape::kOpen && item.channel != 0 && opens_by_name(item.call)) {
    transfers_.add_named((item.channel - 1) / 2 * 2);  // whichever end it is, bytes go in direction 0
  }
}

void TransferScan::settle() {
  if (sent_ && (sent_->length > 0 || sent_->position)) transfers_.add_send(channel_, *sent_);
  sent_.reset();
  corrected_ = false;
}

}  // namespace pastcone::graph
