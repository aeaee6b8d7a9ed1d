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
/// All edges, those that are only implied too.
Status add_edges(const Execution& execution, const Graph& graph, EdgeList& list);
/// Fills in edges, groups with their ranks, and chains.
Status add_index(std::vector<RawEdge> raw, Graph& graph, const BuildOptions& options);
/// Fills in groups with their ranks, and chains.
Status add_ranks(std::vector<Group> groups, Graph& graph, const BuildOptions& options);

// What follows from a graph.
std::vector<uint32_t> by_rank(std::span<const Group> groups);
ByThread causal_sources(const Graph& graph);
ByThread by_thread(std::span<const Transfer> transfers, const Column<Thread>& threads);
Chains make_chains(const Graph& graph);

}  // namespace pastcone::causal
