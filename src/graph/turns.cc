#include "pastcone/graph/turns.h"

#include <algorithm>
#include <utility>

namespace pastcone::graph {

using format::Op;

void Images::start(ThreadId thread, ThreadId creator, uint64_t creator_event) {
  lives_[thread] = {creator, creator_event, {}};
}

void Images::execute(ThreadId thread, uint64_t event) {
  lives_[thread].executed.push_back({event, ++last_[thread.process()]});
}

uint32_t Images::of(ThreadId thread, uint64_t event, uint64_t group) const {
  for (size_t depth = 0; depth <= lives_.size(); ++depth) {  // a recording that is not ours may have circles
    auto found = lives_.find(thread);
    if (found == lives_.end()) return 0;
    const Life& life = found->second;
    if (group == thread.process().number()) {
      auto later = std::find_if(life.executed.begin(), life.executed.end(),
                                [&](const auto& e) { return e.first > event; });
      if (later != life.executed.begin()) return std::prev(later)->second;
      if (life.creator.process() != thread.process()) return 0;
    }
    thread = life.creator;
    event = life.creator_event;
  }
  return 0;
}

void TurnScan::note_event(const Item& item) {
  event_ = item.event;
  gave_up_ = false;
  ended_ = item.op == Op::kThreadExit || item.op == Op::kExitGroup || item.op == Op::kFatal ||
           item.op == Op::kStop;
  if (item.op == Op::kStart) images_.start(thread_, item.thread, item.parent_event);
}

void TurnScan::number(const Item& item, Turns& turns) {
  if (item.number != 0 && (item.op == Op::kTurn || item.op == Op::kTurnAfter)) {
    group_ = {item.object, images_.of(thread_, event_, item.object)};
    numbered_ = true;
    (item.op == Op::kTurn ? next_number_ : number_) = item.number;
    if (item.op == Op::kTurnAfter) turns.add_event(group_, {item.number, {index_, leaving(event_)}, true});
  }
  if (!item.is_event()) return;
  note_event(item);
  uint32_t own = thread_.process().number();
  if (item.op == Op::kStart) numbered_ = thread_.number() > 1;
  if (item.op == Op::kExec) {
    images_.execute(thread_, event_);
    numbered_ = false;
    number_ = 0;
  }
  bool creates = item.is_call() && item.shape == format::Shape::kCreate && item.thread.number() > 1 &&
                 item.thread.process().number() == own;
  if (creates && !numbered_) {
    numbered_ = true;
    next_number_ = 1;
    group_ = {own, images_.of(thread_, event_, own)};
  }
  uint64_t next = std::exchange(next_number_, 0);
  if (next == 0 && (!numbered_ || !item.is_call())) return;
  number_ = next != 0 ? next : number_ + 1;
  turns.add_event(group_, {number_, {index_, leaving(event_)}, false});
}

void TurnScan::take(const Item& item, Turns& turns) {
  if (parallel_) return number(item, turns);
  if (item.op == Op::kTurn) return get(item, entering(event_ + 1), turns);
  if (item.op == Op::kTurnAfter) return get(item, leaving(event_), turns);
  if (!item.is_event()) return;
  note_event(item);
  if (item.op != Op::kExec) return;
  give_up(entering(event_), turns);
  images_.execute(thread_, event_);
  alone_ = true;
}

Turn TurnScan::now() const {
  uint32_t own = thread_.process().number(), image = images_.of(thread_, event_, own);
  if (parallel_ && numbered_) return {group_, number_, own, image};
  if (!holding_) return {{own, image}, 0, own, image};
  return {group_, holding_->number, own, image};
}

/// It has given up the turn it had by `step`, and goes on from there with another.
void TurnScan::get(const Item& item, uint32_t step, Turns& turns) {
  gave_up_ = item.number == 0;
  if (gave_up_) return;  // it may have it again at once, and then nothing more is said
  GroupId group{item.object, images_.of(thread_, event_, item.object)};
  uint32_t own = thread_.process().number();
  // Also if it goes on in another group: those who have joined its own wait for this one.
  if (std::exchange(alone_, false)) turns.add({own, images_.of(thread_, event_, own)}, {1, {index_, 1}, step});
  if (holding_) holding_->last = group != group_;
  give_up(step, turns);
  group_ = group;
  holding_ = Holding{item.number, {index_, step + 1}, 0};
}

void TurnScan::give_up(uint32_t step, Turns& turns) {
  if (!holding_) return;
  holding_->until = step;
  turns.add(group_, *holding_);
  holding_.reset();
}

/// One that was cut off has given it up on its way into what it never finished.
void TurnScan::finish(Turns& turns) {
  uint32_t until = gave_up_ ? leaving(event_) : last(), own = thread_.process().number();
  if (alone_) turns.add({own, images_.of(thread_, event_, own)}, {1, {index_, 1}, until});
  give_up(until, turns);
}

std::vector<causal::EdgeInput> Turns::hand_overs() && {
  std::vector<causal::EdgeInput> edges;
  for (auto& [id, holdings] : groups_) {
    std::sort(holdings.begin(), holdings.end(),
              [](const Holding& a, const Holding& b) { return a.number < b.number; });
    // The next one waits for whoever did something with the turn last, and for those who only had it since.
    size_t first = 0;
    for (size_t i = 1; i < holdings.size(); ++i) {
      if (holdings[i].passes()) continue;
      for (size_t k = first; k < i; ++k) {
        const Holding &before = holdings[k], &next = holdings[i];
        if (before.from.thread == next.from.thread) continue;
        edges.push_back({{before.from.thread, before.until},
                         next.from,
                         causal::EdgeKind::kHandOver,
                         static_cast<uint32_t>(id.group)});
      }
      first = i;
    }
    holdings = {};
  }
  return edges;
}

std::vector<std::pair<Numbered, Numbered>> Turns::in_order(const HasPlace& has_place) && {
  std::vector<std::pair<Numbered, Numbered>> edges;
  for (auto& [id, events] : numbered_) {
    std::erase_if(events, [&](const Numbered& each) { return each.behind && !has_place(each); });
    std::ranges::sort(events);
    for (size_t i = 1; i < events.size(); ++i) {
      if (events[i - 1].leaving.thread != events[i].leaving.thread)
        edges.emplace_back(events[i - 1], events[i]);
    }
    events = {};
  }
  return edges;
}

}  // namespace pastcone::graph
