#include "pastcone/causal/race_vectors.h"

#include <algorithm>

#include "pastcone/causal/radix.h"
#include "pastcone/causal/sweep.h"

namespace pastcone::causal {
namespace {

constexpr Kinds kRaceKinds = kCausalKinds & ~kinds_of(EdgeKind::kEnd);

/// What is to be looked at in each thread, by event.
struct Agenda {
  std::vector<uint32_t> items, next, end;  ///< next and end: of each thread, places in items

  template <typename At>
  Agenda(uint32_t count, uint32_t threads, At at) : next(threads), end(threads) {
    items = sorted_places(count, [&](uint32_t i) { return uint64_t{at(i).thread} << 32 | at(i).event; });
    uint32_t place = 0;
    for (uint32_t thread = 0; thread < threads; ++thread) {
      next[thread] = place;
      while (place < count && at(items[place]).thread == thread) ++place;
      end[thread] = place;
    }
  }
};

class Collector : public SweepVisitor {
 public:
  Collector(const Graph& graph, const Contests& contests, RaceVectors& vectors)
      : graph_(graph),
        contests_(contests),
        vectors_(vectors),
        sends_(static_cast<uint32_t>(contests.messages.size()), graph.thread_count(),
               [&](uint32_t i) { return contests.messages[i].send; }),
        takings_(static_cast<uint32_t>(contests.takings.size()), graph.thread_count(),
                 [&](uint32_t i) { return contests.takings[i].at; }),
        free_(graph.thread_count(), 0),
        untaken_(contests.list.size()) {
    for (uint32_t place : sends_.items) {  // by thread and event, so the first of each thread comes first
      const ContestMessage& message = contests.messages[place];
      auto& list = untaken_[message.contest];
      if (message.taking == kNone && (list.empty() || list.back().thread != message.send.thread))
        list.push_back(message.send);
    }
  }

  void incoming(uint32_t group, const uint32_t* before, std::span<const Incoming>) override {
    const Group& here = graph_.groups[group];
    for (uint32_t i = takings_.next[here.thread]; i < takings_.end[here.thread]; ++i) {
      const ContestTaking& taking = contests_.takings[takings_.items[i]];
      if (taking.at.event != here.event) break;
      fill(vectors_.before, takings_.items[i], before, {here.thread, here.event - 1});
    }
  }

  void epoch(uint32_t thread, uint32_t group, const uint32_t* row) override {
    uint32_t next = group == kNone ? graph_.first_group[thread] : group + 1;
    uint32_t until = next < graph_.first_group[thread + 1] ? graph_.groups[next].event : UINT32_MAX;
    uint32_t from = group == kNone ? 0 : graph_.groups[group].event;
    for (uint32_t& i = sends_.next[thread]; i < sends_.end[thread]; ++i) {
      if (contests_.messages[sends_.items[i]].send.event >= until) break;
      add_send(sends_.items[i], row);
    }
    for (uint32_t& i = takings_.next[thread]; i < takings_.end[thread]; ++i) {
      const ContestTaking& taking = contests_.takings[takings_.items[i]];
      if (taking.at.event >= until) break;
      fill(vectors_.after, takings_.items[i], row, taking.at);
      if (taking.at.event != from)
        fill(vectors_.before, takings_.items[i], row, {thread, taking.at.event - 1});
    }
    // What comes next in this thread is looked at when all others have had their turn.
    if (sends_.next[thread] < sends_.end[thread])
      __builtin_prefetch(&contests_.messages[sends_.items[sends_.next[thread]]]);
    if (takings_.next[thread] < takings_.end[thread])
      __builtin_prefetch(&contests_.takings[takings_.items[takings_.next[thread]]]);
  }

 private:
  static uint32_t at(const uint32_t* row, Node self, uint32_t thread) {
    return thread == self.thread ? self.event : row != nullptr ? row[thread] : 0;
  }

  void fill(std::vector<uint32_t>& rows, uint32_t taking, const uint32_t* row, Node self) {
    uint32_t number = contests_.messages[contests_.takings[taking].message].contest;
    const Contest& contest = contests_.list[number];
    size_t width = contest.receivers.size();
    if (width < 2) return;
    uint32_t* to = vectors_.row(rows, vectors_.taking_row[number], taking - contest.first_taking, width);
    for (size_t i = 0; i < width; ++i) to[i] = at(row, self, contest.receivers[i]);
  }

