#include "pastcone/causal/races.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "pastcone/causal/race_vectors.h"
#include "pastcone/causal/radix.h"
#include "pastcone/causal/vectors.h"

namespace pastcone::causal {
namespace {

/// The first of [first, last) for which `before` is false; it is true up to there. Looks from `near` on in
/// growing steps, as most are near.
template <typename Before>
uint32_t search_near(uint32_t first, uint32_t last, uint32_t near, Before before) {
  uint64_t step = 1;
  if (near < last && before(near)) {
    for (first = near + 1; near + step < last && before(static_cast<uint32_t>(near + step)); step *= 2)
      first = static_cast<uint32_t>(near + step) + 1;
    last = static_cast<uint32_t>(std::min<uint64_t>(last, near + step));
  } else {
    uint32_t lowest = first;
    for (last = near; near - lowest >= step && !before(static_cast<uint32_t>(near - step)); step *= 2)
      last = static_cast<uint32_t>(near - step);
    if (near - lowest >= step) first = static_cast<uint32_t>(near - step) + 1;
  }
  while (first < last) {
    uint32_t middle = first + (last - first) / 2;
    if (before(middle)) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return first;
}

}  // namespace

/// Finds, message by message, the receives that could have taken it: of each run, receives of one thread that
/// take the same tags, an interval.
class RaceFinder {
 public:
  RaceFinder(Races& races, const RaceVectors& vectors)
      : races_(races), contests_(races.contests_), vectors_(vectors), list_(races.list_) {}

  void run() {
    make_runs();
    for (uint32_t number = 0; number < contests_.list.size(); ++number) one_contest(number);
    count_rivals();
    find_traced();
  }

 private:
  struct Run {
    uint32_t contest, receiver, tag;  ///< receiver: its place in Contest::receivers
    uint32_t first, last;             ///< of list_
    uint32_t near;                    ///< where an interval began last: messages of a lane go forward
  };

  /// Where the earlier messages of a lane went.
  struct Gone {
    bool all = true;              ///< none is left
    uint32_t before = 0;          ///< one receiver: the first taking behind all theirs
    std::vector<uint32_t> known;  ///< several: what their receives know of each receiver
  };

  uint32_t receiver_of(const Contest& contest, uint32_t taking) const {
    return place_in(contest.receivers, contests_.takings[taking].at.thread);
  }

  void make_runs() {
    for (uint32_t i = 0; i < contests_.takings.size(); ++i) {
      if (contests_.takings[i].any_lane) list_.push_back(i);
    }
    auto key = [&](uint32_t place) {
      const ContestTaking& taking = contests_.takings[place];
      return std::tuple(contests_.messages[taking.message].contest, taking.at.thread, taking.tag);
    };
    if (!std::ranges::is_sorted(list_, {}, key)) std::ranges::stable_sort(list_, {}, key);
    races_.listed_.assign(contests_.takings.size(), kNone);
    for (uint32_t i = 0; i < list_.size(); ++i) {
      races_.listed_[list_[i]] = i;
      if (i == 0 || key(list_[i]) != key(list_[i - 1])) {
        auto [contest, thread, tag] = key(list_[i]);
        runs_.push_back({contest, place_in(contests_.list[contest].receivers, thread), tag, i, i, i});
      }
      ++runs_.back().last;
    }
  }

  void one_contest(uint32_t number) {
    const Contest& contest = contests_.list[number];
    auto same = std::ranges::equal_range(runs_, number, {}, &Run::contest);
    if (same.empty()) return;
    bool tags = std::ranges::any_of(same, [](const Run& run) { return run.tag != kNone; });
    if (contest.queue && contest.receivers.size() > 1) find_queue_known(number);
    std::vector<uint32_t> order(contest.messages);
    std::iota(order.begin(), order.end(), contest.first_message);
    std::ranges::stable_sort(order, {}, [&](uint32_t message) { return contests_.messages[message].lane; });
    Gone any;
    std::map<uint32_t, Gone> tagged;
    for (size_t i = 0; i < order.size(); ++i) {
      const ContestMessage& message = contests_.messages[order[i]];
      if (i == 0 || contests_.messages[order[i - 1]].lane != message.lane) {
        any = {};
        tagged.clear();
      }
      if (vectors_.blocked[order[i]] == 0) {
        for (Run& run : same) {
          if (run.tag == kNone || run.tag == message.tag)
            consider(number, order[i], run, run.tag == kNone ? any : tagged[run.tag]);
        }
      }
      went(contest, number, message, any);
      if (tags) went(contest, number, message, tagged[message.tag]);
    }
  }

