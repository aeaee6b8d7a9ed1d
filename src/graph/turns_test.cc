#include "pastcone/graph/turns.h"

#include <gtest/gtest.h>

namespace pastcone::graph {
namespace {

using causal::Node;
using format::Op;

Item event(Op op, uint64_t number) {
  Item item;
  item.op = op;
  item.event = number;
  return item;
}

Item turn(Op op, uint64_t group, uint64_t number) {
  Item item;
  item.op = op;
  item.object = group;
  item.number = number;
  return item;
}

ThreadId thread(uint32_t process, uint32_t number) { return {ProcessId(process), number}; }

void scan(uint32_t index, ThreadId id, Images& images, Turns& turns, const std::vector<Item>& items,
          bool parallel = false) {
  TurnScan scan(index, id, images, parallel);
  for (const Item& item : items) scan.take(item, turns);
  scan.finish(turns);
}

TEST(TurnsOfAGroup, AreHandedOverOnEnteringAnEventOrOnLeavingOne) {
  Images images;
  Turns turns;
  // The first thread gives its first turn up inside event 3, has the third from then on, and gives it up
  // behind event 4.
  scan(0, thread(1, 1), images, turns,
       {event(Op::kStart, 1), event(Op::kCall, 2), turn(Op::kTurn, 1, 3), event(Op::kCall, 3),
        event(Op::kCall, 4), turn(Op::kTurnAfter, 1, 0), turn(Op::kTurnAfter, 1, 5),
        event(Op::kExitGroup, 5)});
  scan(1, thread(1, 2), images, turns,
       {event(Op::kStart, 1), turn(Op::kTurnAfter, 1, 2), event(Op::kCall, 2), turn(Op::kTurn, 1, 4),
        event(Op::kCall, 3), event(Op::kThreadExit, 4)});
  auto edges = std::move(turns).hand_overs();
  ASSERT_EQ(edges.size(), 4u);
  EXPECT_EQ(edges[0].from, (Node{0, entering(3)}));
  EXPECT_EQ(edges[0].to, (Node{1, entering(2)}));
  EXPECT_EQ(edges[1].from, (Node{1, entering(3)}));
  EXPECT_EQ(edges[1].to, (Node{0, leaving(3)}));
  EXPECT_EQ(edges[2].from, (Node{0, leaving(4)}));
  EXPECT_EQ(edges[2].to, (Node{1, leaving(3)}));
  EXPECT_EQ(edges[3].from, (Node{1, leaving(4)}));
  EXPECT_EQ(edges[3].to, (Node{0, entering(5)}));
}

TEST(TurnsOfAGroup, AreGivenUpByTheFirstThreadInWhatItNeverFinished) {
  Images images;
  Turns turns;
  scan(0, thread(1, 1), images, turns, {event(Op::kStart, 1), event(Op::kCall, 2)});
  scan(1, thread(1, 2), images, turns,
       {event(Op::kStart, 1), turn(Op::kTurn, 1, 2), event(Op::kCall, 2), event(Op::kExitGroup, 3)});
  auto edges = std::move(turns).hand_overs();
  ASSERT_EQ(edges.size(), 1u);
  EXPECT_EQ(edges[0].from, (Node{0, entering(3)}));
  EXPECT_EQ(edges[0].to, (Node{1, leaving(2)}));
}

TEST(TurnsOfAGroup, PassThoseWhoDidNothingWithThem) {
  Images images;
  Turns turns;
  // The second thread gets the turn in the middle of event 2, in vain, and once more; the third one has it in
  // between.
  scan(0, thread(1, 1), images, turns,
       {event(Op::kStart, 1), event(Op::kCall, 2), turn(Op::kTurnAfter, 1, 0), turn(Op::kTurnAfter, 1, 6),
        event(Op::kExitGroup, 3)});
  turns.add({1, 0}, {1, {0, 1}, leaving(2)});
  scan(1, thread(1, 2), images, turns,
       {event(Op::kStart, 1), turn(Op::kTurn, 1, 2), turn(Op::kTurn, 1, 4), event(Op::kCall, 2),
        event(Op::kThreadExit, 3)});
  scan(2, thread(1, 3), images, turns,
       {event(Op::kStart, 1), turn(Op::kTurnAfter, 1, 3), event(Op::kCall, 2), turn(Op::kTurnAfter, 1, 0),
        turn(Op::kTurnAfter, 1, 5), turn(Op::kTurnAfter, 1, 7), event(Op::kThreadExit, 3)});
  std::vector<std::pair<Node, Node>> found;
  for (const auto& edge : std::move(turns).hand_overs()) found.emplace_back(edge.from, edge.to);
  std::vector<std::pair<Node, Node>> expected{{{0, leaving(2)}, {2, entering(2)}},   // 1 → 3
                                              {{1, entering(2)}, {2, entering(2)}},  // 2 → 3
                                              {{2, leaving(2)}, {1, leaving(2)}},    // 3 → 4
                                              {{1, leaving(3)}, {0, entering(3)}},   // 4 → 6
                                              {{2, leaving(2)}, {0, entering(3)}},   // 5 → 6
                                              {{0, leaving(3)}, {2, entering(3)}}};  // 6 → 7
  EXPECT_EQ(found, expected);
}

TEST(TurnsOfAGroup, AreWaitedForByWhoGoesOnInAnotherGroup) {
  Images images;
  Turns turns;
  // p2 joins the group of p1 in its event 2; before that p3 has had their turn once more.
  scan(0, thread(2, 1), images, turns,
       {event(Op::kStart, 1), turn(Op::kTurn, 2, 3), turn(Op::kTurn, 1, 2), event(Op::kCall, 2),
        event(Op::kExitGroup, 3)});
  scan(1, thread(3, 1), images, turns,
       {event(Op::kStart, 1), turn(Op::kTurnAfter, 2, 2), event(Op::kCall, 2), event(Op::kExitGroup, 3)});
  std::vector<std::pair<Node, Node>> found;
  for (const auto& edge : std::move(turns).hand_overs())
    if (edge.to.thread == 0) found.emplace_back(edge.from, edge.to);
  EXPECT_EQ(found, (std::vector<std::pair<Node, Node>>{{{1, leaving(3)}, {0, leaving(2)}}}));
}

TEST(TurnsOfAGroup, AreHandedOverByTheFirstWhoGoesOnInAnotherGroup) {
  Images images;
  Turns turns;
  scan(0, thread(2, 1), images, turns,
       {event(Op::kStart, 1), event(Op::kCall, 2), turn(Op::kTurn, 1, 4), event(Op::kCall, 3),
        event(Op::kExitGroup, 4)});
  scan(1, thread(3, 1), images, turns,
       {event(Op::kStart, 1), turn(Op::kTurnAfter, 2, 2), event(Op::kCall, 2), event(Op::kExitGroup, 3)});
  auto edges = std::move(turns).hand_overs();
  ASSERT_EQ(edges.size(), 1u);
  EXPECT_EQ(edges[0].from, (Node{0, entering(3)}));
  EXPECT_EQ(edges[0].to, (Node{1, entering(2)}));
}

TEST(TurnsOfAGroup, AreCountedAnewInAnotherProgram) {
  Images images;
  Turns turns;
  Item start = event(Op::kStart, 1);
  start.thread = thread(1, 1);
  start.parent_event = 1;
  Item later = start;
  later.parent_event = 5;
  scan(0, thread(1, 1), images, turns,
       {event(Op::kStart, 1), turn(Op::kTurn, 1, 3), event(Op::kCall, 2), event(Op::kExec, 3),
        event(Op::kCall, 4), event(Op::kCall, 5), turn(Op::kTurn, 1, 3), event(Op::kExitGroup, 6)});
  scan(1, thread(1, 2), images, turns, {start, turn(Op::kTurnAfter, 1, 2), event(Op::kThreadExit, 2)});
  scan(2, thread(1, 3), images, turns, {later, turn(Op::kTurnAfter, 1, 2), event(Op::kThreadExit, 2)});
  for (const auto& edge : std::move(turns).hand_overs()) {
    bool first_program = edge.from.thread == 1 || edge.to.thread == 1;
    const Node& mine = edge.from.thread == 0 ? edge.from : edge.to;
    EXPECT_EQ(first_program, mine.event < entering(3)) << mine.event;
  }
}

Item creation(uint64_t number, ThreadId created) {
  Item item = event(Op::kCall, number);
  item.shape = format::Shape::kCreate;
  item.thread = created;
  return item;
}

TEST(EventsInParallel, ComeOneAfterTheOther) {
  Images images;
  Turns turns;
  // Numbers begin with the first thread that is made, and clocks have none. Number 5 was needed behind
  // event 5.
  scan(0, thread(1, 1), images, turns,
       {event(Op::kStart, 1), event(Op::kExec, 2), event(Op::kCall, 3), creation(4, thread(1, 2)),
        event(Op::kCall, 5), turn(Op::kTurnAfter, 1, 5), event(Op::kRealtime, 6), event(Op::kCall, 7),
        turn(Op::kTurn, 1, 8), event(Op::kExitGroup, 8)},
       true);
  Item start = event(Op::kStart, 1);
  start.thread = thread(1, 1);
  start.parent_event = 4;
  scan(1, thread(1, 2), images, turns,
       {start, turn(Op::kTurn, 1, 3), event(Op::kCall, 2), event(Op::kCall, 3), turn(Op::kTurn, 1, 7),
        event(Op::kThreadExit, 4)},
       true);
  Turns again = turns;
  auto names = [](const std::vector<std::pair<Numbered, Numbered>>& edges) {
    std::vector<std::string> found;
    for (const auto& [from, to] : edges)
      found.push_back(
          fmt::format("{}{} {}{}", from.number, from.behind ? "+" : "", to.number, to.behind ? "+" : ""));
    return found;
  };
  auto all = std::move(turns).in_order([](const Numbered&) { return true; });
  EXPECT_EQ(names(all), (std::vector<std::string>{"2 3", "4 5+", "6 7", "7 8"}));
  EXPECT_EQ(all[0].first.leaving, (Node{0, leaving(5)}));
  EXPECT_EQ(all[1].second.leaving, (Node{0, leaving(5)}));
  EXPECT_EQ(all[3].second.leaving, (Node{0, leaving(8)}));
  // Where that is, is not known without a replay.
  auto some = std::move(again).in_order([](const Numbered&) { return false; });
  EXPECT_EQ(names(some), (std::vector<std::string>{"2 3", "4 6", "6 7", "7 8"}));
}

}  // namespace
}  // namespace pastcone::graph
