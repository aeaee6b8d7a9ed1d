#include <algorithm>

#include "pastcone/causal/flat_lists.h"

namespace pastcone::causal {
namespace {

/// Each part is a sentence about the columns; the first that is not true is the error.
class Checker {
 public:
  Checker(const FlatLists& lists, const FlatCounts& counts)
      : lists_(lists), counts_(counts), real_threads_(counts.real_threads) {}

  Status run() const {
    if (!threads()) return wrong("threads");
    if (!groups()) return wrong("groups");
    if (!edges()) return wrong("edges");
    if (!messages(lists_.first_send, counts_.sends, lists_.send_lanes) ||
        !messages(lists_.first_receive, counts_.receives, lists_.receive_lanes))
      return wrong("messages");
    if (!ports()) return wrong("ports");
    if (!between()) return wrong("steps between events");
    return {};
  }

 private:
  static Status wrong(const char* what) { return fail("the graph is damaged: its {} make no sense", what); }

  bool real(Node node) const { return node.thread < real_threads_; }
  bool there(Node node) const {
    return node.thread < lists_.threads.size() && node.event != 0 &&
           node.event <= lists_.threads[node.thread].events;
  }

  bool threads() const {
    uint64_t events = 0;
    size_t count = lists_.threads.size();
    if (real_threads_ > count || count >= (1u << 25)) return false;
    auto id = [](const Thread& thread) { return std::pair(thread.process, thread.number); };
    for (size_t i = 0; i < count; ++i) {
      const Thread& thread = lists_.threads[i];
      events += thread.events;
      if (thread.hub() != (i >= real_threads_) || thread.creator.thread >= count) return false;
      if (i > 0 && i < real_threads_ && id(lists_.threads[i - 1]) >= id(thread)) return false;
    }
    return events < kNone;
  }

  static bool rises(const std::vector<uint32_t>& list, size_t end) {
    return std::ranges::is_sorted(list) && list.front() == 0 && list.back() == end;
  }

  bool groups() const {
    if (counts_.groups == 0 || !rises(lists_.first_group, counts_.groups - 1)) return false;
    for (size_t i = 0; i < lists_.threads.size(); ++i) {
      if (lists_.first_group[i + 1] - lists_.first_group[i] > lists_.threads[i].events) return false;
    }
    return true;
  }

  /// Where they come from is seen when they are unpacked.
  bool edges() const {
    auto real = std::span(lists_.threads).first(real_threads_);
    bool none = std::ranges::all_of(real, [](const Thread& thread) { return thread.events == 0; });
    if (none && (counts_.edges != 0 || counts_.sends != 0 || counts_.receives != 0)) return false;
    if (counts_.groups > 1 && counts_.edges == 0) return false;
    return counts_.edges < Link::kHandOver - lists_.threads.size();
  }

  bool messages(const std::vector<uint32_t>& first, uint32_t count, const FlatLists::Lanes& lanes) const {
    return rises(first, count) && rises(lanes.of_channel, lanes.lanes.size()) &&
           std::ranges::all_of(lanes.lanes, [&](const Lane& lane) {
             return lane.channel < lists_.channels.size() && lane.thread < real_threads_ &&
                    lane.first <= count && lane.count <= count - lane.first;
           });
  }

  bool ports() const {
    return std::ranges::all_of(lists_.accesses,
                               [&](const AccessInput& access) {
                                 return real(access.at) && access.object < counts_.objects;
                               }) &&
           std::ranges::all_of(lists_.arrivals,
                               [&](const ArrivalInput& each) {
                                 return each.port < lists_.ports.size() && real(each.send) &&
                                        real(each.until);
                               }) &&
           std::ranges::all_of(lists_.takings, [&](const TakingInput& each) {
             return each.arrival < lists_.arrivals.size() && real(each.at);
           });
  }

  bool between() const {
    const auto& [first, items] = lists_.between;
    if (first.front() != 0 || first.back() != items.size() || !std::ranges::is_sorted(first)) return false;
    for (uint32_t thread = 0; thread < lists_.threads.size(); ++thread) {
      for (uint32_t i = first[thread]; i < first[thread + 1]; ++i) {
        if (!there({thread, items[i]}) || lists_.since[i] > items[i]) return false;
        if (i == first[thread]) continue;
        if (items[i] <= items[i - 1] || lists_.points[i] <= lists_.points[i - 1]) return false;
      }
    }
    return true;
  }

  const FlatLists& lists_;
  const FlatCounts& counts_;
  uint32_t real_threads_;
};

}  // namespace

Status check_lists(const FlatLists& lists, const FlatCounts& counts) { return Checker(lists, counts).run(); }

}  // namespace pastcone::causal
