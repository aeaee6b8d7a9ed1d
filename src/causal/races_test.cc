#include "pastcone/causal/races.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "pastcone/causal/build.h"
#include "pastcone/causal/luck.h"
#include "pastcone/causal/on_the_fly.h"
#include "pastcone/causal/rival_walk.h"
#include "pastcone/causal/testing/message_program.h"
#include "pastcone/causal/testing/random_execution.h"

namespace pastcone::causal {
namespace {

using causal_testing::MessageProgram;
using causal_testing::ProgramOptions;
using causal_testing::random_execution;
using causal_testing::RandomExecution;
using causal_testing::TrueEdge;

constexpr int kPrograms = 1000;  // of each kind

using Rivals = std::map<Node, std::set<Node>>;

Rivals rivals_of(const Races& races) {
  Rivals result;
  for (const RacyReceive& receive : races.receives()) {
    auto messages = races.rivals(receive);
    EXPECT_EQ(messages.size(), receive.rivals);
    for (uint32_t message : messages) result[receive.at].insert(races.contests().messages[message].send);
  }
  Rivals walked;
  RivalWalk walk(races);
  size_t count = 0;
  for (; const RacyReceive* receive = walk.next(); ++count) {
    EXPECT_EQ(walk.rivals().size(), receive->rivals);
    for (uint32_t message : walk.rivals())
      walked[receive->at].insert(races.contests().messages[message].send);
  }
  EXPECT_EQ(count, races.receives().size());
  EXPECT_EQ(walked, result);
  return result;
}

Rivals true_rivals(const MessageProgram& program) {
  Rivals result;
  for (auto [receive, send] : program.taken()) {
    auto others = program.others(receive);
    if (!others.empty()) result[receive] = std::move(others);
  }
  return result;
}

std::set<Node> receives_of(const std::vector<TraceRecord>& records) {
  std::set<Node> result;
  for (const TraceRecord& record : records) {
    if (record.receive.event != 0) result.insert(record.receive);
  }
  return result;
}

/// P3's procedure, event by event.
std::set<Node> step_by_step(const MessageProgram& program, uint32_t threads) {
  OnTheFly process(threads);
  std::map<Node, OnTheFly::Vector> attached;
  std::set<Node> traced;
  for (Node node : program.order()) {
    if (program.is_send(node)) {
      attached[node] = process.send(node.thread);
      continue;
    }
    auto taken = program.taken().find(node);
    Node send = taken != program.taken().end() ? taken->second : program.direct().at(node);
    if (process.receive(node.thread, attached[send])) traced.insert(node);
  }
  return traced;
}

class MessageRaces : public testing::TestWithParam<ProgramOptions> {};

TEST_P(MessageRaces, AreThoseThatTryingAllSchedulesFinds) {
  std::mt19937 random(17);
  int racy = 0, clean = 0;
  for (int i = 0; i < kPrograms; ++i) {
    SCOPED_TRACE(i);
    MessageProgram program(random, GetParam());
    auto graph = build(program.execution(), {kAllKinds, 1 + static_cast<uint32_t>(random() % 3)});
    ASSERT_TRUE(graph) << graph.error().message;
    Races races = Races::find(*graph);
    Rivals found = rivals_of(races), wanted = true_rivals(program);
    if (GetParam().queue && GetParam().receivers > 1) {  // too many may be flagged, never too few
      for (const auto& [receive, sends] : wanted) {
        ASSERT_TRUE(std::ranges::includes(found[receive], sends));
      }
      continue;
    }
    ASSERT_EQ(found, wanted);
    (found.empty() ? clean : racy)++;

    // Nothing can ever differ where nothing races, and nothing if what raced is forced.
    bool differs = false;
    for (const auto& [receive, sends] : program.deliveries()) {
      if (program.taken().contains(receive)) differs |= sends != std::set<Node>{program.taken().at(receive)};
    }
    if (GetParam().receivers > 1) {  // a receive that never happened in the run may be the first to differ
      ASSERT_TRUE(differs || found.empty());
      continue;
    }
    ASSERT_EQ(differs, !found.empty());
    std::set<Node> traced = receives_of(races.traced());
    for (const auto& [receive, sends] : program.deliveries(races.traced())) {
      if (!program.taken().contains(receive)) continue;
      ASSERT_EQ(sends, std::set<Node>{program.taken().at(receive)});
    }
    if (GetParam().port) continue;
    std::set<Node> on_the_fly = receives_of(traced_on_the_fly(*graph));
    ASSERT_EQ(on_the_fly, step_by_step(program, graph->real_threads));
    ASSERT_TRUE(std::ranges::includes(on_the_fly, traced));
  }
  if (racy + clean > 0) {
    EXPECT_GT(std::min(racy, clean), kPrograms / 20);
  }
}

std::string name_of(const testing::TestParamInfo<ProgramOptions>& info) {
  const ProgramOptions& options = info.param;
  return std::string(options.queue ? "Queue" : "Lanes") + (options.port ? "Port" : "Channel") +
         (options.tags ? "Tags" : "") + std::to_string(options.receivers);
}

INSTANTIATE_TEST_SUITE_P(
    , MessageRaces,
    testing::Values(ProgramOptions{false, 1, false, false}, ProgramOptions{true, 1, false, false},
                    ProgramOptions{false, 2, false, false}, ProgramOptions{true, 2, false, false},
                    ProgramOptions{false, 1, false, true}, ProgramOptions{true, 1, false, true},
                    ProgramOptions{false, 1, true, true}, ProgramOptions{false, 2, false, true}),
    name_of);

Execution three_threads() {
  Execution execution;
  for (uint32_t i = 1; i <= 3; ++i)
    execution.threads.push_back({ThreadId(ProcessId(i), 1), 10, {}, false, true});
  execution.channels = {{5, false, true}};
  return execution;
}

/// Two writers of one pipe, whose bytes one read gets together.
TEST(Races, OneReadOfTwoWritersCouldHaveGotThemTheOtherWayRound) {
  Execution execution = three_threads();
  execution.sends = {{0, 4, 0, {0, 1}}, {4, 4, 0, {1, 1}}};
  execution.receives = {{0, 8, 0, {2, 1}}};
  auto graph = build(std::move(execution));
  ASSERT_TRUE(graph);
  Races races = Races::find(*graph);
  EXPECT_EQ(rivals_of(races), (Rivals{{{2, 1}, {{1, 1}}}}));
  EXPECT_EQ(races.traced(), (std::vector<TraceRecord>{{{2, 1}, {1, 1}}}));
}

/// `(/bin/echo a; /bin/echo b) | cat`: the second writer is forked after the first was waited for.
TEST(Races, WritersThatComeOneAfterTheOtherDoNotRace) {
  for (bool ordered : {true, false}) {
    Execution execution = three_threads();
    execution.sends = {{0, 4, 0, {0, 1}}, {4, 4, 0, {1, 2}}};
    execution.receives = {{0, 4, 0, {2, 1}}, {4, 4, 0, {2, 2}}};
    if (ordered) execution.edges = {{{0, 2}, {1, 1}, EdgeKind::kWait, kNone}};
    auto graph = build(std::move(execution));
    ASSERT_TRUE(graph);
    EXPECT_EQ(Races::find(*graph).receives().empty(), ordered);
  }
}

/// What one poll reports has no order; what the next one reports could have been there before.
TEST(Races, ReadinessHasNoOrderWithinOnePoll) {
  Execution execution = three_threads();
  execution.ports = {{0, 1, 1}};
  execution.arrivals = {{0, 0, 0, {0, 1}, {}}, {0, 1, 0, {1, 1}, {}}};
  execution.takings = {{0, {2, 1}, kNone, 1}, {1, {2, 1}, kNone, 1}};
  Execution later = execution;
  later.takings[1].at.event = 2;
  auto graph = build(std::move(execution));
  ASSERT_TRUE(graph);
  EXPECT_TRUE(Races::find(*graph).receives().empty());
  graph = build(std::move(later));
  ASSERT_TRUE(graph);
  EXPECT_EQ(rivals_of(Races::find(*graph)), (Rivals{{{2, 1}, {{1, 1}}}}));
}

/// A thread that waits for two channels, and receives from a third by itself.
TEST(Races, FiguresCountReceivesOnce) {
  Execution execution = three_threads();
  execution.channels = {{4, false, true}, {6, false, true}, {8, false, true}};
  execution.sends = {{0, 4, 0, {0, 1}}, {0, 4, 1, {1, 1}}, {0, 4, 2, {1, 2}}};
  execution.receives = {{0, 4, 0, {2, 1}}, {0, 4, 1, {2, 2}}, {0, 4, 2, {2, 3}}};
  execution.ports = {{0, 0, 0}};
  execution.arrivals = {{0, 0, 0, {0, 1}, {}}, {0, 1, 0, {1, 1}, {}}};
  execution.takings = {{0, {2, 1}, kNone, 1}, {1, {2, 2}, kNone, 1}};
  auto graph = build(std::move(execution));
  ASSERT_TRUE(graph);
  Races races = Races::find(*graph);
  Reduction found = reduction(*graph, races);
  EXPECT_EQ(found.receives, 3u);
  EXPECT_EQ(found.raced, 1u);
  EXPECT_EQ(found.on_the_fly, 2u);
  EXPECT_EQ(found.exact, 1u);
  EXPECT_EQ(races.contested(), 2u);
}

TEST(Races, RecordsByReceiverAndBySender) {
  std::vector<TraceRecord> records{{{0, 3}, {2, 9}}, {{0, 5}, {1, 4}}, {{1, 7}, {2, 2}}};
  EXPECT_EQ(by_sender(records),
            (std::vector<TraceRecord>{{{0, 5}, {1, 4}}, {{1, 7}, {2, 2}}, {{0, 3}, {2, 9}}}));
}

TEST(Luck, IsWhereNothingElseOrdersTwoAccesses) {
  std::mt19937 random(99);
  size_t lucky = 0, ordered = 0;
  for (int i = 0; i < 3000; ++i) {
    RandomExecution execution = random_execution(random, {6, 60, i % 3 == 0});
    auto graph = build(std::move(execution.input), {kAllKinds, 1 + static_cast<uint32_t>(i % 4)});
    ASSERT_TRUE(graph);
    std::vector<LuckyOrder> found = lucky_orders(*graph), wanted;
    for (uint32_t group = 0; group < graph->group_count(); ++group) {
      Node to{graph->groups[group].thread, graph->groups[group].event};
      for (uint32_t edge = graph->groups[group].first_edge; edge < graph->groups[group + 1].first_edge;
           ++edge) {
        if (graph->kind(edge) != EdgeKind::kObject) continue;
        Node from = graph->edges[edge].from;
        auto truth = execution.truth;
        std::erase_if(truth.edges, [&](const TrueEdge& each) {
          return each.kind == EdgeKind::kObject && each.from == from && each.to == to;
        });
        if (truth.pasts(kCausalKinds)[truth.place(to)][truth.place(from)]) {
          ++ordered;
        } else {
          wanted.push_back({graph->edges[edge].label, from, to});
        }
      }
    }
    lucky += wanted.size();
    std::ranges::sort(found);
    std::ranges::sort(wanted);
    ASSERT_EQ(found, wanted);
  }
  EXPECT_GT(lucky, 1000u);
  EXPECT_GT(ordered, 1000u);
}

}  // namespace
}  // namespace pastcone::causal
