#include "pastcone/causal/demand.h"

#include <gtest/gtest.h>

#include "pastcone/causal/build.h"
#include "pastcone/causal/testing/random_execution.h"

namespace pastcone::causal {
namespace {

using causal_testing::RandomExecution;
using causal_testing::RandomOptions;

/// Threads go as far as they may, some of them later than others; returns where they stand in the end.
Cut follow(const Graph& graph, const std::vector<Node>& targets, Order order, std::mt19937& random) {
  Demand demand(graph, targets, order);
  Cut done(graph.real_threads);
  auto late = [&] {
    for (uint32_t thread = 0; thread < graph.real_threads; ++thread)
      if (done[thread] < demand.horizons()[thread]) return true;
    return false;
  };
  while (demand.advance(done) || late()) {
    for (uint32_t thread = 0; thread < graph.real_threads; ++thread) {
      uint32_t horizon = demand.horizons()[thread];
      if (done[thread] < horizon && random() % 2 != 0)
        done[thread] += static_cast<uint32_t>(1 + random() % (horizon - done[thread]));
    }
  }
  return done;
}

TEST(Demand, LeadsToThePastCone) {
  std::mt19937 random(815);
  for (int i = 0; i < 2000; ++i) {
    RandomOptions options;
    options.threads = 2 + static_cast<uint32_t>(random() % 8);
    options.steps = 10 + static_cast<uint32_t>(random() % 90);
    options.cut_off = i % 3 == 0;
    RandomExecution execution = causal_testing::random_execution(random, options);
    auto graph = build(std::move(execution.input), {});
    ASSERT_TRUE(graph) << graph.error().message;
    for (Order order : {Order::kCausal, Order::kEnforced}) {
      std::vector<Node> targets;
      for (unsigned n = 1 + random() % 2; n > 0; --n) {
        auto thread = static_cast<uint32_t>(random() % graph->real_threads);
        if (uint32_t events = graph->threads[thread].events; events > 0)
          targets.push_back({thread, 1 + static_cast<uint32_t>(random() % events)});
      }
      Cut expected = past_cone(*graph, targets, order);
      expected.resize(graph->real_threads);
      ASSERT_EQ(follow(*graph, targets, order, random), expected) << i;
    }
  }
}

}  // namespace
}  // namespace pastcone::causal
