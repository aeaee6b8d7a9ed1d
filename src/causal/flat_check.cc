#include <algorithm>

#include "pastcone/causal/flat_lists.h"

namespace pastcone::causal {
namespace {

/// Each part is a sentence about the columns; the first that is not true is the error.
class Checker {
 public:
  Checker(const FlatLists& lists, uint32_t real_threads, uint32_t objects)
      : lists_(lists), real_threads_(real_threads), objects_(objects) {}

  Status run() const {
    if (!threads()) return wrong("threads");
    if (!groups()) return wrong("groups");
    if (!edges()) return wrong("edges");
    if (!vectors(lists_.causal.vectors) || !vectors(lists_.enforced.vectors)) return wrong("anchors");
    if (!transfers(lists_.sends) || !transfers(lists_.receives)) return wrong("messages");
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

  /// Which groups are of which thread has been seen already.
  bool groups() const {
    const auto& groups = lists_.groups;
    if (groups.front().first_edge != 0 || groups.back().first_edge != lists_.edges.size()) return false;
    for (uint32_t thread = 0; thread < lists_.threads.size(); ++thread) {
      uint32_t event = 0;
      for (uint32_t i = lists_.first_group[thread]; i < lists_.first_group[thread + 1]; ++i) {
        if (groups[i].event <= event || groups[i].event > lists_.threads[thread].events) return false;
        if (groups[i].first_edge >= groups[i + 1].first_edge) return false;
        event = groups[i].event;
      }
    }
    return true;
  }

  bool edges() const {
    if (lists_.edges.size() >= Link::kHandOver - lists_.threads.size()) return false;
    uint32_t edge = 0;
    for (uint32_t thread = 0; thread < lists_.threads.size(); ++thread) {
      for (uint32_t end = lists_.groups[lists_.first_group[thread + 1]].first_edge; edge < end; ++edge) {
        Node from = lists_.edges[edge].from;
        if (lists_.kinds[edge] >= kEdgeKinds || !there(from) || from.thread == thread) return false;
      }
    }
    return true;
  }

  bool vectors(const std::vector<uint32_t>& vectors) const {
    size_t width = lists_.threads.size();
    for (size_t at = 0; at < vectors.size(); at += width) {
      bool good = true;
      for (size_t i = 0; i < width; ++i) good &= vectors[at + i] <= lists_.threads[i].events;
      if (!good) return false;
    }
    return true;
  }

  /// By channel and position. That no position was sent twice is seen when they are put together.
  bool transfers(const std::vector<Transfer>& all) const {
    for (size_t i = 0; i < all.size(); ++i) {
      const Transfer& each = all[i];
      if (each.channel >= lists_.channels.size() || !there(each.at) || !real(each.at) ||
          each.begin > UINT64_MAX - each.length)
        return false;
      if (i > 0 && std::pair(each.channel, each.begin) < std::pair(all[i - 1].channel, all[i - 1].begin))
        return false;
    }
    return true;
  }

  bool ports() const {
    return std::ranges::all_of(
               lists_.accesses,
               [&](const AccessInput& access) { return real(access.at) && access.object < objects_; }) &&
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
  uint32_t real_threads_, objects_;
};

}  // namespace

Status check_lists(const FlatLists& lists, uint32_t real_threads, uint32_t objects) {
  return Checker(lists, real_threads, objects).run();
}

}  // namespace pastcone::causal
