// Small programs of sends and receives, one run of each, and by trying every schedule, what could have
// happened instead.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "pastcone/causal/races.h"

namespace pastcone::causal_testing {

using causal::Execution;
using causal::Node;

struct ProgramOptions {
  bool queue = false;      ///< what is sent first arrives first, whoever sent it
  uint32_t receivers = 1;  ///< threads that receive at the contested place
  bool tags = false;
  bool port = false;  ///< the contested place is a port and not a channel
};

/// Threads of straight code. Messages go to the contested place, or directly from one thread to another.
class MessageProgram {
 public:
  MessageProgram(std::mt19937& random, const ProgramOptions& options);

  /// What a recording of the run holds: event n is operation n - 1.
  Execution execution() const;

  /// Contested receives of the run, with the send that each took.
  const std::map<Node, Node>& taken() const { return taken_; }
  /// Events of the run in order; direct receives have their sends in direct().
  const std::vector<Node>& order() const { return order_; }
  const std::map<Node, Node>& direct() const { return direct_; }
  bool is_send(Node node) const { return op(node).kind == Op::kSend || op(node).kind == Op::kDirectSend; }

  /// Sends whose message a receive could have found instead of its own, everything before having gone as in
  /// the run.
  std::set<Node> others(Node receive) const;
  /// All that each contested receive gets in any run at all. With `traced` (P3): these get what they got, and
  /// nobody else gets it.
  std::map<Node, std::set<Node>> deliveries(const std::vector<causal::TraceRecord>& traced = {}) const;

 private:
  struct Op {
    enum Kind { kSend, kReceive, kDirectSend, kDirectReceive } kind;
    uint32_t peer = 0;
    uint32_t tag = 0;  ///< of a receive: kNone for any
  };
  struct State {
    std::vector<uint32_t> done;  ///< operations of each thread
    std::vector<Node>
        queue;  ///< sends that have arrived at the contested place; sorted if their order does not matter
    auto operator<=>(const State&) const = default;
  };

  const Op& op(Node node) const { return threads_[node.thread][node.event - 1]; }
  Node next(const State& state, uint32_t thread) const { return {thread, state.done[thread] + 1}; }
  bool can_go_on(const State& state, uint32_t thread) const;
  /// What a receive may take: the first of the queue, or of each sender. Nobody takes what is withheld, nor
  /// what the same sender sent after it.
  std::vector<Node> available(const State& state, Node receive, const std::set<Node>& withheld = {}) const;
  void advance(State& state, Node node, Node message) const;
  template <typename Choose, typename Visit>
  void explore(Choose choose, Visit visit) const;
  void run(std::mt19937& random);

  ProgramOptions options_;
  std::vector<std::vector<Op>> threads_;
  std::map<Node, Node> taken_, direct_;
  std::vector<Node> order_;
};

}  // namespace pastcone::causal_testing
