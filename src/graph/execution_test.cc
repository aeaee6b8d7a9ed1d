// Which edges a recording's streams have by themselves, without what a replay tells.
#include "pastcone/graph/execution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "pastcone/graph/steps.h"
#include "pastcone/trace/testing/recording_builder.h"

namespace pastcone::graph {
namespace {

using causal::EdgeKind;
using trace_testing::MemoryRecording;
using trace_testing::RecordingBuilder;
using trace_testing::StreamBuilder;

constexpr uint32_t kWrite = 1, kGetPid = 39, kClone = 56, kFork = 57, kWait4 = 61, kWaitId = 247;

using Names = std::vector<std::string>;

ThreadId thread(uint32_t process, uint32_t number = 1) { return {ProcessId(process), number}; }

/// siginfo, so far as anybody looks at it.
std::string info(int32_t code, uint32_t pid) {
  std::string bytes(128, '\0');
  std::memcpy(bytes.data() + 8, &code, 4);
  std::memcpy(bytes.data() + 16, &pid, 4);
  return bytes;
}
std::string status(int32_t value) { return {reinterpret_cast<const char*>(&value), sizeof value}; }

class StreamEdges : public ::testing::Test {
 protected:
  StreamEdges() { p1.start(100, 100, EventId(), format::kStartProcess | format::kStartRoot, 1); }

  /// A process whose only thread ends with its event 2.
  static StreamBuilder child(uint32_t number, uint32_t pid, EventId parent, uint8_t flags = 0) {
    StreamBuilder stream(thread(number));
    stream.start(pid, pid, parent, format::kStartProcess | flags, number).exit_group(0);
    return stream;
  }
  /// "p2:2 p1:3", an arrow each, sorted; "into p1:3" where it leads to entering.
  Names edges(EdgeKind kind, std::vector<StreamBuilder*> others) {
    RecordingBuilder builder;
    p1.exit_group(0);
    builder.packed(p1);
    for (StreamBuilder* each : others) builder.packed(*each);
    MemoryRecording made(builder);
    causal::Execution execution = read_execution(*made.recording, facts).value();
    auto name = [&](causal::Node node) {
      return fmt::format("{}{}:{}", node.event % 2 != 0 ? "into " : "", execution.threads[node.thread].id,
                         (node.event + 1) / 2);
    };
    Names found;
    for (const causal::EdgeInput& edge : execution.edges) {
      if (edge.kind == kind) found.push_back(name(edge.from) + " " + name(edge.to));
    }
    std::ranges::sort(found);
    return found;
  }

