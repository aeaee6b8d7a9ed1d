// Random executions, and what is true of them: a small machine runs threads that fork, send, lock and meet,
// and writes down both what a recording would hold and, at every event, all that came before it. The second
// shares no code with the graph.
#pragma once

#include <bitset>
#include <random>
#include <vector>

#include "pastcone/causal/model.h"

namespace pastcone::causal_testing {

using causal::EdgeKind;
using causal::Execution;
using causal::Kinds;
using causal::Node;

inline constexpr size_t kMaxNodes = 512;
using NodeSet = std::bitset<kMaxNodes>;

struct TrueEdge {
  Node from, to;
  EdgeKind kind;
};

struct TrueSend {
  Node at;
  uint64_t begin;
  uint32_t length;
  std::vector<Node> takers;  ///< of each byte (of a message: of all of it); event 0: nobody
};

struct Truth {
  std::vector<Node> nodes;  ///< in the order in which they happened
  std::vector<TrueEdge> edges;
  std::vector<std::vector<TrueSend>> sends;  ///< of each channel

  size_t place(Node node) const;
  bool has(Node node) const { return node.event <= events.at(node.thread); }
  /// All that came before each node, and itself, by edges of these kinds.
  std::vector<NodeSet> pasts(Kinds kinds) const;

  std::vector<uint32_t> events;             ///< of each thread, in the recording
  std::vector<std::vector<size_t>> places;  ///< of each thread's events
};

struct RandomExecution {
  Execution input;
  Truth truth;
};

struct RandomOptions {
  uint32_t threads = 6, steps = 40;
  bool cut_off = false;  ///< some streams end too early
};

RandomExecution random_execution(std::mt19937& random, const RandomOptions& options);

}  // namespace pastcone::causal_testing
