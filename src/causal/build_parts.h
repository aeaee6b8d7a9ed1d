// The steps of build(), each in a file of its own. Not for others.
#pragma once

#include <vector>

#include "pastcone/causal/build.h"

namespace pastcone::causal {

struct RawEdge {
  Node from, to;
  uint32_t label;
  EdgeKind kind;
};

/// Edges on their way: those of kinds that are wanted and with both ends in the recording.
class EdgeList {
 public:
  EdgeList(const Column<Thread>& threads, Kinds kinds) : threads_(threads), kinds_(kinds) {}

  void add(Node from, Node to, EdgeKind kind, uint32_t label) {
    if ((kinds_ & kinds_of(kind)) == 0 || from.thread == to.thread) return;
    if (!there(from) || !there(to)) {
      ++lost_;
      return;
    }
    edges_.push_back({from, to, label, kind});
  }

  void reserve(size_t count) { edges_.reserve(count); }
  std::vector<RawEdge> take() { return std::move(edges_); }
  uint32_t lost() const { return lost_; }

 private:
  bool there(Node node) const { return node.event != 0 && node.event <= threads_[node.thread].events; }

  const Column<Thread>& threads_;
  Kinds kinds_;
  std::vector<RawEdge> edges_;
  uint32_t lost_ = 0;
};

/// Fills in threads and hubs.
Status add_threads(const Execution& execution, Graph& graph);
/// Fills in channels, sends, receives and their lists.
Status add_transfers(Execution& execution, Graph& graph);
/// Fills in the lists of sends and receives by channel and thread, which follow from these.
Status index_transfers(Graph& graph);
/// All edges, those that are only implied too.
Status add_edges(const Execution& execution, const Graph& graph, EdgeList& list);
/// Fills in edges and sources, and groups with their ranks.
Status add_index(std::vector<RawEdge> raw, Graph& graph, const BuildOptions& options);
/// What follows from groups and edges that are in order: the same, when there are first_group and kinds.
Status index_edges(std::vector<Group> groups, std::vector<Edge> edges, Graph& graph);
/// Fills in groups with their ranks, and the orders that follow: by rank, and of stops.
Status add_ranks(std::vector<Group> groups, Graph& graph, const BuildOptions& options);

}  // namespace pastcone::causal
