#include "pastcone/graph/messages.h"

#include <gtest/gtest.h>

#include <vector>

#include "pastcone/causal/build.h"

namespace pastcone::graph {
namespace {

using causal::kNone;

causal::Graph graph_of(bool messages, std::vector<causal::Transfer> sends,
                       std::vector<causal::Transfer> receives) {
  causal::Execution execution;
  for (uint32_t number : {1u, 2u})
    execution.threads.push_back({ThreadId(ProcessId(number), 1), 20, {}, false, true});
  execution.channels = {{12, messages, true}};
  execution.sends = std::move(sends);
  execution.receives = std::move(receives);
  return causal::build(std::move(execution)).value();
}

std::vector<Message> all(const causal::Graph& graph) {
  std::vector<Message> list;
  Messages messages(graph);
  while (auto message = messages.next()) list.push_back(*message);
  return list;
}

TEST(Messages, AreWhatSendsAndReceivesHaveInCommon) {
  // 0 to 10 and 10 to 30 are sent, 40 to 50 too; 0 to 5, 5 to 20 and 45 to 60 received.
  causal::Graph graph = graph_of(false, {{0, 10, 0, {0, 2}}, {10, 20, 0, {0, 4}}, {40, 10, 0, {0, 6}}},
                                 {{0, 5, 0, {1, 2}}, {5, 15, 0, {1, 4}}, {45, 15, 0, {1, 6}}});
  std::vector<Message> expected{{0, 0, 5, 0, 0},      {0, 5, 10, 0, 1},      {0, 10, 20, 1, 1},
                                {0, 45, 50, 2, 2},    {0, 50, 60, kNone, 2}, {0, 20, 30, 1, kNone},
                                {0, 40, 45, 2, kNone}};
  EXPECT_EQ(all(graph), expected);
}

TEST(Messages, HaveTheirNames) {
  // A receive takes all of a message, also of an empty one; one comes from outside, one is never received.
  causal::Graph graph = graph_of(true, {{1, 10, 0, {0, 2}}, {12, 0, 0, {0, 4}}, {13, 5, 0, {0, 6}}},
                                 {{1, 3, 0, {1, 2}}, {12, 0, 0, {1, 4}}, {30, 7, 0, {1, 6}}});
  std::vector<Message> expected{
      {0, 1, 11, 0, 0}, {0, 12, 12, 1, 1}, {0, 30, 37, kNone, 2}, {0, 13, 18, 2, kNone}};
  EXPECT_EQ(all(graph), expected);
  EXPECT_EQ(Messages(graph, 1, 1).next(), std::nullopt);
}

}  // namespace
}  // namespace pastcone::graph
