#include <algorithm>

#include "pastcone/causal/flat_columns.h"

namespace pastcone::causal {
namespace {

/// Each part is a sentence about the columns; the first that is not true is the error.
class Checker {
 public:
  explicit Checker(const Graph& graph) : graph_(graph) {}

  Status run() const {
    if (!threads()) return wrong("threads");
    if (!groups()) return wrong("groups");
    if (!edges()) return wrong("edges");
    if (!order()) return wrong("order");
    if (!sources()) return wrong("sources");
    if (!anchors(graph_.causal, false) || !anchors(graph_.enforced, true)) return wrong("anchors");
    if (!transfers(graph_.sends, graph_.first_send, true) ||
        !transfers(graph_.receives, graph_.first_receive, false)) {
      return wrong("messages");
    }
    if (!lanes(graph_.send_lanes, graph_.sends) || !lanes(graph_.receive_lanes, graph_.receives))
      return wrong("lanes");
    if (!by_thread(graph_.sends_by_thread, graph_.sends) ||
        !by_thread(graph_.receives_by_thread, graph_.receives)) {
      return wrong("messages by thread");
    }
    if (!ports()) return wrong("ports");
    return {};
  }

 private:
  static Status wrong(const char* what) { return fail("the graph is damaged: its {} make no sense", what); }

  bool real(Node node) const { return node.thread < graph_.real_threads; }
  bool there(Node node) const {
    return node.thread < graph_.threads.size() && node.event != 0 &&
           node.event <= graph_.threads[node.thread].events;
  }
  /// `count` + 1 rising places, from 0 to `last`.
  static bool starts(const Column<uint32_t>& first, size_t count, size_t last) {
    return first.size() == count + 1 && first[0] == 0 && first[count] == last &&
           std::ranges::is_sorted(first);
  }

  bool threads() const {
    uint64_t events = 0;
    size_t count = graph_.threads.size();
    if (graph_.real_threads > count || count >= (1u << 25)) return false;
    for (size_t i = 0; i < count; ++i) {
      const Thread& thread = graph_.threads[i];
      events += thread.events;
      if (thread.hub() != (i >= graph_.real_threads) || thread.creator.thread >= std::max<size_t>(count, 1))
        return false;
      if (i > 0 && i < graph_.real_threads &&
          graph_.thread_id(static_cast<uint32_t>(i - 1)) >= graph_.thread_id(static_cast<uint32_t>(i))) {
        return false;
      }
    }
    return events < kNone;
  }

  bool groups() const {
    if (graph_.groups.empty() || !starts(graph_.first_group, graph_.threads.size(), graph_.groups.size() - 1))
      return false;
    if (graph_.groups[0].first_edge != 0 ||
        graph_.groups[graph_.groups.size() - 1].first_edge != graph_.edges.size())
      return false;
    for (uint32_t thread = 0; thread < graph_.threads.size(); ++thread) {
      uint32_t event = 0, rank = 0;
      for (uint32_t i = graph_.first_group[thread]; i < graph_.first_group[thread + 1]; ++i) {
        const Group& group = graph_.groups[i];
        if (group.thread != thread || group.event <= event || group.event > graph_.threads[thread].events)
          return false;
        if (group.first_edge >= graph_.groups[i + 1].first_edge) return false;
        if (group.rank < uint64_t{rank} + (group.event - event)) return false;
        if (uint64_t{group.rank} + (graph_.threads[thread].events - group.event) >= kNone) return false;
        event = group.event;
        rank = group.rank;
      }
    }
    return true;
  }

  bool edges() const {
    if (graph_.kinds.size() != graph_.edges.size()) return false;
    for (uint32_t i = 0; i + 1 < graph_.groups.size(); ++i) {
      for (uint32_t edge = graph_.groups[i].first_edge; edge < graph_.groups[i + 1].first_edge; ++edge) {
        if (graph_.kinds[edge] >= kEdgeKinds || !edge_is_good(graph_.edges[edge], graph_.groups[i]))
          return false;
      }
    }
    return true;
  }

  bool edge_is_good(const Edge& edge, const Group& target) const {
    if (!there(edge.from) || edge.from.thread == target.thread) return false;
    uint32_t first = graph_.first_group[edge.from.thread], until = graph_.first_group[edge.from.thread + 1];
    uint32_t next = edge.from_group == kNone ? first : edge.from_group + 1;
    if (edge.from_group != kNone && (edge.from_group < first || edge.from_group >= until)) return false;
    if (edge.from_group != kNone && graph_.groups[edge.from_group].event > edge.from.event) return false;
    if (next < until && graph_.groups[next].event <= edge.from.event) return false;
    return graph_.rank(edge.from, edge.from_group) < target.rank;
  }

