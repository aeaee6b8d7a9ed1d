#include "pastcone/graph/fact_edges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "pastcone/graph/signals.h"
#include "pastcone/graph/steps.h"

namespace pastcone::graph {
namespace {

using causal::EdgeKind;
using causal::Node;

constexpr uint64_t kChannel = 12;  // the second thread of the tests receives on it
constexpr uint64_t kDoor = stage::kListener | 7;
constexpr uint32_t kConnect = 42, kAccept = 43;

ThreadId process(uint32_t number) { return {ProcessId(number), 1}; }

/// Processes p1 … p4 of one thread each, with places 0 … 3; a channel on which p1 sends 10 bytes in its
/// events 3 and 4 each, and p2 receives them in its events 5 and 7.
class FactEdges : public ::testing::Test {
 protected:
  FactEdges() {
    for (uint32_t i = 0; i < 4; ++i) {
      execution_.threads.push_back({process(i + 1), 100, {}, true, true});
      place_[process(i + 1)] = i;
    }
    execution_.channels.push_back({kChannel, false, true});
    execution_.sends = {{0, 10, 0, {0, leaving(3)}}, {10, 10, 0, {0, leaving(4)}}};
    execution_.receives = {{0, 10, 0, {1, leaving(5)}}, {10, 10, 0, {1, leaving(7)}}};
  }

  void fact(uint32_t by, uint64_t event, FactKind kind, uint64_t key, uint64_t number = 0,
            uint64_t more = 0) {
    facts_.list.push_back({process(by), event, kind, key, number, more});
  }
  void open(uint32_t by, uint64_t event, uint32_t call, uint64_t channel) {
    Item item;
    item.op = format::Op::kCall;
    item.shape = format::Shape::kOpen;
    item.call = call;
    item.event = event;
    item.channel = channel + 1;
    opens_.take(item, by - 1);
  }
  /// "p1:3 p2:4", an arrow each, sorted; "into p1:3" where it begins on the way into an event.
  std::vector<std::string> edges(EdgeKind kind) {
    ended_ = add_fact_edges(facts_, opens_, place_, execution_);
    std::vector<std::string> found;
    for (const causal::EdgeInput& edge : execution_.edges) {
      if (edge.kind == kind) found.push_back(name(edge.from) + " " + name(edge.to));
    }
    std::ranges::sort(found);
    return found;
  }
  static std::string name(Node node) {
    return fmt::format("{}p{}:{}", node.event % 2 != 0 ? "into " : "", node.thread + 1, (node.event + 1) / 2);
  }