  StreamBuilder p1{thread(1)};
  Facts facts;  ///< what a replay has told, if there was one
};

TEST_F(StreamEdges, AWaitComesAfterTheEnd) {
  p1.create(kFork, 101, thread(2)).out(kWait4, 101, status(0));
  StreamBuilder p2 = child(2, 101, EventId(thread(1), 2));
  EXPECT_EQ(edges(EdgeKind::kWait, {&p2}), (Names{"p2:2 p1:3"}));
}

TEST_F(StreamEdges, AlsoOfAllThreads) {
  p1.create(kFork, 101, thread(2)).out(kWaitId, 0, info(CLD_EXITED, 101));
  StreamBuilder p2(thread(2)), second(thread(2, 2));
  p2.start(101, 101, EventId(thread(1), 2), format::kStartProcess, 2).create(kClone, 102, thread(2, 2));
  second.start(101, 102, EventId(thread(2), 2), 0, 3).result(kGetPid, 101).thread_exit(0);
  p2.exit_group(0);
  EXPECT_EQ(edges(EdgeKind::kWait, {&p2, &second}), (Names{"p2.2:3 p1:3", "p2:3 p1:3"}));
}

TEST_F(StreamEdges, WhoIsStoppedHasNotEnded) {
  p1.create(kFork, 101, thread(2)).out(kWait4, 101, status(0x137f)).out(kWaitId, 0, info(CLD_STOPPED, 101));
  StreamBuilder p2 = child(2, 101, EventId(thread(1), 2));
  EXPECT_EQ(edges(EdgeKind::kWait, {&p2}), Names());
}

TEST_F(StreamEdges, TheSignalOfAnEndComesAfterIt) {
  p1.create(kFork, 101, thread(2)).signal(format::Op::kSignal, SIGCHLD, info(CLD_KILLED, 101));
  StreamBuilder p2 = child(2, 101, EventId(thread(1), 2));
  EXPECT_EQ(edges(EdgeKind::kSignal, {&p2}), (Names{"p2:2 p1:3"}));
}

TEST_F(StreamEdges, APidMeansWhoHadItThen) {
  p1.create(kFork, 101, thread(2)).out(kWait4, 101, status(0));  // p1:2, p1:3
  p1.create(kFork, 101, thread(3)).out(kWait4, 101, status(0));  // p1:4, p1:5
  StreamBuilder p2 = child(2, 101, EventId(thread(1), 2)), p3 = child(3, 101, EventId(thread(1), 4));
  EXPECT_EQ(edges(EdgeKind::kWait, {&p2, &p3}), (Names{"p2:2 p1:3", "p3:2 p1:5"}));
}

TEST_F(StreamEdges, NotSomebodyElsesChild) {
  p1.create(kFork, 101, thread(2)).out(kWait4, 101, status(0));
  StreamBuilder p2(thread(2)), p3 = child(3, 101, EventId(thread(2), 2));
  p2.start(101, 101, EventId(thread(1), 2), format::kStartProcess, 2)
      .create(kFork, 101, thread(3))
      .exit_group(0);
  EXPECT_EQ(edges(EdgeKind::kWait, {&p2, &p3}), (Names{"p2:3 p1:3"}));
}

TEST_F(StreamEdges, WhichOfTwoOrphansWithOnePidNobodyKnows) {
  p1.create(kFork, 101, thread(2)).out(kWait4, 102, status(0));
  StreamBuilder p2(thread(2)), p3 = child(3, 102, EventId(thread(2), 2)),
                               p4 = child(4, 102, EventId(thread(2), 3));
  p2.start(101, 101, EventId(thread(1), 2), format::kStartProcess, 2).create(kFork, 102, thread(3));
  p2.create(kFork, 102, thread(4)).exit_group(0);
  EXPECT_EQ(edges(EdgeKind::kWait, {&p2, &p3, &p4}), Names());
}

TEST_F(StreamEdges, AnOrphanMayBeWaitedForByAnother) {
  p1.create(kFork, 101, thread(2)).out(kWait4, 102, status(0));
  StreamBuilder p2(thread(2)), p3 = child(3, 102, EventId(thread(2), 2));
  p2.start(101, 101, EventId(thread(1), 2), format::kStartProcess, 2)
      .create(kFork, 102, thread(3))
      .exit_group(0);
  EXPECT_EQ(edges(EdgeKind::kWait, {&p2, &p3}), (Names{"p3:2 p1:3"}));
}

TEST_F(StreamEdges, AVforkReturnsWhenTheChildHasEndedOrExecuted) {
  p1.create(kFork, 101, thread(2)).create(kFork, 102, thread(3));
  StreamBuilder p2 = child(2, 101, EventId(thread(1), 2), format::kStartVfork), p3(thread(3));
  p3.start(102, 102, EventId(thread(1), 3), format::kStartProcess | format::kStartVfork, 3);
  p3.exec({"/bin/other"}).exit_group(0);
  EXPECT_EQ(edges(EdgeKind::kHandOver, {&p2, &p3}), (Names{"into p3:2 into p1:4", "p2:2 into p1:3"}));
}

TEST_F(StreamEdges, TurnsAreHandedOver) {
  StreamBuilder second(thread(1, 2));
  p1.create(kClone, 101, thread(1, 2)).turn(format::Op::kTurn, 1, 3).result(kGetPid, 100);
  second.start(100, 101, EventId(thread(1), 2), 0, 2).turn(format::Op::kTurnAfter, 1, 2).result(kGetPid, 100);
  second.thread_exit(0);
  EXPECT_EQ(edges(EdgeKind::kHandOver, {&second}), (Names{"into p1:3 into p1.2:2", "p1.2:3 p1:3"}));
}

TEST_F(StreamEdges, EventsAreInTheOrderOfTheirNumbersInParallelMode) {
  StreamBuilder second(thread(1, 2));
  p1.create(kClone, 101, thread(1, 2)).result(kGetPid, 100).turn(format::Op::kTurnAfter, 1, 4).exit_group(0);
  second.start(100, 101, EventId(thread(1), 2), 0, 2).turn(format::Op::kTurn, 1, 3).result(kGetPid, 100);
  second.thread_exit(0);
  RecordingBuilder builder;
  builder.manifest.parallel = true;
  MemoryRecording made(builder.packed(p1).packed(second));
  facts.list = {{thread(1), 3, FactKind::kTurnAfter, 1, 4, 0, leaving(3), 7}};
  LockEdges locks;
  ASSERT_TRUE(read_execution(*made.recording, facts, locks));
  ASSERT_EQ(locks.edges.size(), 2u);
  EXPECT_EQ(locks.edges[0].from, (Place{thread(1), leaving(3), 0}));
  EXPECT_EQ(locks.edges[0].to, (Place{thread(1, 2), leaving(2), 0}));
  EXPECT_EQ(locks.edges[1].from, (Place{thread(1, 2), leaving(2), 0}));
  EXPECT_EQ(locks.edges[1].to, (Place{thread(1), leaving(3), 7}));
  EXPECT_EQ(locks.edges[1].kind, EdgeKind::kHandOver);
}

TEST_F(StreamEdges, BytesAreSentInTheOrderOfTheirPositions) {
  p1.create(kFork, 101, thread(2)).offset(0).send(kWrite, 8, 10);
  StreamBuilder p2(thread(2));
  p2.start(101, 101, EventId(thread(1), 2), format::kStartProcess, 2)
      .offset(10)
      .send(kWrite, 8, 5)
      .exit_group(0);
  EXPECT_EQ(edges(EdgeKind::kHandOver, {&p2}), (Names{"p1:3 p2:2"}));
}

/// Who may send what is a FIFO's is open; a pipe may be opened by a descriptor's name, too.
TEST_F(StreamEdges, AReplayTellsWhatIsAFifo) {
  constexpr uint32_t kOpenAt = 257;
  p1.create(kFork, 101, thread(2))
      .open(kOpenAt, 8, 5, "")
      .offset(0)
      .send(kWrite, 8, 10)
      .offset(0)
      .send(kWrite, 10, 10);
  StreamBuilder p2(thread(2));
  p2.start(101, 101, EventId(thread(1), 2), format::kStartProcess, 2).offset(10).send(kWrite, 8, 5);
  p2.offset(10).send(kWrite, 10, 5).exit_group(0);
  facts.list = {{thread(1), 3, FactKind::kFifo, 10, 0, 0}};
  EXPECT_EQ(edges(EdgeKind::kHandOver, {&p2}), (Names{"p1:4 p2:2"}));
}

TEST_F(StreamEdges, WithoutItAllThatIsOpenedByName) {
  constexpr uint32_t kOpenAt = 257;
  p1.create(kFork, 101, thread(2)).open(kOpenAt, 8, 5, "").offset(0).send(kWrite, 8, 10);
  StreamBuilder p2(thread(2));
  p2.start(101, 101, EventId(thread(1), 2), format::kStartProcess, 2)
      .offset(10)
      .send(kWrite, 8, 5)
      .exit_group(0);
  EXPECT_EQ(edges(EdgeKind::kHandOver, {&p2}), Names());
}

TEST_F(StreamEdges, AnAcceptComesAfterTheConnectHasBegun) {
  constexpr uint32_t kConnect = 42, kAccept4 = 288;
  p1.create(kFork, 101, thread(2)).open(kAccept4, 9, 7, "");
  StreamBuilder p2(thread(2));
  p2.start(101, 101, EventId(thread(1), 2), format::kStartProcess, 2).open(kConnect, 8, 0, "").exit_group(0);
  EXPECT_EQ(edges(EdgeKind::kAccept, {&p2}), (Names{"into p2:2 p1:3"}));
}

}  // namespace
}  // namespace pastcone::graph
