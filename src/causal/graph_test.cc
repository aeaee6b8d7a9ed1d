// Every answer about random executions against what the machine that ran them knows.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "pastcone/causal/build.h"
#include "pastcone/causal/cone.h"
#include "pastcone/causal/cut.h"
#include "pastcone/causal/path.h"
#include "pastcone/causal/send_vectors.h"
#include "pastcone/causal/testing/random_execution.h"
#include "pastcone/causal/transit.h"

namespace pastcone::causal {
namespace {

using causal_testing::NodeSet;
using causal_testing::random_execution;
using causal_testing::RandomExecution;
using causal_testing::RandomOptions;
using causal_testing::TrueEdge;
using causal_testing::TrueSend;
using causal_testing::Truth;

constexpr unsigned kExecutions = 10000;

/// A graph with what is true of it.
class Subject {
 public:
  Subject(Graph graph, Truth truth, std::mt19937& random)
      : graph_(std::move(graph)), truth_(std::move(truth)), random_(random) {}

  void check_all() {
    if (truth_.nodes.empty()) return;
    for (Order order : {Order::kCausal, Order::kEnforced}) {
      order_ = order;
      kinds_ = order == Order::kCausal ? kCausalKinds : kAllKinds;
      pasts_ = truth_.pasts(kinds_);
      check_cones();
      check_pairs();
      check_cuts();
      check_breakpoint();
    }
    order_ = Order::kCausal;
    kinds_ = kCausalKinds;
    pasts_ = truth_.pasts(kinds_);
    check_transit();
    check_send_vectors();
  }

 private:
  uint32_t threads() const { return graph_.real_threads; }
  uint32_t below(size_t limit) { return static_cast<uint32_t>(random_() % limit); }
  Node any() { return truth_.nodes[below(truth_.nodes.size())]; }
  bool before(Node a, Node b) const { return a != b && pasts_[truth_.place(b)][truth_.place(a)]; }

  Cut cut_of(const NodeSet& set) const {
    Cut cut(threads(), 0);
    for (size_t i = 0; i < truth_.nodes.size(); ++i) {
      if (set[i]) cut[truth_.nodes[i].thread] = std::max(cut[truth_.nodes[i].thread], truth_.nodes[i].event);
    }
    return cut;
  }

  Cut real(Cut cut) const {
    cut.resize(threads());
    return cut;
  }

  std::vector<uint32_t> true_future(const std::vector<Node>& events) const {
    std::vector<uint32_t> first;
    for (uint32_t thread = 0; thread < threads(); ++thread)
      first.push_back(graph_.threads[thread].events + 1);
    for (Node node : truth_.nodes) {
      for (Node event : events) {
        if (node == event || before(event, node))
          first[node.thread] = std::min(first[node.thread], node.event);
      }
    }
    return first;
  }

  void check_cones() {
    for (size_t i = 0; i < truth_.nodes.size(); ++i) {
      ASSERT_EQ(real(past_cone(graph_, truth_.nodes[i], order_)), cut_of(pasts_[i]));
    }
    for (int i = 0; i < 8; ++i) {
      std::vector<Node> events{any()};
      while (below(2) == 0) events.push_back(any());
      NodeSet past;
      for (Node event : events) past |= pasts_[truth_.place(event)];
      ASSERT_EQ(real(past_cone(graph_, events, order_)), cut_of(past));
      ASSERT_EQ(real(future_cone(graph_, events, order_)), true_future(events));
    }
  }

  void check_pairs() {
    for (int i = 0; i < 24; ++i) {
      Node a = any(), b = any();
      ASSERT_EQ(happened_before(graph_, a, b, order_), before(a, b));
      ASSERT_EQ(concurrent(graph_, a, b, order_), a != b && !before(a, b) && !before(b, a));
      auto path = witness_path(graph_, a, b, order_);
      ASSERT_EQ(path.has_value(), before(a, b));
      if (path) check_path(a, b, *path);
      auto chain = longest_chain(graph_, a, b, order_);
      ASSERT_EQ(chain.has_value(), before(a, b));
      if (!chain) continue;
      std::vector<Arrow> arrows = chain->arrows(graph_);
      check_path(a, b, arrows);
      ASSERT_EQ(chain->events, true_longest(a, b));
      ASSERT_EQ(chain->events, length(a, b, arrows));
    }
  }

