#include "pastcone/exports/times.h"

#include <gtest/gtest.h>

#include <random>

#include "pastcone/causal/build.h"
#include "pastcone/causal/testing/random_execution.h"

namespace pastcone::exports {
namespace {

using causal::Graph;
using causal::Node;

/// All edges, and each thread's own order.
void expect_forwards(const Graph& graph, const Times& times) {
  for (uint32_t thread = 0; thread < graph.thread_count(); ++thread) {
    for (uint32_t event = 2; event <= graph.threads[thread].events; ++event) {
      ASSERT_LT(times.at({thread, event - 1}), times.at({thread, event}));
    }
  }
  for (uint32_t group = 0; group < graph.group_count(); ++group) {
    Node to{graph.groups[group].thread, graph.groups[group].event};
    for (uint32_t edge = graph.groups[group].first_edge; edge < graph.groups[group + 1].first_edge; ++edge) {
      ASSERT_LT(times.at(graph.edges[edge].from), times.at(to));
    }
  }
}

TEST(Times, NoArrowGoesBackWhateverTheClocksSay) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    std::mt19937 random(seed);
    Graph graph = causal::build(std::move(causal_testing::random_execution(random, {}).input)).value();
    std::vector<KnownTime> known;
    for (uint32_t thread = 0; thread < graph.thread_count(); ++thread) {
      for (uint32_t event = 1; event <= graph.threads[thread].events; ++event) {
        if (random() % 4 == 0) known.push_back({{thread, event}, static_cast<int64_t>(random() % 100)});
      }
    }
    Times times(graph, known);
    expect_forwards(graph, times);
    for (const KnownTime& each : known) ASSERT_GE(times.at(each.at), each.ns);
  }
}

TEST(Times, ThoseThatAreInOrderAreKept) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    std::mt19937 random(seed);
    Graph graph = causal::build(std::move(causal_testing::random_execution(random, {}).input)).value();
    std::vector<KnownTime> known;
    for (uint32_t thread = 0; thread < graph.thread_count(); ++thread) {
      for (uint32_t event = 1; event <= graph.threads[thread].events; ++event) {
        Node node{thread, event};
        if (random() % 4 == 0) known.push_back({node, 1000 * int64_t{graph.rank(node)}});
      }
    }
    Times times(graph, known);
    expect_forwards(graph, times);
    for (const KnownTime& each : known) ASSERT_EQ(times.at(each.at), each.ns);
  }
}

TEST(Times, AreSpreadEvenlyBetweenKnownOnes) {
  causal::Execution execution;
  execution.threads.push_back({ThreadId(ProcessId(1), 1), 7, {}, false, true});
  Graph graph = causal::build(std::move(execution)).value();
  std::vector<KnownTime> known{{{0, 2}, 10'000}, {{0, 6}, 50'003}};
  Times times(graph, known);
  EXPECT_EQ(times.begin(), times.at({0, 1}));
  EXPECT_EQ(times.at({0, 2}), 10'000);
  EXPECT_NEAR(static_cast<double>(times.at({0, 3})), 20'000, 5);
  EXPECT_NEAR(static_cast<double>(times.at({0, 4})), 30'000, 5);
  EXPECT_NEAR(static_cast<double>(times.at({0, 5})), 40'000, 5);
  EXPECT_EQ(times.at({0, 6}), 50'003);
  EXPECT_EQ(times.at({0, 7}), 50'503);
}

}  // namespace
}  // namespace pastcone::exports