  using Names = std::vector<std::string>;
  causal::Execution execution_;
  std::map<ThreadId, uint32_t> place_;
  Opens opens_;
  Facts facts_;
  std::vector<std::pair<uint32_t, Node>> ended_;
};

TEST_F(FactEdges, ADescriptorTellsOfTheEndOfAProcess) {
  fact(1, 5, FactKind::kReady, stage::kProcess | 102, 3);
  fact(3, 2, FactKind::kWatched, stage::kProcess | 103, 99, 5);
  fact(3, 6, FactKind::kPolled, 16, 99, 5);
  EXPECT_EQ(edges(EdgeKind::kReadiness), Names{});
  EXPECT_EQ(ended_, (std::vector<std::pair<uint32_t, Node>>{{102, {0, leaving(5)}}, {103, {2, leaving(6)}}}));
}

TEST_F(FactEdges, AnEndIsReachedWhenAllHaveClosedIt) {
  fact(1, 5, FactKind::kDropped, kChannel);
  fact(1, 6, FactKind::kDropped, kChannel);
  fact(3, 9, FactKind::kDropped, kChannel);
  fact(4, 9, FactKind::kDropped, kChannel + 2);
  fact(2, 8, FactKind::kEndOfFile, kChannel);
  EXPECT_EQ(edges(EdgeKind::kEof), (Names{"p1:6 p2:8", "p3:9 p2:8"}));
}

TEST_F(FactEdges, OrOneHasShutItDown) {
  fact(1, 5, FactKind::kShutDown, kChannel);
  fact(3, 9, FactKind::kDropped, kChannel);
  fact(2, 8, FactKind::kEndOfFile, kChannel);
  EXPECT_EQ(edges(EdgeKind::kEof), (Names{"p1:5 p2:8"}));
}

TEST_F(FactEdges, WhoHasShutItsOwnEndDownFindsAnEndThatNobodyMade) {
  fact(2, 7, FactKind::kShutDown, kChannel, 1);
  fact(2, 8, FactKind::kEndOfFile, kChannel);
  fact(1, 9, FactKind::kDropped, kChannel);
  EXPECT_EQ(edges(EdgeKind::kEof), Names{});
  fact(2, 6, FactKind::kEndOfFile, kChannel);  // before that
  EXPECT_EQ(edges(EdgeKind::kEof), (Names{"p1:9 p2:6"}));
}

TEST_F(FactEdges, WhatFailsForNobodyIsThereComesAfterTheyHaveGone) {
  fact(1, 5, FactKind::kDropped, kChannel);
  fact(3, 9, FactKind::kDropped, kChannel);
  fact(2, 8, FactKind::kEndOfFile, kChannel, EPIPE);
  fact(2, 10, FactKind::kEndOfFile, kChannel, ECONNRESET);
  EXPECT_EQ(edges(EdgeKind::kEof), (Names{"p1:5 p2:10", "p1:5 p2:8", "p3:9 p2:10", "p3:9 p2:8"}));
  execution_.edges.clear();
  fact(1, 4, FactKind::kShutDown, kChannel ^ 1, 1);
  EXPECT_EQ(edges(EdgeKind::kEof), (Names{"p1:4 p2:8", "p1:5 p2:10", "p3:9 p2:10"}));
  execution_.edges.clear();
  fact(2, 2, FactKind::kShutDown, kChannel ^ 1);
  EXPECT_EQ(edges(EdgeKind::kEof), (Names{"p1:5 p2:10", "p3:9 p2:10"}));
}

TEST_F(FactEdges, WhoHasHungUpIsKnownBeforeTheEndIsRead) {
  fact(1, 5, FactKind::kDropped, kChannel);
  fact(3, 2, FactKind::kWatched, kChannel, 99, 5);
  fact(2, 2, FactKind::kReady, kChannel, 7, 16);
  fact(3, 6, FactKind::kPolled, 16, 99, 5);
  EXPECT_EQ(edges(EdgeKind::kReadiness), (Names{"p1:3 p2:2", "p1:5 p2:2", "p1:5 p3:6"}));
}

TEST_F(FactEdges, AFifoThatWasClosedIsOpenedAgain) {
  execution_.sends[1].at.event = leaving(20);
  execution_.receives[1].at.event = leaving(30);
  fact(2, 1, FactKind::kFifo, kChannel);
  for (uint64_t event : {2, 10, 22, 40}) fact(1, event, FactKind::kDropped, kChannel);
  fact(3, 10, FactKind::kDropped, kChannel);  // when that was nobody knows
  for (uint64_t event : {4, 8, 9, 31}) fact(2, event, FactKind::kEndOfFile, kChannel);
  EXPECT_EQ(edges(EdgeKind::kEof), (Names{"p1:10 p2:8", "p1:22 p2:31"}));
}

TEST_F(FactEdges, SeveralEndsThatWereReadyAreReadOneAfterTheOther) {
  fact(1, 5, FactKind::kDropped, kChannel + 2);
  fact(1, 6, FactKind::kDropped, kChannel + 4);
  fact(2, 7, FactKind::kReady, kChannel + 2);
  fact(2, 7, FactKind::kReady, kChannel + 4);
  fact(2, 8, FactKind::kEndOfFile, kChannel + 2);
  fact(2, 9, FactKind::kEndOfFile, kChannel + 4);
  EXPECT_EQ(edges(EdgeKind::kReadiness), (Names{"p1:5 p2:7", "p1:6 p2:7"}));
}

TEST_F(FactEdges, AnEmptyMessageIsNoEnd) {
  execution_.receives.push_back({20, 0, 0, {1, leaving(8)}});
  fact(1, 5, FactKind::kDropped, kChannel);
  fact(2, 8, FactKind::kEndOfFile, kChannel);
  EXPECT_EQ(edges(EdgeKind::kEof), Names{});
}

TEST_F(FactEdges, WhatIsReceivedNextMadeItReady) {
  fact(2, 2, FactKind::kReady, kChannel);
  fact(2, 6, FactKind::kReady, kChannel);
  EXPECT_EQ(edges(EdgeKind::kReadiness), (Names{"p1:3 p2:2", "p1:4 p2:6"}));
}

TEST_F(FactEdges, OrWhatWasNeverReceivedOrTheEnd) {
  execution_.receives.pop_back();
  fact(2, 6, FactKind::kReady, kChannel);
  EXPECT_EQ(edges(EdgeKind::kReadiness), (Names{"p1:4 p2:6"}));
  execution_.edges.clear();
  execution_.sends.pop_back();
  fact(1, 9, FactKind::kDropped, kChannel);
  fact(2, 8, FactKind::kEndOfFile, kChannel);
  EXPECT_EQ(edges(EdgeKind::kReadiness), (Names{"p1:9 p2:6"}));
  execution_.edges.clear();
  fact(1, 8, FactKind::kShutDown, kChannel);
  EXPECT_EQ(edges(EdgeKind::kReadiness), (Names{"p1:8 p2:6"}));
}

TEST_F(FactEdges, WhereSeveralReceiveNobodyKnowsWhatMadeItReady) {
  execution_.receives[1].at.thread = 2;
  fact(2, 6, FactKind::kReady, kChannel);
  EXPECT_EQ(edges(EdgeKind::kReadiness), Names{});
}

TEST_F(FactEdges, EpollIsKnownByItsDataAlsoWhenItWasInherited) {
  execution_.threads[1].creator = {2, leaving(3)};
  fact(3, 2, FactKind::kWatched, kChannel, 99, 5);
  fact(2, 2, FactKind::kPolled, 0, 99, 5);
  fact(2, 6, FactKind::kPolled, 0, 98, 5);
  EXPECT_EQ(edges(EdgeKind::kReadiness), (Names{"p1:3 p2:2"}));
}

TEST_F(FactEdges, AConnectionNeedsAListenerAndMakesItReady) {
  open(3, 6, kConnect, 20);
  open(4, 8, kAccept, 21);
  fact(4, 2, FactKind::kListens, kDoor);
  fact(4, 7, FactKind::kReady, kDoor);
  fact(4, 8, FactKind::kAccepted, kDoor);
  EXPECT_EQ(edges(EdgeKind::kConnect), (Names{"p4:2 p3:6"}));
  execution_.edges.clear();
  EXPECT_EQ(edges(EdgeKind::kReadiness), (Names{"into p3:6 p4:7"}));
  execution_.edges.clear();
  opens_.add_edges(execution_);
  ASSERT_EQ(execution_.edges.size(), 1u);
  EXPECT_EQ(execution_.edges[0].kind, EdgeKind::kAccept);
  EXPECT_EQ(name(execution_.edges[0].from) + " " + name(execution_.edges[0].to), "into p3:6 p4:8");
}

TEST_F(FactEdges, OneOfSeveralAcceptorsMayHaveBeenTooLate) {
  open(3, 6, kConnect, 20);
  open(4, 8, kAccept, 21);
  fact(4, 7, FactKind::kReady, kDoor);
  fact(4, 8, FactKind::kAccepted, kDoor);
  fact(2, 9, FactKind::kAccepted, kDoor);
  EXPECT_EQ(edges(EdgeKind::kReadiness), Names{});
}

// --- signals

class SignalEdges : public FactEdges {
 protected:
  SignalEdges() {
    for (uint32_t number = 1; number <= 4; ++number) signals_.add_process(number, 100 + number);
  }
  void deliver(uint32_t to, uint64_t event, uint32_t signal, uint32_t sender, int32_t code = 0) {
    uint8_t info[128] = {};
    std::memcpy(info + 8, &code, 4);
    std::memcpy(info + 16, &sender, 4);
    signals_.take(to, signal, ByteView(info, sizeof info), {to - 1, leaving(event)});
  }
  Names edges() {
    signals_.add_edges(facts_, place_, execution_);
    Names found;
    for (const causal::EdgeInput& edge : execution_.edges)
      found.push_back(name(edge.from) + " " + name(edge.to));
    return found;
  }
  Signals signals_;
};

TEST_F(SignalEdges, TheNthOfASenderNeedsItsNthKill) {
  fact(1, 3, FactKind::kKilled, 102, 10);
  fact(3, 4, FactKind::kKilled, 102, 10);
  fact(1, 5, FactKind::kKilled, 103, 10);
  fact(1, 6, FactKind::kKilled, 102, 12);
  fact(1, 7, FactKind::kKilled, 102, 10);
  deliver(2, 8, 10, 101);
  deliver(2, 9, 10, 101);
  deliver(2, 10, 10, 999);
  EXPECT_EQ(edges(), (Names{"p1:3 p2:8", "p1:7 p2:9"}));
}

TEST_F(SignalEdges, WhoHadThePidBeforeWasMeantByEarlierKills) {
  execution_.threads[1].creator = {0, leaving(5)};
  fact(1, 3, FactKind::kKilled, 102, 10);
  fact(1, 6, FactKind::kKilled, 102, 10);
  deliver(2, 8, 10, 101);
  EXPECT_EQ(edges(), (Names{"p1:6 p2:8"}));
}

TEST_F(SignalEdges, ADeathNeedsTheOnlyKillThereWas) {
  fact(1, 3, FactKind::kKilled, 102, 15);
  signals_.take(2, 15, {}, {1, leaving(9)});
  EXPECT_EQ(edges(), (Names{"p1:3 p2:9"}));
  execution_.edges.clear();
  fact(3, 3, FactKind::kKilled, 102, 15);
  EXPECT_EQ(edges(), Names{});
}

TEST_F(SignalEdges, TheEndOfAChildIsToldByItsPid) {
  constexpr int32_t kExited = 1, kStopped = 5;
  deliver(1, 5, 17, 102, kExited);
  deliver(1, 6, 17, 103, kStopped);
  ASSERT_EQ(signals_.children().size(), 1u);
  EXPECT_EQ(signals_.children()[0].first, 102u);
}

}  // namespace
}  // namespace pastcone::graph