  bool is_edge(const Arrow& arrow) const {
    return std::ranges::any_of(truth_.edges, [&](const TrueEdge& edge) {
      return edge.from == arrow.from && edge.to == arrow.to && edge.kind == arrow.kind &&
             (kinds_ & kinds_of(edge.kind)) != 0;
    });
  }

  void check_path(Node a, Node b, const std::vector<Arrow>& arrows) {
    Node at = a;
    for (const Arrow& arrow : arrows) {
      ASSERT_EQ(arrow.from.thread, at.thread);
      ASSERT_GE(arrow.from.event, at.event);
      ASSERT_TRUE(is_edge(arrow)) << to_string(arrow.kind);
      at = arrow.to;
    }
    ASSERT_EQ(at.thread, b.thread);
    ASSERT_LE(at.event, b.event);
  }

  static uint64_t length(Node a, Node b, const std::vector<Arrow>& arrows) {
    uint64_t events = 1;
    Node at = a;
    for (const Arrow& arrow : arrows) {
      events += arrow.from.event - at.event + 1;
      at = arrow.to;
    }
    return events + (b.event - at.event);
  }

  uint64_t true_longest(Node a, Node b) const {
    std::vector<uint64_t> way(truth_.nodes.size(), 0);  // events on the longest chain from a; 0: none
    way[truth_.place(a)] = 1;
    std::map<size_t, std::vector<size_t>> into;
    for (const TrueEdge& edge : truth_.edges) {
      if (kinds_ & kinds_of(edge.kind)) into[truth_.place(edge.to)].push_back(truth_.place(edge.from));
    }
    for (size_t i = truth_.place(a) + 1; i <= truth_.place(b); ++i) {
      auto extend = [&](size_t from) {
        if (way[from] != 0) way[i] = std::max(way[i], way[from] + 1);
      };
      Node node = truth_.nodes[i];
      if (node.event > 1) extend(truth_.place({node.thread, node.event - 1}));
      for (size_t from : into[i]) extend(from);
    }
    return way[truth_.place(b)];
  }

  Cut any_cut() {
    if (below(2) == 0) {  // one that is nearly consistent
      Cut cut = cut_of(pasts_[truth_.place(any())] | pasts_[truth_.place(any())]);
      uint32_t thread = below(threads());
      if (below(2) == 0 && cut[thread] > 0) --cut[thread];
      return cut;
    }
    Cut cut;
    for (uint32_t thread = 0; thread < threads(); ++thread)
      cut.push_back(below(graph_.threads[thread].events + 1));
    return cut;
  }

  static bool in(const Cut& cut, Node node) { return node.event <= cut[node.thread]; }

  void check_cuts() {
    for (int i = 0; i < 12; ++i) {
      Cut cut = any_cut();
      bool good = std::ranges::none_of(truth_.edges, [&](const TrueEdge& edge) {
        return (kinds_ & kinds_of(edge.kind)) != 0 && !in(cut, edge.from) && in(cut, edge.to);
      });
      auto arrow = entering_arrow(graph_, cut, order_);
      ASSERT_EQ(!arrow, good);
      if (!arrow) continue;
      ASSERT_TRUE(is_edge(*arrow));
      ASSERT_TRUE(!in(cut, arrow->from) && in(cut, arrow->to));
    }
  }

  void check_breakpoint() {
    std::vector<Node> events{any(), any()};
    if (events[0].thread == events[1].thread) events.pop_back();
    Breakpoint breakpoint = causal_breakpoint(graph_, events, order_);
    NodeSet past;
    bool possible = true;
    for (Node event : events) past |= pasts_[truth_.place(event)];
    ASSERT_EQ(real(breakpoint.cut), cut_of(past));
    for (Node event : events) possible = possible && breakpoint.cut[event.thread] == event.event;
    ASSERT_EQ(!breakpoint.conflict, possible);
    if (breakpoint.conflict) {
      ASSERT_TRUE(is_edge(*breakpoint.conflict));
    }
  }

  using Bytes = std::set<std::tuple<uint32_t, uint64_t>>;  // channel, position

  /// Of a message its first position stands for all.
  Bytes bytes_of(const std::vector<Piece>& pieces) const {
    Bytes bytes;
    for (const Piece& piece : pieces) {
      const Transfer& send = graph_.sends[piece.send];
      EXPECT_TRUE(piece.begin >= send.begin && piece.end <= send.end());
      if (graph_.channels[send.channel].messages()) {
        EXPECT_TRUE(bytes.emplace(send.channel, send.begin).second);
        continue;
      }
      EXPECT_LT(piece.begin, piece.end);
      for (uint64_t i = piece.begin; i < piece.end; ++i) EXPECT_TRUE(bytes.emplace(send.channel, i).second);
    }
    return bytes;
  }