  void went(const Contest& contest, uint32_t number, const ContestMessage& message, Gone& gone) const {
    if (message.taking == kNone) {
      gone.all = false;
    } else if (contest.receivers.size() == 1) {
      gone.before = std::max(gone.before, message.taking + 1);
    } else {
      gone.known.resize(contest.receivers.size());
      join(gone.known.data(), after(contest, number, message.taking), gone.known.size());
    }
  }

  const uint32_t* after(const Contest& contest, uint32_t number, uint32_t taking) const {
    return &vectors_.after[vectors_.taking_row[number] +
                           (taking - contest.first_taking) * contest.receivers.size()];
  }

  /// For queues of several receivers: what the receives of all that was sent before each message know of the
  /// receivers. Of one sender's messages each knows as much as those before it, so nothing is looked at
  /// twice.
  void find_queue_known(uint32_t number) {
    const Contest& contest = contests_.list[number];
    size_t width = contest.receivers.size(), senders = contest.senders.size();
    auto message = [&](uint32_t index) -> const ContestMessage& {
      return contests_.messages[contest.first_message + index];
    };
    std::vector<uint32_t> by_sender = sorted_places(contest.messages, [&](uint32_t index) {
      return uint64_t{message(index).send.thread} << 32 | message(index).send.event;
    });
    std::vector<uint32_t> events(contest.messages), begin(senders), end(senders);
    std::vector<uint32_t> prefix(contest.messages * width);  // of each sender's messages up to each
    uint32_t sender = kNone;
    for (uint32_t i = 0; i < contest.messages; ++i) {
      const ContestMessage& each = message(by_sender[i]);
      if (sender == kNone || contest.senders[sender] != each.send.thread) begin[++sender] = i;
      end[sender] = i + 1;
      events[i] = each.send.event;
      if (i > begin[sender]) join(&prefix[i * width], &prefix[(i - 1) * width], width);
      if (each.taking != kNone) join(&prefix[i * width], after(contest, number, each.taking), width);
    }
    queue_known_.assign(contest.messages * width, 0);
    std::vector<uint32_t> next, row;
    for (uint32_t i = 0; i < contest.messages; ++i) {
      const uint32_t* known = &vectors_.senders[vectors_.sender_row[number] + by_sender[i] * senders];
      uint32_t thread = message(by_sender[i]).send.thread;
      if (i == 0 || message(by_sender[i - 1]).send.thread != thread) {
        next = begin;
        row.assign(width, 0);
      }
      for (size_t other = 0; other < senders; ++other) {
        uint32_t until = contest.senders[other] == thread ? known[other] - 1 : known[other];
        uint32_t& at = next[other];
        if (at == end[other] || events[at] > until) continue;
        do ++at;
        while (at < end[other] && events[at] <= until);
        join(row.data(), &prefix[(at - 1) * width], width);
      }
      std::ranges::copy(row, &queue_known_[by_sender[i] * width]);
    }
  }

  void consider(uint32_t number, uint32_t place, Run& run, const Gone& gone) {
    if (!gone.all) return;
    const Contest& contest = contests_.list[number];
    const ContestMessage& message = contests_.messages[place];
    size_t width = contest.receivers.size();
    uint32_t known =
        vectors_.sent[vectors_.sent_row[number] + (place - contest.first_message) * width + run.receiver];
    uint32_t from = 0;  // places in Contests::takings, where there is one receiver
    if (width == 1) {
      from = std::max(gone.before, contest.queue ? vectors_.queue_before[place] : 0);
    } else {
      if (!gone.known.empty()) known = std::max(known, gone.known[run.receiver]);
      if (contest.queue)
        known = std::max(known, queue_known_[(place - contest.first_message) * width + run.receiver]);
    }
    uint32_t first = search_near(run.first, run.last, run.near, [&](uint32_t i) {
      return list_[i] < from || contests_.takings[list_[i]].at.event <= known;
    });
    uint32_t last = search_near(first, run.last, first, [&](uint32_t i) {
      return could_precede(contest, number, message, list_[i]);
    });
    run.near = first;
    if (first < last) races_.intervals_.push_back({number, place, first, last});
  }

