#include "pastcone/causal/steps.h"

#include <gtest/gtest.h>

namespace pastcone::causal {
namespace {

TEST(Steps, CountEventsAndOperationsTogether) {
  // operation 0, event 1, operations 1 and 2, event 2, event 3, operation 3
  Steps steps(3, {0, 1, 1, 3});
  EXPECT_EQ(steps.count(), 7u);
  std::vector<uint32_t> operations, events;
  for (uint32_t i = 0; i < 4; ++i) operations.push_back(steps.of_operation(i));
  for (uint32_t i = 1; i <= 3; ++i) events.push_back(steps.of_event(i));
  EXPECT_EQ(operations, (std::vector<uint32_t>{1, 3, 4, 7}));
  EXPECT_EQ(events, (std::vector<uint32_t>{2, 5, 6}));

  std::vector<Steps::State> states;
  for (uint32_t step = 0; step <= 7; ++step) states.push_back(steps.at(step));
  EXPECT_EQ(states,
            (std::vector<Steps::State>{{0, 0}, {0, 1}, {1, 1}, {1, 2}, {1, 3}, {2, 3}, {3, 3}, {3, 4}}));
}

TEST(Steps, AreTheEventsWhereNothingIsBetweenThem) {
  Steps steps(2, {});
  EXPECT_EQ(steps.count(), 2u);
  EXPECT_EQ(steps.of_event(2), 2u);
  EXPECT_EQ(steps.at(1), (Steps::State{1, 0}));
}

}  // namespace
}  // namespace pastcone::causal
