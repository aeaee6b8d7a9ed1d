#include "pastcone/graph/transfers.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include "pastcone/causal/build.h"
#include "pastcone/causal/cut.h"
#include "pastcone/graph/steps.h"

namespace pastcone::graph {
namespace {

using format::Op;
using format::Shape;

constexpr uint64_t kChannel = 24;

Item item(Op op, uint64_t number) {
  Item item;
  item.op = op;
  item.number = item.position = number;
  item.object = 1;  // the group
  item.result = static_cast<int64_t>(number);
  return item;
}

Item offset(uint64_t position) { return item(Op::kOffset, position); }
Item turn(uint64_t number) { return item(Op::kTurn, number); }

Item call(Shape shape, uint64_t length) {
  Item call = item(Op::kCall, length);
  call.shape = shape;
  call.channel = kChannel;
  call.length = length;
  return call;
}
Item send(uint64_t length) { return call(Shape::kSend, length); }
Item receive(uint64_t length) { return call(Shape::kReceive, length); }
Item corrected(int64_t result) {
  Item correction = item(Op::kCorrect, 0);
  correction.result = result;
  return correction;
}

/// As who reads it does.
Item open_fifo() {
  Item open = call(Shape::kOpen, 3);
  open.call = SYS_openat;
  open.channel = kChannel + 1 + 1;
  return open;
}

class TransfersOf : public testing::Test {
 protected:
  /// The next thread, of p1 or p2. Events are counted from 1.
  void thread(uint32_t process, std::vector<Item> items) {
    auto index = static_cast<uint32_t>(execution_.threads.size());
    uint32_t number = 1;
    for (const auto& other : execution_.threads) number += other.id.process().number() == process;
    ThreadId id(ProcessId(process), number);
    TurnScan scan(index, id, images_);
    TransferScan transfer(index, transfers_);
    uint64_t event = 0;
    for (Item& each : items) {
      if (is_event(each.op)) each.event = ++event;
      scan.take(each, turns_);
      transfer.take(each, scan);
    }
    scan.finish(turns_);
    transfer.finish();
    execution_.threads.push_back({id, scan.last(), {}, false, true});
  }

  causal::Execution& finish() {
    execution_.edges = std::move(turns_).hand_overs();
    std::move(transfers_).finish(execution_);
    return execution_;
  }

  /// p2 sends twice ten bytes; two threads of p1 receive them, the one with the first turn those at `first`.
  void two_readers(uint64_t first, uint64_t second) {
    thread(1, {turn(5), offset(first), receive(10)});
    thread(1, {turn(7), offset(second), receive(10)});
    thread(2, {offset(0), send(10), offset(10), send(10)});
  }

