// The packer and the service, with this test in the place of the recorded processes.
#include <gtest/gtest.h>
#include <sys/random.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <random>

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
  uint32_t write_chunk(uint32_t thread, uint32_t sequence, size_t size, char filler,
                       format::Stream stream = format::Stream::kData) {
    uint32_t index = __atomic_fetch_add(&stage_.header().next_chunk, 1, __ATOMIC_SEQ_CST);
    while (load(stage_.header().chunks_ready) <= index && load(stage_.header().stopped) == 0) usleep(100);
    if (load(stage_.header().stopped) != 0) return index;
    format::ChunkHeader header{};
    header.magic = format::kChunkMagic;
    header.version = format::kVersion;
    header.stream = static_cast<uint8_t>(stream);
    header.process = 1;
    header.thread = thread;
    header.sequence = sequence;
    header.used = static_cast<uint32_t>(size);
    std::memset(live_.chunk(index) + sizeof header, filler, size);
    std::memcpy(live_.chunk(index), &header, sizeof header);
    return index;
  }
  /// A chunk of locks with these bytes.
  uint32_t write_locks(uint32_t thread, uint32_t sequence, ByteView bytes) {
    uint32_t index = write_chunk(thread, sequence, bytes.size(), 0, format::Stream::kLocks);
    std::memcpy(live_.chunk(index) + sizeof(format::ChunkHeader), bytes.data(), bytes.size());
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

/// What two threads write that hand one lock to and fro: how often they had it, and the other one had it. So
/// each has the same numbers, and nothing in it comes twice.
class PackingLocks : public Packing {
 protected:
  Bytes numbers_ = random_bytes(8 * format::kChunkRoom + 1);

  static Bytes random_bytes(size_t size) {
    std::mt19937 random(1);
    Bytes bytes(size);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    return bytes;
  }
  uint32_t write_numbers(uint32_t thread, uint32_t sequence) {
    size_t at = sequence * size_t{format::kChunkRoom} + (thread == 2 ? 1 : 0);
    return write_locks(thread, sequence, ByteView(numbers_).subspan(at, format::kChunkRoom));
  }
  void expect_one_for_two() {
    live_.remove();
    auto recording = Recording::open(directory_).value();
    EXPECT_TRUE(recording.damage().empty());
    StreamBytes size = recording.stream_bytes(format::Stream::kLocks);
    EXPECT_GT(size.raw, 0u);
    EXPECT_LT(size.packed, size.raw * 6 / 10);
    for (uint32_t thread : {1u, 2u}) {
      const StreamIndex& locks = recording.threads().at(ThreadId(ProcessId(1), thread)).locks;
      Bytes chunk(format::kChunkRoom), all;
      for (const ChunkRef& ref : locks.chunks) {
        ASSERT_TRUE(recording.read_chunk(ref, chunk.data()));
        all.insert(all.end(), chunk.begin(), chunk.begin() + ref.used);
      }
      ByteView expected = ByteView(numbers_).subspan(thread == 2 ? 1 : 0, all.size());
      EXPECT_TRUE(std::equal(all.begin(), all.end(), expected.begin())) << thread;
    }
  }
};

TEST_F(PackingLocks, OneThreadsEntriesAreFoundInAnothers) {
  Packer packer(stage_, live_, PackWriter::create(directory_).value());
  ASSERT_EQ(live_.grow(32), 0);
  store(stage_.header().chunks_ready, 32u);
  std::vector<uint32_t> closed;
  for (uint32_t thread : {1u, 2u}) {
    closed.push_back(write_chunk(thread, 0, format::kChunkRoom, 'e', format::Stream::kEvents));
  }
  for (uint32_t i = 0; i < 8; ++i) {
    for (uint32_t thread : {1u, 2u}) closed.push_back(write_numbers(thread, i));
  }
  for (uint32_t index : closed) live_.header(index).flags = format::kChunkClosed;
  packer.start();
  packer.add(closed);
  for (int i = 0; i < 1000 && packer.backlog() > 0; ++i) usleep(10'000);
  EXPECT_EQ(packer.backlog(), 0u);
  ASSERT_TRUE(packer.finish(true));
  expect_one_for_two();
}

TEST_F(PackingLocks, AlsoInOnesThatWereNeverClosed) {
  Packer packer(stage_, live_, PackWriter::create(directory_).value());
  ASSERT_EQ(live_.grow(8), 0);
  store(stage_.header().chunks_ready, 8u);
  for (uint32_t thread : {1u, 2u}) write_chunk(thread, 0, 100, 'e', format::Stream::kEvents);
  write_numbers(1, 0);
  uint32_t closed = write_numbers(2, 0);
  live_.header(closed).flags = format::kChunkClosed;
  packer.start();
  packer.add({closed});
  ASSERT_TRUE(packer.finish(true));
  expect_one_for_two();
}

}  // namespace
}  // namespace pastcone::record
