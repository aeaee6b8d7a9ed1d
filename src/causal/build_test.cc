#include "pastcone/causal/build.h"

#include <gtest/gtest.h>

#include "pastcone/causal/cone.h"
#include "pastcone/causal/cut.h"
#include "pastcone/causal/testing/random_execution.h"

namespace pastcone::causal {
namespace {

/// Three processes of ten events. Kinds that the input does not name edge by edge are in what it names
/// instead.
Execution with(EdgeKind kind) {
  Execution execution;
  for (uint32_t i = 1; i <= 3; ++i)
    execution.threads.push_back({ThreadId(ProcessId(i), 1), 10, {}, true, true});
  execution.channels = {{1, false, true}};
  execution.objects = 1;
  Node from{0, 5}, to{1, 3};
  switch (kind) {
    case EdgeKind::kMessage:
      execution.sends = {{0, 10, 0, from}};
      execution.receives = {{0, 4, 0, to}};
      break;
    case EdgeKind::kObject:
      execution.accesses = {{{0, 4}, 5, 0, 1}, {to, 0, 0, 0}};
      break;
    case EdgeKind::kEnd:  // two receivers, of the bytes of two others
      execution.threads.push_back({ThreadId(ProcessId(4), 1), 10, {}, true, true});
      execution.sends = {{0, 4, 0, {2, 1}}, {4, 4, 0, {3, 1}}};
      execution.receives = {{0, 4, 0, from}, {4, 4, 0, to}};
      break;
    case EdgeKind::kLane:  // of the same sender; no queue, so that nothing else orders them
      execution.channels = {{1, true, false}};
      execution.sends = {{0, 4, 0, {2, 1}}, {4, 4, 0, {2, 2}}};
      execution.receives = {{0, 4, 0, from}, {4, 4, 0, to}};
      break;
    case EdgeKind::kBarrier:
      execution.barriers = {{0, {from, {1, 2}}, {{0, 6}, to}}};
      break;
    case EdgeKind::kCreate:
    case EdgeKind::kFork:
      to = {1, 1};
      execution.threads[1].creator = from;
      execution.threads[1].by_fork = kind == EdgeKind::kFork;
      break;
    default:
      execution.edges = {{from, to, kind, kNone}};
  }
  return execution;
}

class EveryKind : public testing::TestWithParam<uint32_t> {};

/// With this kind of edge alone the one comes before the other, and with all others it does not.
TEST_P(EveryKind, ChangesTheAnswer) {
  auto kind = static_cast<EdgeKind>(GetParam());
  auto alone = build(with(kind), {kinds_of(kind), 0});
  auto all = build(with(kind));
  auto others = build(with(kind), {kAllKinds & ~kinds_of(kind), 0});
  ASSERT_TRUE(alone && all && others);
  Node from{0, 5}, to{1, kind == EdgeKind::kCreate || kind == EdgeKind::kFork ? 1u : 3u};
  EXPECT_TRUE(happened_before(*alone, from, to, Order::kEnforced));
  EXPECT_TRUE(happened_before(*all, from, to, Order::kEnforced));
  EXPECT_EQ(happened_before(*all, from, to), kind != EdgeKind::kHandOver);
  EXPECT_FALSE(happened_before(*others, from, to, Order::kEnforced));
  EXPECT_FALSE(happened_before(*all, {0, 6}, to, Order::kEnforced));

  Cut cut{4, 3, 0, 0};
  cut.resize(all->real_threads);
  cut[1] = to.event;
  if (kind == EdgeKind::kEnd || kind == EdgeKind::kLane) cut[2] = 10;
  if (kind == EdgeKind::kEnd) cut[3] = 10;
  auto arrow = entering_arrow(*all, cut, Order::kEnforced);
  ASSERT_TRUE(arrow);
  EXPECT_EQ(arrow->kind, kind);
  EXPECT_EQ(arrow->from, from);
  EXPECT_EQ(arrow->to, to);
  EXPECT_EQ(message_of(*all, *arrow), kind == EdgeKind::kMessage ? 0 : kNone);
  EXPECT_TRUE(consistent(*others, cut, Order::kEnforced));
}

INSTANTIATE_TEST_SUITE_P(, EveryKind, testing::Range(0u, kEdgeKinds), [](const auto& each) {
  std::string name = to_string(static_cast<EdgeKind>(each.param));
  std::erase_if(name, [](char c) { return !std::isalpha(static_cast<unsigned char>(c)); });
  return name;
});

TEST(Build, ClaimsNoOrderWhereNoneIsKnown) {
  for (EdgeKind kind : {EdgeKind::kEnd, EdgeKind::kLane}) {
    Execution execution = with(kind);
    execution.channels[0].in_order = false;
    std::vector<uint32_t> cut{0, 3, 10, 10};  // without the first receive
    cut.resize(execution.threads.size());
    EXPECT_FALSE(consistent(build(with(kind)).value(), cut));
    EXPECT_TRUE(consistent(build(std::move(execution)).value(), cut));
  }
}

/// Events as steps, two each.
std::string name_of_half(const Graph& graph, Node node) {
  return fmt::format("{}:{}.{}", graph.thread_id(node.thread), node.event / 2, node.event % 2);
}

TEST(Build, NamesACycleInItsCallersWords) {
  // Others wait for it, and do not belong to it.
  Execution execution = with(EdgeKind::kSignal);
  execution.edges = {{{2, 2}, {0, 1}, EdgeKind::kWait, kNone},
                     {{1, 4}, {2, 1}, EdgeKind::kMessage, kNone},
                     {{2, 2}, {1, 3}, EdgeKind::kHandOver, kNone}};
  auto graph = build(std::move(execution), {.name = name_of_half});
  ASSERT_FALSE(graph);
  EXPECT_EQ(
      graph.error().message,
      "the edges make a cycle: p3:0.1 comes after p2:2.0 (message), p2:1.1 comes after p3:1.0 (hand-over)");
}

std::string refusal(Execution&& execution) {
  auto graph = build(std::move(execution));
  return graph ? "built" : graph.error().message;
}

TEST(Build, RefusesWhatContradictsItself) {
  Execution execution = with(EdgeKind::kSignal);
  execution.edges.push_back({{1, 3}, {0, 5}, EdgeKind::kSignal, kNone});
  EXPECT_EQ(refusal(std::move(execution)),
            "the edges make a cycle: p1:5 comes after p2:3 (signal), p2:3 comes after p1:5 (signal)");

  execution = with(EdgeKind::kMessage);
  execution.sends.push_back({9, 3, 0, {2, 1}});
  EXPECT_EQ(refusal(std::move(execution)), "position 9 of channel 1 was sent twice");

  execution = with(EdgeKind::kMessage);
  execution.sends.push_back({20, 3, 0, {0, 2}});
  EXPECT_EQ(refusal(std::move(execution)), "p1 sent on channel 1 with positions that go back");

  execution = with(EdgeKind::kSignal);
  execution.edges[0].from.thread = 3;
  EXPECT_NE(refusal(std::move(execution)).find("thread 3, which does not exist"), std::string::npos);

  execution = with(EdgeKind::kObject);
  execution.accesses[0].object = 1;
  EXPECT_NE(refusal(std::move(execution)).find("object 1"), std::string::npos);

  execution = with(EdgeKind::kMessage);
  execution.receives[0].channel = 1;
  EXPECT_NE(refusal(std::move(execution)).find("channel"), std::string::npos);

  execution = with(EdgeKind::kMessage);
  std::swap(execution.threads[0], execution.threads[1]);
  EXPECT_EQ(refusal(std::move(execution)), "threads are not in order");
}

TEST(Build, CountsWhatIsNotInTheRecording) {
  Execution execution = with(EdgeKind::kSignal);
  execution.edges.push_back({{0, 11}, {1, 4}, EdgeKind::kSignal, kNone});
  auto graph = build(std::move(execution));
  ASSERT_TRUE(graph);
  EXPECT_EQ(graph->lost, 1u);
  EXPECT_EQ(graph->edges.size(), 1u);
}

TEST(Build, NothingIsAGraphToo) {
  auto graph = build({});
  ASSERT_TRUE(graph);
  EXPECT_EQ(graph->event_count(), 0u);
  EXPECT_TRUE(past_cone(*graph, std::span<const Node>()).empty());
}

/// However little memory there is for vectors.
TEST(Build, AnchorsAreTheSameWithLittleMemory) {
  std::mt19937 random(11);
  for (int i = 0; i < 300; ++i) {
    auto execution = causal_testing::random_execution(random, {8, 100, false});
    Execution copy = execution.input;
    auto graph = build(std::move(execution.input), {kAllKinds, 2});
    auto poor = build(std::move(copy), {kAllKinds, 2, 0});
    ASSERT_TRUE(graph && poor);
    ASSERT_TRUE(std::ranges::equal(graph->causal.vectors, poor->causal.vectors));
    ASSERT_TRUE(std::ranges::equal(graph->enforced.vectors, poor->enforced.vectors));
  }
}

TEST(Graph, NamesAreThoseOfUsers) {
  auto graph = build(with(EdgeKind::kSignal));
  ASSERT_TRUE(graph);
  auto node = graph->find(*EventId::parse("p2:7"));
  ASSERT_TRUE(node);
  EXPECT_EQ(*node, (Node{1, 7}));
  EXPECT_EQ(to_string(graph->id(*node)), "p2:7");
  EXPECT_EQ(graph->find(*EventId::parse("p2:11")).error().message,
            "p2:11 is not in the recording: the last event of p2 is 10");
  EXPECT_EQ(graph->find(*EventId::parse("p2.2:1")).error().message,
            "p2.2 is not in the recording: `pastcone ps` lists what is");
}

}  // namespace
}  // namespace pastcone::causal