  bool order() const {
    if (graph_.order.size() + 1 != graph_.groups.size()) return false;
    std::vector<bool> seen(graph_.order.size(), false);
    uint32_t rank = 0;
    for (uint32_t group : graph_.order) {
      if (group >= seen.size() || seen[group] || graph_.groups[group].rank < rank) return false;
      seen[group] = true;
      rank = graph_.groups[group].rank;
    }
    return true;
  }

  bool sources() const {
    if (!starts(graph_.sources.first, graph_.threads.size(), graph_.sources.items.size())) return false;
    for (uint32_t thread = 0; thread < graph_.threads.size(); ++thread) {
      uint32_t last = 0;
      for (uint32_t event : graph_.sources.of(thread)) {
        if (event <= last || event > graph_.threads[thread].events) return false;
        last = event;
      }
    }
    return true;
  }

  bool anchors(const Anchors& anchors, bool optional) const {
    if (optional && anchors.first.empty()) return anchors.vectors.empty();
    size_t width = graph_.threads.size();
    if (anchors.spacing == 0 || anchors.first.size() != width + 1 || anchors.first[0] != 0) return false;
    for (uint32_t thread = 0; thread < width; ++thread) {
      uint32_t groups = graph_.first_group[thread + 1] - graph_.first_group[thread];
      if (anchors.first[thread + 1] != uint64_t{anchors.first[thread]} + groups / anchors.spacing)
        return false;
    }
    if (anchors.vectors.size() != anchors.first[width] * width) return false;
    for (size_t at = 0; at < anchors.vectors.size(); at += width) {
      bool good = true;
      for (size_t i = 0; i < width; ++i) good &= anchors.vectors[at + i] <= graph_.threads[i].events;
      if (!good) return false;
    }
    return true;
  }

  bool transfers(const Column<Transfer>& all, const Column<uint32_t>& first, bool sends) const {
    if (!starts(first, graph_.channels.size(), all.size())) return false;
    for (uint32_t channel = 0; channel < graph_.channels.size(); ++channel) {
      for (uint32_t i = first[channel]; i < first[channel + 1]; ++i) {
        const Transfer& each = all[i];
        if (each.channel != channel || !there(each.at) || !real(each.at) ||
            each.begin > UINT64_MAX - each.length)
          return false;
        if (i == first[channel]) continue;
        const Transfer& last = all[i - 1];
        if (sends ? each.begin == last.begin || each.begin < last.end() : each.begin < last.begin)
          return false;
      }
    }
    return true;
  }

  bool lanes(const Lanes& lanes, const Column<Transfer>& all) const {
    if (!starts(lanes.of_channel, graph_.channels.size(), lanes.lanes.size()) ||
        lanes.items.size() != all.size())
      return false;
    uint32_t place = 0;
    for (uint32_t channel = 0; channel < graph_.channels.size(); ++channel) {
      for (const Lane& lane : lanes.of(channel)) {
        if (lane.channel != channel || lane.first != place || lane.count == 0 ||
            lane.count > all.size() - place)
          return false;
        uint32_t event = 0;
        for (; place < lane.first + lane.count; ++place) {
          if (lanes.items[place] >= all.size()) return false;
          const Transfer& each = all[lanes.items[place]];
          if (each.channel != channel || each.at.thread != lane.thread || each.at.event < event) return false;
          event = each.at.event;
        }
      }
    }
    return place == all.size();
  }

  bool by_thread(const ByThread& list, const Column<Transfer>& all) const {
    if (!starts(list.first, graph_.threads.size(), list.items.size()) || list.items.size() != all.size())
      return false;
    for (uint32_t thread = 0; thread < graph_.threads.size(); ++thread) {
      uint32_t event = 0;
      for (uint32_t item : list.of(thread)) {
        if (item >= all.size() || all[item].at.thread != thread || all[item].at.event < event) return false;
        event = all[item].at.event;
      }
    }
    return true;
  }

  bool ports() const {
    return std::ranges::all_of(graph_.accesses,
                               [&](const AccessInput& access) {
                                 return real(access.at) && access.object < graph_.objects;
                               }) &&
           std::ranges::all_of(graph_.arrivals,
                               [&](const ArrivalInput& each) {
                                 return each.port < graph_.ports.size() && real(each.send);
                               }) &&
           std::ranges::all_of(graph_.takings, [&](const TakingInput& each) {
             return each.arrival < graph_.arrivals.size() && real(each.at);
           });
  }

  const Graph& graph_;
};

}  // namespace

Status check_graph(const Graph& graph) { return Checker(graph).run(); }

}  // namespace pastcone::causal
