#include "pastcone/graph/steps.h"

#include <gtest/gtest.h>

#include "pastcone/causal/build.h"

namespace pastcone::graph {
namespace {

/// One thread of four events; points 11 and 12 after its second, 20 inside its third, 31 after its last.
causal::Graph graph() {
  causal::Execution execution;
  execution.threads.push_back({ThreadId(ProcessId(1), 1), 12, {}, true, true});
  execution.between = {{{0, 5}, 11}, {{0, 6}, 12}, {{0, 8}, 20}, {{0, 12}, 31}};
  return *causal::build(std::move(execution));
}

TEST(Steps, LeadToEventsAndBack) {
  causal::Graph made = graph();
  const uint32_t plain[] = {0, 1, 2, 3, 4, 4, 4, 5, 5, 6, 7, 8, 8};
  const uint32_t points[] = {0, 0, 0, 0, 0, 11, 12, 0, 20, 0, 0, 0, 31};
  for (uint32_t step = 1; step <= 12; ++step) {
    EXPECT_EQ(plain_step(made, {0, step}), plain[step]) << step;
    EXPECT_EQ(point_at(made, {0, step}), points[step]) << step;
    if (points[step] != 0) continue;
    EXPECT_EQ(find_step(made, 0, plain[step]).event, step);
  }
}

TEST(Steps, AreFoundByHowFarAThreadHasCome) {
  causal::Graph made = graph();
  EXPECT_EQ(find_step(made, 0, leaving(2), 10).event, 4u);
  EXPECT_EQ(find_step(made, 0, leaving(2), 11).event, 5u);
  EXPECT_EQ(find_step(made, 0, leaving(2), 15).event, 6u);
  EXPECT_EQ(find_step(made, 0, entering(3), 19).event, 7u);
  EXPECT_EQ(find_step(made, 0, leaving(4), 40).event, 12u);
}

}  // namespace
}  // namespace pastcone::graph
