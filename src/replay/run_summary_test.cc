#include "pastcone/replay/run_summary.h"

#include <gtest/gtest.h>

#include "pastcone/trace/testing/recording_builder.h"

namespace pastcone::replay {
namespace {

using format::Op;
using trace_testing::MemoryRecording;
using trace_testing::RecordingBuilder;
using trace_testing::StreamBuilder;

constexpr uint32_t kRead = 0, kWrite = 1, kRecvfrom = 45;

ThreadId thread(uint32_t process, uint32_t number = 1) { return ThreadId(ProcessId(process), number); }

StreamBuilder begin(ThreadId id) {
  StreamBuilder stream(id, 256);  // small chunks: many of them
  stream.start(100 + id.process().number(), 100, {}, format::kStartProcess, 1);
  return stream;
}

RunSummary summary(RecordingBuilder& builder) {
  builder.chunks_per_record = 3;
  MemoryRecording memory(builder);
  return RunSummary::read(memory.recording.value()).value();
}

TEST(RunSummary, ReceivesAddUpPerChannel) {
  StreamBuilder a = begin(thread(1)), b = begin(thread(2));
  for (int i = 0; i < 100; ++i) a.send(kWrite, 6, 10).receive(kRead, 7, 5);
  for (int i = 0; i < 50; ++i) b.receive(kRead, 6, 20).send(kWrite, 7, 10);
  b.receive(kRead, 6, 0).receive(kRead, 6, -11).exit_group(0);
  RecordingBuilder builder;
  builder.packed(a).packed(b);
  RunSummary run = summary(builder);
  ASSERT_EQ(run.channels.size(), 8u);
  EXPECT_EQ(run.channels[6].size(), 1000u);
  EXPECT_EQ(run.channels[7].size(), 500u);
  EXPECT_EQ(run.channels[0].size(), 0u);
  EXPECT_EQ(run.last_connection, 3u);
  EXPECT_EQ(run.events, a.events() + b.events());
  EXPECT_FALSE(run.threads[thread(1)].complete);
  EXPECT_TRUE(run.threads[thread(2)].complete);
  EXPECT_EQ(run.threads[thread(1)].events, a.events());
}

TEST(RunSummary, AnEndThatChangesHandsIsAddedUpToo) {
  // p1 reads 100 alone; from then on both hold the end, and say where they read.
  StreamBuilder a = begin(thread(1)), b = begin(thread(2));
  a.receive(kRead, 2, 100).offset(150).receive(kRead, 2, 30);
  b.offset(100).receive(kRead, 2, 50);
  RecordingBuilder builder;
  builder.packed(a).packed(b);
  EXPECT_EQ(summary(builder).channels[2].size(), 180u);
  EXPECT_FALSE(summary(builder).channels[2].peeked());
}

TEST(RunSummary, AnExplicitPositionCountsWhereAnEventWasLost) {
  StreamBuilder a = begin(thread(1));
  a.receive(kRead, 2, 10).offset(500).receive(kRecvfrom, 2, 20).offset(520).receive(kRead, 2, 1);
  RecordingBuilder builder;
  builder.packed(a);
  EXPECT_EQ(summary(builder).channels[2].size(), 521u);
}

TEST(RunSummary, APeekIsNoticed) {
  StreamBuilder a = begin(thread(1));
  a.receive(kRead, 2, 10).offset(10).receive(kRecvfrom, 2, 20).receive(kRead, 2, 20);
  RecordingBuilder builder;
  builder.packed(a);
  EXPECT_EQ(summary(builder).channels[2].size(), 30u);
  EXPECT_TRUE(summary(builder).channels[2].peeked());
}

TEST(RunSummary, AnEmptyMessageHasAPlace) {
  // Messages of 10 and 0 bytes, each behind a free position: that before the second is the last that is used.
  StreamBuilder a = begin(thread(1));
  a.offset(1).receive(kRecvfrom, 2, 10).offset(12).receive(kRecvfrom, 2, 0);
  RecordingBuilder builder;
  builder.packed(a);
  EXPECT_EQ(summary(builder).channels[2].size(), 12u);
}

TEST(RunSummary, OutputsAreSortedAndMayHaveGaps) {
  StreamBuilder a = begin(thread(1)), b = begin(thread(2));
  a.output(1, 0, 0).result(kWrite, 5).output(1, 4, 20).result(kWrite, 5);
  b.output(2, 1, 5).result(kWrite, 5);
  RecordingBuilder builder;
  builder.packed(a).packed(b);
  EXPECT_EQ(summary(builder).outputs, (std::vector<uint64_t>{0, 1, 4}));
}

TEST(RunSummary, TurnsTellTheGroups) {
  StreamBuilder a = begin(thread(1));
  a.turn(Op::kTurn, 7, 1).result(kRead, 0).turn(Op::kTurnAfter, 9, 2);
  RecordingBuilder builder;
  builder.packed(a);
  EXPECT_EQ(summary(builder).last_group, 9u);
}

TEST(RunSummary, AnOutputWithoutItsWriteDoesNotCount) {
  StreamBuilder a = begin(thread(1)), b = begin(thread(2));
  a.output(1, 0, 0).result(kWrite, 5).output(1, 1, 5);  // killed before it could say how much it wrote
  b.output(1, 2, 9).result(kWrite, 5);
  RecordingBuilder builder;
  builder.packed(a).packed(b);
  EXPECT_EQ(summary(builder).outputs, (std::vector<uint64_t>{0, 2}));
}

TEST(RunSummary, TurnsThatNobodyWroteDownAreGaps) {
  StreamBuilder a = begin(thread(1)), b = begin(thread(2));
  a.turn(Op::kTurn, 7, 2).result(kRead, 0).turn(Op::kTurn, 7, 4).result(kRead, 0);
  b.turn(Op::kTurn, 7, 3).result(kRead, 0).turn(Op::kTurnAfter, 7, 9).turn(Op::kTurn, 8, 5).result(kRead, 0);
  RecordingBuilder builder;
  builder.packed(a).packed(b);
  RunSummary run = summary(builder);
  auto gaps = [&](uint32_t group) {
    std::vector<std::pair<uint64_t, uint64_t>> found;
    run.turns[group].each_gap([&](uint64_t before, uint64_t next) { found.emplace_back(before, next); });
    return found;
  };
  EXPECT_EQ(gaps(7), (std::vector<std::pair<uint64_t, uint64_t>>{{4, 9}}));
  EXPECT_EQ(gaps(8), (std::vector<std::pair<uint64_t, uint64_t>>{{1, 5}}));
}

TEST(RunSummary, AChannelThatCannotBeIsDamage) {
  StreamBuilder a = begin(thread(1));
  a.receive(kRead, uint64_t{1} << 40, 5);
  RecordingBuilder builder;
  builder.packed(a);
  MemoryRecording memory(builder);
  EXPECT_FALSE(RunSummary::read(memory.recording.value()));
}

TEST(RunSummary, EveryThreadEndsAsItsLastItemSays) {
  StreamBuilder a = begin(thread(1)), b = begin(thread(1, 2)), c = begin(thread(1, 3)),
                d = begin(thread(1, 4));
  a.fatal(11);
  b.thread_exit(0);
  c.stop(format::StopReason::kUnsupportedCall, "io_uring");
  d.exit_group(0).result(kRead, 1);  // went on after a failed exec, say
  RecordingBuilder builder;
  builder.packed(a).packed(b).packed(c).packed(d);
  RunSummary run = summary(builder);
  EXPECT_TRUE(run.threads[thread(1)].complete);
  EXPECT_TRUE(run.threads[thread(1, 2)].complete);
  EXPECT_TRUE(run.threads[thread(1, 3)].complete);
  EXPECT_FALSE(run.threads[thread(1, 4)].complete);
}

}  // namespace
}  // namespace pastcone::replay