  /// Whether a receive can happen before the message's own, and while it could be taken.
  bool could_precede(const Contest& contest, uint32_t number, const ContestMessage& message,
                     uint32_t taking) const {
    Node other = contests_.takings[taking].at;
    if (message.until.event != 0 && message.until.thread == other.thread &&
        message.until.event <= other.event)
      return false;
    if (message.taking == kNone) return true;
    Node own = contests_.takings[message.taking].at;
    if (own.thread == other.thread) return contest.set ? other.event < own.event : taking < message.taking;
    size_t width = contest.receivers.size();
    size_t row = vectors_.taking_row[number] + (taking - contest.first_taking) * width;
    return vectors_.before[row + receiver_of(contest, message.taking)] < own.event;
  }

  void count_rivals() {
    std::vector<uint32_t> change(list_.size() + 1, 0);  // modulo 2³², as it goes up and down
    for (const auto& interval : races_.intervals_) {
      ++change[interval.first];
      --change[interval.last];
    }
    std::vector<uint32_t> rivals(contests_.takings.size(), 0);
    uint32_t count = 0;
    for (uint32_t i = 0; i < list_.size(); ++i) {
      count += change[i];
      rivals[list_[i]] = count;
    }
    for (uint32_t taking = 0; taking < rivals.size(); ++taking) {
      if (rivals[taking] > 0)
        races_.receives_.push_back({contests_.takings[taking].at, taking, rivals[taking]});
    }
  }

  void find_traced() {
    std::vector<uint8_t> traced = vectors_.traced;
    for (const auto& interval : races_.intervals_) traced[interval.message] = 1;
    for (uint32_t place = 0; place < traced.size(); ++place) {
      if (traced[place] == 0) continue;
      const ContestMessage& message = contests_.messages[place];
      Node receive = message.taking == kNone ? Node{} : contests_.takings[message.taking].at;
      races_.traced_.push_back({receive, message.send});
    }
    std::ranges::sort(races_.traced_);
    auto same = std::ranges::unique(races_.traced_);
    races_.traced_.erase(same.begin(), same.end());
  }

  Races& races_;
  const Contests& contests_;
  const RaceVectors& vectors_;
  std::vector<uint32_t>& list_;
  std::vector<Run> runs_;              ///< by contest
  std::vector<uint32_t> queue_known_;  ///< of one contest: rows of messages
};

Races Races::find(const Graph& graph) {
  Races races;
  races.contests_ = find_contests(graph);
  RaceFinder(races, race_vectors(graph, races.contests_)).run();
  return races;
}

std::vector<uint32_t> Races::rivals(const RacyReceive& receive) const {
  const RacyReceive* one = &receive;
  return std::move(rivals(std::span(&one, 1)).front());
}

std::vector<std::vector<uint32_t>> Races::rivals(std::span<const RacyReceive* const> receives) const {
  using Place = std::pair<uint32_t, size_t>;  // in list_, of which of them
  std::vector<Place> places;
  for (size_t i = 0; i < receives.size(); ++i) places.emplace_back(listed_[receives[i]->taking], i);
  std::ranges::sort(places);
  std::vector<std::vector<uint32_t>> messages(receives.size());
  for (const Interval& interval : intervals_) {
    auto place = std::ranges::lower_bound(places, interval.first, {}, &Place::first);
    for (; place != places.end() && place->first < interval.last; ++place)
      messages[place->second].push_back(interval.message);
  }
  for (auto& each : messages) std::ranges::sort(each);
  return messages;
}

std::vector<TraceRecord> by_sender(std::vector<TraceRecord> records) {
  std::ranges::sort(records, {},
                    [](const TraceRecord& record) { return std::tuple(record.send, record.receive); });
  return records;
}

}  // namespace pastcone::causal