  void add_send(uint32_t place, const uint32_t* row) {
    const ContestMessage& message = contests_.messages[place];
    const Contest& contest = contests_.list[message.contest];
    size_t width = contest.receivers.size();
    uint32_t index = place - contest.first_message;
    uint32_t* to = vectors_.row(vectors_.sent, vectors_.sent_row[message.contest], index, width);
    for (size_t i = 0; i < width; ++i) to[i] = at(row, message.send, contest.receivers[i]);
    if (!contest.queue) return;
    if (message.taking == kNone) vectors_.blocked[place] = is_blocked(message, row);
    if (width == 0) return;
    if (width == 1) {
      look_back(contest, place, row, *to);
      return;
    }
    width = contest.senders.size();
    to = vectors_.row(vectors_.senders, vectors_.sender_row[message.contest], index, width);
    for (size_t i = 0; i < width; ++i) to[i] = at(row, message.send, contest.senders[i]);
  }

  bool is_blocked(const ContestMessage& message, const uint32_t* row) const {
    return std::ranges::any_of(untaken_[message.contest], [&](Node first) {
      return at(row, {message.send.thread, message.send.event - 1}, first.thread) >= first.event;
    });
  }

  /// Back from the message's own place to the first one that was sent before it; and on until it could go
  /// past all that were: at a receive when the next one of each of their senders is traced, and so kept for
  /// another. The sender's last message always stops it, so it is not far.
  void look_back(const Contest& contest, uint32_t message, const uint32_t* row, uint32_t known) {
    const ContestMessage& own = contests_.messages[message];
    uint32_t place = own.taking == kNone ? contest.first_taking + contest.takings : own.taking;
    uint32_t& before = vectors_.queue_before[message];
    uint32_t in_the_way = 0;  // senders of which the next is free to be taken
    for (before = contest.first_taking; place > contest.first_taking; --place) {
      const ContestTaking& taking = contests_.takings[place - 1];
      const ContestMessage& other = contests_.messages[taking.message];
      bool last = taking.at.event <= known || other.lane == own.lane;
      bool earlier = at(row, {own.send.thread, own.send.event - 1}, other.send.thread) >= other.send.event;
      if (last || earlier) before = std::max(before, place);
      if (last) return;
      if (earlier) in_the_way = in_the_way - is_free(other.send.thread, message) + set_free(other, message);
      if (in_the_way == 0) vectors_.traced[message] = 1;
      if (vectors_.traced[message] != 0 && before > contest.first_taking) return;
    }
  }

  bool is_free(uint32_t sender, uint32_t message) const { return free_[sender] == uint64_t{message} + 1; }
  bool set_free(const ContestMessage& next, uint32_t message) {
    bool free = vectors_.traced[&next - contests_.messages.data()] == 0;
    free_[next.send.thread] = free ? uint64_t{message} + 1 : 0;
    return free;
  }

  const Graph& graph_;
  const Contests& contests_;
  RaceVectors& vectors_;
  Agenda sends_, takings_;
  std::vector<uint64_t>
      free_;  ///< of each sender: the message, plus one, for which look_back found its next to be free
  std::vector<std::vector<Node>>
      untaken_;  ///< of each contest: the first one of each sender that nobody took
};

}  // namespace

RaceVectors race_vectors(const Graph& graph, const Contests& contests) {
  RaceVectors vectors;
  size_t sent = 0, takings = 0, senders = 0;
  for (const Contest& contest : contests.list) {
    vectors.sent_row.push_back(sent);
    vectors.taking_row.push_back(takings);
    vectors.sender_row.push_back(senders);
    sent += contest.messages * contest.receivers.size();
    if (contest.receivers.size() < 2) continue;
    takings += contest.takings * contest.receivers.size();
    if (contest.queue) senders += contest.messages * contest.senders.size();
  }
  vectors.sent.resize(sent + 1);  // one more, so that an empty row has an address
  vectors.before.resize(takings + 1);
  vectors.after.resize(takings + 1);
  vectors.senders.resize(senders + 1);
  vectors.queue_before.resize(contests.messages.size());
  vectors.blocked.resize(contests.messages.size());
  vectors.traced.resize(contests.messages.size());
  if (contests.messages.empty()) return vectors;

  Collector collector(graph, contests, vectors);
  bool ends = std::ranges::find(graph.kinds, static_cast<uint8_t>(EdgeKind::kEnd)) != graph.kinds.end();
  if (ends) {
    make_anchors(graph, kRaceKinds, graph.causal.spacing, kVectorBytes, &collector);
  } else {
    sweep(graph, graph.causal, collector);
  }
  return vectors;
}

}  // namespace pastcone::causal
