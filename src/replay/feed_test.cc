#include "pastcone/replay/feed.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pastcone/record/shared_stage.h"
#include "pastcone/replay/output.h"
#include "pastcone/replay/temporary_file.h"
#include "pastcone/trace/testing/recording_builder.h"

namespace pastcone::replay {
namespace {

using trace_testing::MemoryRecording;
using trace_testing::RecordingBuilder;
using trace_testing::StreamBuilder;

ThreadId thread(uint32_t process, uint32_t number = 1) { return ThreadId(ProcessId(process), number); }

std::string read_at(int fd, uint64_t offset, uint64_t size) {
  std::string bytes(size, '\0');
  EXPECT_EQ(pread(fd, bytes.data(), size, static_cast<off_t>(offset)), static_cast<ssize_t>(size));
  return bytes;
}

/// A stream's bytes, straight from its chunks.
std::string joined(const StreamBuilder& stream, format::Stream kind) {
  std::string bytes;
  for (const auto& chunk : stream.chunks(true)) {
    if (chunk.header.stream == static_cast<uint8_t>(kind)) bytes += as_text(chunk.bytes);
  }
  return bytes;
}

class FeedTest : public testing::Test {
 protected:
  record::SharedStage stage_ = record::SharedStage::create(stage::Mode::kReplay, 0, "/tmp").value();
  stage::View view_ = stage_.view();
};

TEST_F(FeedTest, HoldsEveryStreamInOnePiece) {
  std::vector<StreamBuilder> streams;
  for (ThreadId id : {thread(1), thread(1, 3), thread(4)}) {
    StreamBuilder& stream = streams.emplace_back(id, 100);
    stream.start(1, 1, {}, format::kStartProcess, 1);
    for (int i = 0; i < 60; ++i) stream.out(0, 30, std::string(30, static_cast<char>('a' + i % 26)));
    stream.exit_group(0);
  }
  RecordingBuilder builder;
  for (const StreamBuilder& stream : streams) builder.packed(stream);
  MemoryRecording memory(builder);
  const Recording& recording = memory.recording.value();
  RunSummary run = RunSummary::read(recording).value();
  FeedLayout layout = lay_out_feed(recording, run, view_).value();
  EXPECT_EQ(layout.processes, 4u);
  EXPECT_EQ(layout.threads, 4u);  // p1.1, nothing, p1.3, p4.1
  EXPECT_EQ(view_.process(1).first_thread, 0u);
  EXPECT_EQ(view_.process(1).thread_count, 3u);
  EXPECT_EQ(view_.process(4).first_thread, 3u);
  EXPECT_EQ(view_.thread(1).events_size, 0u);
  EXPECT_EQ(view_.thread(1).process, 1u);
  EXPECT_EQ(view_.thread(1).thread, 2u);

  Feed feed = Feed::create(recording, stage_, layout).value();
  feed.start();
  ASSERT_TRUE(feed.finish());
  for (const StreamBuilder& stream : streams) {
    const stage::ThreadSlot& slot = view_.thread(thread_slot(view_, stream.thread()));
    EXPECT_EQ(slot.process, stream.thread().process().number());
    EXPECT_EQ(slot.thread, stream.thread().number());
    EXPECT_EQ(slot.complete, 1u);
    EXPECT_EQ(slot.events_offset % 4096, 0u);
    EXPECT_EQ(slot.data_offset % 4096, 0u);
    EXPECT_EQ(read_at(feed.fd(), slot.events_offset, slot.events_size),
              joined(stream, format::Stream::kEvents));
    EXPECT_EQ(read_at(feed.fd(), slot.data_offset, slot.data_size), joined(stream, format::Stream::kData));
    EXPECT_EQ(slot.data_ready, slot.data_size);
  }
}

TEST_F(FeedTest, TooManyThreadsAreAnError) {
  StreamBuilder stream(thread(1, stage::kMaxThreads + 1));
  stream.start(1, 1, {}, format::kStartProcess, 1);
  RecordingBuilder builder;
  builder.packed(stream);
  MemoryRecording memory(builder);
  EXPECT_FALSE(lay_out_feed(memory.recording.value(), RunSummary(), view_));
}

TEST_F(FeedTest, ChannelsLieApartInTheStore) {
  RunSummary run;
  run.channels = {{}, {}, {10}, {5000}, {stage::kStoreBlock + 1}, {0, 1, 2}};
  EXPECT_EQ(lay_out_store(run, view_), 4096u * 5 + stage::kStoreBlock);
  EXPECT_EQ(view_.connection(1).direction[0].store_size, 10u);
  EXPECT_EQ(view_.connection(1).direction[0].first_block, 0u);
  EXPECT_EQ(view_.connection(1).direction[1].store_size, 5000u);
  EXPECT_EQ(view_.connection(1).direction[1].first_block, 2u);
  EXPECT_EQ(view_.connection(2).direction[1].first_block, 8u);
  EXPECT_NE(view_.connection(2).direction[0].lead, stage::kKeepAll);
  EXPECT_EQ(view_.connection(2).direction[1].lead, stage::kKeepAll);
  EXPECT_EQ(view_.header().store_blocks, 74u);
  EXPECT_EQ(view_.header().store_size, 2 * 4096u + 74 * stage::kStoreBlock);
}

TEST(TemporaryFile, ALargeOneIsOnDisk) {
  for (uint64_t size : {uint64_t{1}, uint64_t{1} << 60}) {
    UniqueFd file = temporary_file("a test", size).value();
    EXPECT_EQ(pwrite(file.get(), "x", 1, 1 << 30), 1);
    EXPECT_EQ(fcntl(file.get(), F_GETFD), FD_CLOEXEC);
  }
}

TEST_F(FeedTest, OutputIsPrintedInOrderAsSoonAsItIsThere) {
  UniqueFd file = temporary_file("a test", 11).value();
  ASSERT_EQ(pwrite(file.get(), "onetwothree", 11, 0), 11);
  auto done = [this](uint64_t order, uint64_t position, uint32_t length) {
    view_.output(order).position = position;
    view_.output(order).length = length;
    record::store(view_.output(order).fd_and_done, uint32_t{0x101});
  };
  OutputPrinter printer(view_, {0, 1, 5}, file.get(), true);
  testing::internal::CaptureStdout();
  EXPECT_TRUE(printer.advance());
  done(1, 3, 3);
  EXPECT_TRUE(printer.advance());
  done(0, 0, 3);
  EXPECT_TRUE(printer.advance());
  done(5, 6, 5);
  EXPECT_TRUE(printer.advance());
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "onetwothree");
}

}  // namespace
}  // namespace pastcone::replay
