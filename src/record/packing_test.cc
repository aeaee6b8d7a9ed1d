// The packer and the service, with this test in the place of the recorded processes.
#include <gtest/gtest.h>
#include <sys/random.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "pastcone/record/packer.h"
#include "pastcone/record/service.h"
#include "pastcone/trace/recording.h"

namespace pastcone::record {
namespace {

class Packing : public testing::Test {
 protected:
  Packing() {
    setenv("XDG_CACHE_HOME", (directory_ / "cache").c_str(), 1);
    Manifest manifest;
    manifest.state = Manifest::State::kRecording;
    EXPECT_TRUE(manifest.write(directory_));
  }
  ~Packing() override {
    unsetenv("XDG_CACHE_HOME");
    std::filesystem::remove_all(directory_);
  }

  /// What a runtime does: takes a chunk, fills it.
  uint32_t write_chunk(uint32_t thread, uint32_t sequence, size_t size, char filler) {
    uint32_t index = __atomic_fetch_add(&stage_.header().next_chunk, 1, __ATOMIC_SEQ_CST);
    while (load(stage_.header().chunks_ready) <= index && load(stage_.header().stopped) == 0) usleep(100);
    if (load(stage_.header().stopped) != 0) return index;
    format::ChunkHeader header{};
    header.magic = format::kChunkMagic;
    header.version = format::kVersion;
    header.stream = static_cast<uint8_t>(format::Stream::kData);
    header.process = 1;
    header.thread = thread;
    header.sequence = sequence;
    header.used = static_cast<uint32_t>(size);
    std::memset(live_.chunk(index) + sizeof header, filler, size);
    std::memcpy(live_.chunk(index), &header, sizeof header);
    return index;
  }
  void close_chunk(uint32_t index) {
    live_.header(index).flags = format::kChunkClosed;
    ChunkStack(stage_.view(), stage_.header().closed_chunks).push(index);
    stage_.notify();
  }
  static Path make_directory() {
    char name[] = "/tmp/packing_test.XXXXXX";
    return mkdtemp(name);
  }

  Path directory_ = make_directory();
  SharedStage stage_ = SharedStage::create(stage::Mode::kRecord, 0, "/tmp").value();
  LiveFile live_ = LiveFile::create(directory_).value();
};

TEST_F(Packing, ClosedChunksComeBackFree) {
  Packer packer(stage_, live_, PackWriter::create(directory_).value());
  Service service(stage_, live_, packer, {});
  ASSERT_TRUE(service.prepare(directory_, PatchCache(directory_ / "cache", {}), false));
  ASSERT_TRUE(service.first_chunks());
  packer.start();
  service.start();
  for (uint32_t i = 0; i < 100; ++i) close_chunk(write_chunk(1, i, format::kChunkRoom, 'x'));
  write_chunk(2, 0, 1000, 'y');  // and one that is never closed
  // They come back in several lots, as the service finds them.
  size_t freed = 0;
  for (int i = 0; i < 1000 && freed < 100; ++i) {
    freed += ChunkStack(stage_.view(), stage_.header().free_chunks).pop_all().size();
    if (freed < 100) usleep(10'000);
  }
  EXPECT_EQ(freed, 100u);
  EXPECT_EQ(packer.backlog(), 0u);
  for (int i = 0; i < 1000 && load(stage_.header().chunks_ready) < 133; ++i) usleep(10'000);
  EXPECT_GE(load(stage_.header().chunks_ready), load(stage_.header().next_chunk) + 32);

  service.stop();
  ASSERT_TRUE(packer.finish(true));
  live_.remove();
  auto recording = Recording::open(directory_).value();
  EXPECT_TRUE(recording.damage().empty());
  EXPECT_EQ(recording.stream_bytes(format::Stream::kData).raw, 100u * format::kChunkRoom + 1000);
  EXPECT_LT(recording.pack_bytes(), 20'000u);
}

TEST_F(Packing, TheLimitStopsRecordingAndNothingElse) {
  Packer packer(stage_, live_, PackWriter::create(directory_).value());
  Service service(stage_, live_, packer, 100'000);
  ASSERT_TRUE(service.prepare(directory_, PatchCache(directory_ / "cache", {}), false));
  ASSERT_TRUE(service.first_chunks());
  packer.start();
  service.start();
  // Compresses to next to nothing, so a megabyte does not reach the limit.
  for (uint32_t i = 0; i < 16; ++i) close_chunk(write_chunk(1, i, format::kChunkRoom, 'x'));
  for (int i = 0; i < 1000 && packer.backlog() > 0; ++i) usleep(10'000);
  EXPECT_EQ(load(stage_.header().stopped), 0u);
  // What does not compress does.
  for (uint32_t i = 0; i < 4; ++i) {
    uint32_t index = write_chunk(2, i, format::kChunkRoom, 'x');
    if (getrandom(live_.chunk(index) + sizeof(format::ChunkHeader), format::kChunkRoom, 0) < 0) break;
    close_chunk(index);
  }
  for (int i = 0; i < 1000 && load(stage_.header().stopped) == 0; ++i) usleep(10'000);
  EXPECT_EQ(load(stage_.header().stopped), static_cast<uint32_t>(format::StopReason::kMaxSize));
  service.stop();
  ASSERT_TRUE(packer.finish(true));
  EXPECT_LT(packer.packed_bytes(), 300'000u);
}

TEST_F(Packing, WhatIsInLiveIsPackedOnce) {
  Packer packer(stage_, live_, PackWriter::create(directory_).value());
  ASSERT_EQ(live_.grow(8), 0);
  store(stage_.header().chunks_ready, 8u);
  write_chunk(1, 0, 10, 'a');
  uint32_t empty = write_chunk(1, 1, 0, 'a');
  live_.header(empty).used = 0;
  write_chunk(2, 0, 20, 'b');
  ASSERT_TRUE(packer.finish(true));
  live_.remove();
  auto recording = Recording::open(directory_).value();
  EXPECT_EQ(recording.stream_bytes(format::Stream::kData).raw, 30u);
}

}  // namespace
}  // namespace pastcone::record
