#include "pastcone/query/order_memo.h"

#include <gtest/gtest.h>

#include <random>

#include "pastcone/causal/build.h"
#include "pastcone/causal/testing/random_execution.h"

namespace pastcone::query {
namespace {

using causal::Node;

/// Every pair, in both orders of asking: rows with the same first event, then with the same second.
TEST(OrderMemo, AgreesWithHappenedBefore) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    std::mt19937 random(seed);
    causal_testing::RandomExecution made = causal_testing::random_execution(random, {});
    causal::Graph graph = causal::build(std::move(made.input)).value();
    std::vector<Node> nodes;
    for (uint32_t thread = 0; thread < graph.real_threads; ++thread) {
      for (uint32_t event = 1; event <= graph.threads[thread].events; ++event)
        nodes.push_back({thread, event});
    }
    OrderMemo memo(graph);
    for (Node x : nodes) {
      for (Node y : nodes) ASSERT_EQ(memo.before(x, y), causal::happened_before(graph, x, y));
      for (Node y : nodes) ASSERT_EQ(memo.before(y, x), causal::happened_before(graph, y, x));
    }
  }
}

}  // namespace
}  // namespace pastcone::query