 private:
  causal::Execution execution_;
  Images images_;
  Turns turns_;
  Transfers transfers_;
};

TEST_F(TransfersOf, APipeComeInTheOrderOfPositions) {
  two_readers(0, 10);
  causal::Execution& made = finish();
  EXPECT_TRUE(made.channels[0].in_order);
  auto graph = causal::build(std::move(made));
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_FALSE(causal::consistent(*graph, std::vector<uint32_t>{0, 2, 4}, causal::Order::kCausal));
}

TEST_F(TransfersOf, EqualMessagesMayBeExchanged) {
  two_readers(10, 0);
  causal::Execution& made = finish();
  EXPECT_FALSE(made.channels[0].in_order);
  auto graph = causal::build(std::move(made));
  EXPECT_TRUE(graph) << graph.error().message;
}

TEST_F(TransfersOf, AFifoComeInAnyOrder) {
  two_readers(0, 10);
  thread(2, {open_fifo()});
  causal::Execution& made = finish();
  EXPECT_FALSE(made.channels[0].in_order);
  auto graph = causal::build(std::move(made));
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_TRUE(causal::consistent(*graph, std::vector<uint32_t>{0, 2, 4, 0}, causal::Order::kCausal));
}

TEST_F(TransfersOf, ThoseWhoLookSayNothingAboutTheOrder) {
  // The second thread looks at what the first one takes later.
  thread(1, {turn(7), offset(0), receive(10)});
  thread(1, {turn(5), offset(0), receive(10)});
  thread(2, {offset(0), send(10)});
  causal::Execution& made = finish();
  EXPECT_FALSE(made.channels[0].in_order);
  auto graph = causal::build(std::move(made));
  EXPECT_TRUE(graph) << graph.error().message;
}

TEST_F(TransfersOf, APipeLeaveNothingWhenTheyFail) {
  thread(1, {offset(0), send(10), corrected(-4), offset(10), send(10)});
  causal::Execution& made = finish();
  ASSERT_EQ(made.sends.size(), 1u);
  EXPECT_EQ(made.sends[0].begin, 10u);
}

TEST_F(TransfersOf, AFifoKeepTheirPlaces) {
  // The first ones did not go, or in part.
  thread(1, {open_fifo(), offset(0), send(10), corrected(-4), offset(10), send(10), corrected(3), offset(20),
             send(5)});
  causal::Execution& made = finish();
  EXPECT_FALSE(made.channels[0].messages);
  ASSERT_EQ(made.sends.size(), 3u);
  EXPECT_EQ(made.sends[0].length, 10u);
  EXPECT_EQ(made.sends[1].length, 10u);
}

TEST_F(TransfersOf, ACallInPiecesAreCorrectedOnceEach) {
  // Three bytes went, then two; then it was interrupted, and gave what went in all.
  constexpr int64_t kContinue = -(int64_t{1} << 20);
  thread(1, {send(10), corrected(kContinue - 3), send(7), corrected(kContinue - 2), corrected(5), send(4)});
  causal::Execution& made = finish();
  ASSERT_EQ(made.sends.size(), 3u);
  EXPECT_EQ(made.sends[1].length, 2u);
  EXPECT_EQ(made.sends[2].begin, 5u);
}

TEST_F(TransfersOf, MessagesHaveAFreePositionBeforeEach) {
  thread(1, {offset(1), send(10), offset(12), send(0), offset(13), send(4)});
  EXPECT_TRUE(finish().channels[0].messages);
}

TEST_F(TransfersOf, AStreamThatSomebodyElseSentOnTooAreNoMessages) {
  thread(1, {offset(0), send(10), offset(30), send(10), offset(40), send(1)});
  EXPECT_FALSE(finish().channels[0].messages);
}

TEST_F(TransfersOf, AProgramFollowThoseOfTheOneBefore) {
  // Turns are counted anew, and a thread that is alone has none.
  thread(1, {turn(1), send(10), item(Op::kExec, 0), send(7)});
  thread(1, {turn(2), send(3)});
  causal::Execution& made = finish();
  ASSERT_EQ(made.sends.size(), 3u);
  EXPECT_EQ(made.sends[2].at, (causal::Node{0, leaving(3)}));
  EXPECT_EQ(made.sends[2].begin, 13u);
}

TEST_F(TransfersOf, AnEndBeforeItIsSharedComeFirst) {
  // The first process has executed a program, the other one, which it created, has not.
  thread(1, {item(Op::kExec, 0), send(10), send(10)});
  thread(2, {offset(20), send(5), offset(25), send(5)});
  causal::Execution& made = finish();
  ASSERT_EQ(made.sends.size(), 4u);
  EXPECT_EQ(made.sends[0].at, (causal::Node{0, leaving(2)}));
  EXPECT_EQ(made.sends[1].begin, 10u);
}

TEST_F(TransfersOf, AReceiverWhoHasLookedBeginWhereItLooked) {
  thread(1, {receive(4), offset(4), receive(10), receive(10)});
  causal::Execution& made = finish();
  ASSERT_EQ(made.receives.size(), 3u);
  EXPECT_EQ(made.receives[1].begin, 4u);
  EXPECT_EQ(made.receives[2].begin, 4u);
}

}  // namespace
}  // namespace pastcone::graph