  void check_transit() {
    for (int i = 0; i < 8; ++i) {
      Cut cut = any_cut();
      Bytes transit, orphaned;
      for (uint32_t channel = 0; channel < truth_.sends.size(); ++channel) {
        for (const TrueSend& send : truth_.sends[channel]) {
          if (!truth_.has(send.at)) continue;
          for (size_t k = 0; k < send.takers.size(); ++k) {
            Node taker = send.takers[k];
            bool taken = taker.event != 0 && truth_.has(taker) && in(cut, taker);
            if (in(cut, send.at) && !taken) transit.emplace(channel, send.begin + k);
            if (!in(cut, send.at) && taken) orphaned.emplace(channel, send.begin + k);
          }
        }
      }
      ASSERT_EQ(bytes_of(in_transit(graph_, cut)), transit);
      ASSERT_EQ(bytes_of(orphans(graph_, cut)), orphaned);
    }
  }

  /// P4's procedure, with every causal edge a message and, for `Sends::kEdges`, a send.
  void check_send_vectors() {
    std::vector<std::vector<size_t>> into(truth_.nodes.size());
    std::vector<bool> leaves(truth_.nodes.size());
    std::map<Node, uint32_t> messages;
    for (const TrueEdge& edge : truth_.edges) {
      if ((kinds_ & kinds_of(edge.kind)) != 0) into[truth_.place(edge.to)].push_back(truth_.place(edge.from));
    }
    for (const auto& channel : truth_.sends) {
      for (const TrueSend& send : channel) ++messages[send.at];
    }
    std::vector<std::vector<uint32_t>> vectors(truth_.nodes.size());
    for (size_t i = 0; i < truth_.nodes.size(); ++i) {
      Node node = truth_.nodes[i];
      vectors[i].assign(threads(), 0);
      if (node.event > 1) vectors[i] = vectors[truth_.place({node.thread, node.event - 1})];
      for (size_t from : into[i]) {
        for (uint32_t k = 0; k < threads(); ++k) vectors[i][k] = std::max(vectors[i][k], vectors[from][k]);
      }
      vectors[i][node.thread] += messages[node];
      ASSERT_EQ(send_vector(graph_, node, Sends::kMessages), vectors[i]);
    }
    // Just after the sends that the vector names: the least consistent cut.
    for (int i = 0; i < 6; ++i) {
      Node event = any();
      auto vector = send_vector(graph_, event, Sends::kEdges);
      Cut cut = cut_of(pasts_[truth_.place(event)]);
      for (uint32_t thread = 0; thread < threads(); ++thread) {
        if (thread == event.thread) continue;
        ASSERT_EQ(send_number(graph_, thread, vector[thread], Sends::kEdges).event, cut[thread]);
      }
    }
  }

  Graph graph_;
  Truth truth_;
  std::mt19937& random_;
  Order order_ = Order::kCausal;
  Kinds kinds_ = kCausalKinds;
  std::vector<NodeSet> pasts_;
};

TEST(EventGraph, AnswersWhatIsTrueOfRandomExecutions) {
  std::mt19937 random(4711);
  Kinds seen = 0;
  for (unsigned i = 0; i < kExecutions; ++i) {
    RandomOptions options;
    options.threads = 2 + static_cast<uint32_t>(random() % 8);
    options.steps = 10 + static_cast<uint32_t>(random() % 90);
    options.cut_off = i % 3 == 0;
    RandomExecution execution = random_execution(random, options);
    for (const TrueEdge& edge : execution.truth.edges) seen |= kinds_of(edge.kind);
    BuildOptions build_options;
    build_options.anchor_spacing = static_cast<uint32_t>(random() % 6);
    auto graph = build(std::move(execution.input), build_options);
    ASSERT_TRUE(graph) << graph.error().message;
    SCOPED_TRACE(i);
    Subject subject(std::move(*graph), std::move(execution.truth), random);
    subject.check_all();
    if (HasFatalFailure()) return;
  }
  EXPECT_EQ(seen, kAllKinds);
}

}  // namespace
}  // namespace pastcone::causal
