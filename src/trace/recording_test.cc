#include "pastcone/trace/recording.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <random>

#include "pastcone/trace/pack_writer.h"
#include "pastcone/trace/stream_reader.h"
#include "pastcone/trace/testing/recording_builder.h"

namespace pastcone {
namespace {

namespace fs = std::filesystem;
using trace_testing::BuiltChunk;
using trace_testing::every_item;
using trace_testing::family;
using trace_testing::MemoryRecording;
using trace_testing::RecordingBuilder;
using trace_testing::StreamBuilder;
using trace_testing::TemporaryDirectory;

const ThreadId kThread(ProcessId(1), 1);

/// A thread of many small chunks.
StreamBuilder many_chunks(int calls = 100) {
  StreamBuilder stream(kThread, 40);
  for (int i = 0; i < calls; ++i) stream.out(0, i, fmt::format("payload {}", i));
  return stream;
}

/// Reads everything; how many events, or the error.
std::string read_events(const Recording& recording, ThreadId thread = kThread) {
  StreamReader reader(recording, thread);
  while (true) {
    auto item = reader.next();
    if (!item) return item.error().message;
    if (!*item) return std::to_string(reader.events());
    auto payload = reader.payload(**item);
    if (!payload) return payload.error().message;
    if ((*item)->is_call() && as_text(*payload) != fmt::format("payload {}", (*item)->result))
      return "wrong payload";
  }
}

TEST(Recording, OnDisk) {
  TemporaryDirectory directory;
  RecordingBuilder builder;
  builder.packed(many_chunks());
  builder.write(directory.path() / "r");
  auto recording = Recording::open(directory.path() / "r");
  ASSERT_TRUE(recording) << recording.error().message;
  EXPECT_TRUE(recording->damage().empty());
  EXPECT_TRUE(recording->complete());
  EXPECT_FALSE(recording->growing());
  EXPECT_EQ(recording->threads().size(), 1u);
  EXPECT_EQ(recording->process_count(), 1u);
  EXPECT_EQ(read_events(*recording), "100");
  EXPECT_GT(recording->stream_bytes(format::Stream::kData).raw, 900u);
  EXPECT_EQ(recording->stream_bytes(format::Stream::kData).live, 0u);
  uint64_t packed = recording->stream_bytes(format::Stream::kData).packed +
                    recording->stream_bytes(format::Stream::kEvents).packed;
  EXPECT_LE(packed, recording->pack_bytes());
  EXPECT_GT(packed * 2, recording->pack_bytes());
}

TEST(Recording, ChunksInAnyOrder) {
  RecordingBuilder builder;
  builder.packed(many_chunks());
  std::shuffle(builder.packed_chunks().begin(), builder.packed_chunks().end(), std::mt19937(1));
  MemoryRecording memory(builder);
  EXPECT_TRUE(memory.recording->damage().empty());
  EXPECT_EQ(read_events(*memory.recording), "100");
}

TEST(Recording, LargeRecordsAreSplit) {
  StreamBuilder stream(kThread);
  std::string bytes(1 << 20, 'x');
  for (int i = 0; i < 10; ++i) stream.out(17, 1, bytes);
  RecordingBuilder builder;
  builder.chunks_per_record = 1000;
  builder.packed(stream);
  MemoryRecording memory(builder);
  ASSERT_TRUE(memory.recording);
  EXPECT_TRUE(memory.recording->damage().empty());
  EXPECT_EQ(memory.recording->stream_bytes(format::Stream::kData).raw, 10u << 20);
}

TEST(Recording, UnfinishedReadsToItsLastEvent) {
  MemoryRecording memory(RecordingBuilder().living(many_chunks()));
  ASSERT_TRUE(memory.recording);
  EXPECT_TRUE(memory.recording->damage().empty());
  EXPECT_FALSE(memory.live.empty());
  EXPECT_EQ(read_events(*memory.recording), "100");
  EXPECT_GT(memory.recording->stream_bytes(format::Stream::kEvents).live, 0u);
}

TEST(Recording, OnlyLive) {
  TemporaryDirectory directory;
  RecordingBuilder builder;
  StreamBuilder stream(kThread);
  stream.out(0, 0, "payload 0");
  builder.living(stream).write(directory.path());
  fs::remove(directory.path() / "trace.pack");
  auto recording = Recording::open(directory.path());
  ASSERT_TRUE(recording) << recording.error().message;
  EXPECT_EQ(read_events(*recording), "1");
}

TEST(Recording, ThePackWinsOverLive) {
  RecordingBuilder builder;
  builder.living(many_chunks());
  BuiltChunk stale = builder.packed_chunks()[1];
  std::memset(stale.bytes.data(), 0xee, stale.bytes.size());
  builder.add_live(stale);
  MemoryRecording memory(builder);
  EXPECT_TRUE(memory.recording->damage().empty());
  EXPECT_EQ(read_events(*memory.recording), "100");
}

TEST(Recording, LiveHoldsOtherThings) {
  RecordingBuilder builder;
  builder.living(many_chunks());
  MemoryRecording sound(builder);
  Bytes live = sound.live;
  std::memcpy(live.data(), "PCHF", 4);  // a hand-over, in a chunk that is not one
  live.resize(live.size() + 100, 0xff);
  MemoryRecording memory(sound.pack, live, sound.manifest, "");
  EXPECT_TRUE(memory.recording->damage().empty());
  EXPECT_EQ(read_events(*memory.recording), "100");
}

TEST(Recording, TornTailOfAnUnfinishedOne) {
  RecordingBuilder builder;
  builder.packed(many_chunks(), false);
  builder.chunks_per_record = 1;
  builder.manifest.state = Manifest::State::kRecording;
  MemoryRecording whole(builder);
  for (size_t cut : {1, 10, 23, 24, 30}) {
    Bytes pack(whole.pack.begin(), whole.pack.end() - static_cast<ptrdiff_t>(cut));
    MemoryRecording memory(pack, {}, whole.manifest, "");
    ASSERT_TRUE(memory.recording);
    EXPECT_TRUE(memory.recording->damage().empty()) << memory.recording->damage()[0];
    EXPECT_NE(read_events(*memory.recording),
              "100");  // data is last in the pack: an event misses its payload
  }
}

TEST(Recording, TornTailOfACompleteOneIsDamage) {
  RecordingBuilder builder;
  builder.packed(many_chunks());
  MemoryRecording whole(builder);
  Bytes pack(whole.pack.begin(), whole.pack.end() - 5);
  MemoryRecording memory(pack, {}, whole.manifest, "");
  ASSERT_TRUE(memory.recording);
  EXPECT_NE(memory.recording->damage().at(0).find("is cut off"), std::string::npos);
}

TEST(Recording, CutAtARecordIsDamageToo) {
  RecordingBuilder builder;
  builder.packed(many_chunks());
  builder.manifest.pack_bytes = 123456;
  MemoryRecording memory(builder);
  EXPECT_NE(memory.recording->damage().at(0).find("not 123456"), std::string::npos);
}

TEST(Recording, OneThatStoppedEarlyIsCheckedJustAsWell) {
  RecordingBuilder builder;
  builder.packed(many_chunks());
  EXPECT_EQ(MemoryRecording(builder).recording->why_incomplete(), "");
  builder.manifest.state = Manifest::State::kIncomplete;
  builder.manifest.why = "p2 is not recorded after p2:7: shmget";
  EXPECT_TRUE(MemoryRecording(builder).recording->damage().empty());
  builder.manifest.pack_bytes = 123456;
  MemoryRecording memory(builder);
  EXPECT_NE(memory.recording->damage().at(0).find("not 123456"), std::string::npos);
  EXPECT_EQ(memory.recording->why_incomplete(), builder.manifest.why);
}

TEST(Recording, MissingChunkIsNamed) {
  RecordingBuilder builder;
  builder.packed(many_chunks());
  builder.packed_chunks().erase(builder.packed_chunks().begin() + 3);
  MemoryRecording memory(builder);
  ASSERT_TRUE(memory.recording);
  EXPECT_EQ(memory.recording->damage(),
            std::vector<std::string>{"p1: chunk 3 of its events is missing, it ends there"});
  EXPECT_NE(read_events(*memory.recording).find("chunk 3 of its events is missing"), std::string::npos);
}

TEST(Recording, EveryFlippedByteOfThePackIsNoticed) {
  StreamBuilder stream(kThread, 200);
  for (int i = 0; i < 60; ++i) stream.out(0, i, fmt::format("payload {}", i));
  for (auto state : {Manifest::State::kComplete, Manifest::State::kRecording}) {
    RecordingBuilder builder;
    builder.packed(stream);
    builder.manifest.state = state;
    MemoryRecording whole(builder);
    for (size_t at = 0; at < whole.pack.size(); ++at) {
      if (at >= 10 && at < 16) continue;  // reserved
      for (int bit : {0x01, 0x80}) {
        Bytes pack = whole.pack;
        pack[at] = static_cast<uint8_t>(pack[at] ^ bit);
        MemoryRecording memory(pack, {}, whole.manifest, "");
        if (memory.recording) {
          EXPECT_FALSE(memory.recording->damage().empty()) << "byte " << at;
        }
      }
    }
  }
}

TEST(Recording, DamageInTheMiddleLeavesTheRest) {
  RecordingBuilder builder;
  for (uint32_t process = 1; process <= 3; ++process) {
    StreamBuilder stream(ThreadId(ProcessId(process), 1));
    builder.packed(stream.result(3, 0).result(3, 1));
  }
  builder.chunks_per_record = 1;
  MemoryRecording whole(builder);
  Bytes pack = whole.pack;
  pack[pack.size() / 2] ^= 1;
  MemoryRecording memory(pack, {}, whole.manifest, "");
  ASSERT_TRUE(memory.recording);
  ASSERT_EQ(memory.recording->damage().size(), 1u);
  EXPECT_NE(memory.recording->damage()[0].find("record 2 at byte"), std::string::npos);
  EXPECT_NE(memory.recording->damage()[0].find("wrong checksum"), std::string::npos);
  EXPECT_EQ(memory.recording->threads().size(), 2u);
}

std::string refusal(const Path& path) {
  auto recording = Recording::open(path);
  return recording ? "accepted" : recording.error().message;
}

TEST(Recording, WhatIsNotOneGetsASentence) {
  TemporaryDirectory directory;
  const Path& path = directory.path();
  EXPECT_NE(refusal(path / "nowhere").find("No such file"), std::string::npos);
  EXPECT_NE(refusal(path).find("has no manifest.json"), std::string::npos);
  ASSERT_TRUE(write_file_atomic(path / "file", "text"));
  EXPECT_NE(refusal(path / "file").find("a recording is a directory"), std::string::npos);

  RecordingBuilder builder;
  builder.packed(many_chunks()).write(path / "r");
  ASSERT_TRUE(write_file_atomic(path / "r/trace.pack", ""));
  EXPECT_NE(refusal(path / "r").find("is empty"), std::string::npos);
  ASSERT_TRUE(write_file_atomic(path / "r/trace.pack", "#!/bin/sh\necho a foreign file\n"));
  EXPECT_NE(refusal(path / "r").find("not written by pastcone"), std::string::npos);
  ASSERT_TRUE(write_file_atomic(path / "r/trace.pack", std::string("PASTCONE\x63\0\0\0\0\0\0\0", 16)));
  EXPECT_NE(refusal(path / "r").find("cannot read format 99"), std::string::npos);
  fs::remove(path / "r/trace.pack");
  EXPECT_NE(refusal(path / "r").find("trace.pack is missing"), std::string::npos);
  ASSERT_TRUE(write_file_atomic(path / "r/manifest.json", ""));
  EXPECT_NE(refusal(path / "r").find("manifest.json is damaged"), std::string::npos);
}

TEST(Recording, NoFifoMakesUsWait) {
  TemporaryDirectory directory;
  RecordingBuilder builder;
  builder.living(many_chunks()).write(directory.path());
  for (const char* name : {"trace.pack", "live", "files.jsonl", "manifest.json"}) {
    Path saved = directory.path() / "saved", path = directory.path() / name;
    bool exists = fs::exists(path);
    if (exists) fs::rename(path, saved);
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    EXPECT_NE(refusal(directory.path()).find("not a regular file"), std::string::npos) << name;
    fs::remove(path);
    if (exists) fs::rename(saved, path);
  }
  EXPECT_EQ(refusal(directory.path()), "accepted");
}

TEST(PackWriter, ManyEmptyChunksAreBounded) {
  RecordingBuilder builder;
  BuiltChunk empty = StreamBuilder(kThread).result(3, 0).chunks(false).at(0);
  empty.bytes.clear();
  for (int i = 0; i < 60000; ++i) builder.add_packed(empty);
  builder.chunks_per_record = 60000;
  MemoryRecording memory(builder);
  ASSERT_TRUE(memory.recording);
  EXPECT_TRUE(memory.recording->threads().empty());
}

TEST(PackWriter, DoesNotOverwrite) {
  TemporaryDirectory directory;
  ASSERT_TRUE(PackWriter::create(directory.path()));
  EXPECT_FALSE(PackWriter::create(directory.path()));
}

TEST(PackWriter, AFullDiskLeavesWholeRecords) {
  TemporaryDirectory directory;
  pid_t child = fork();
  if (child == 0) {  // RLIMIT_FSIZE stands for the full disk
    signal(SIGXFSZ, SIG_IGN);
    auto writer = PackWriter::create(directory.path());
    BuiltChunk chunk = many_chunks().chunks(true).at(0);
    PackedChunk packed{chunk.header, chunk.bytes};
    bool ok = writer && writer->append(std::span(&packed, 1));
    uint64_t before = writer->bytes_written();
    rlimit limit{before + 10, before + 10};
    setrlimit(RLIMIT_FSIZE, &limit);
    ok = ok && !writer->append(std::span(&packed, 1)) && writer->bytes_written() == before &&
         fs::file_size(directory.path() / "trace.pack") == before;
    _exit(ok ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(Live, KnowsWhetherTheRecorderIsAtWork) {
  TemporaryDirectory directory;
  EXPECT_FALSE(recorder_at_work(directory.path()));
  ASSERT_TRUE(write_file_atomic(directory.path() / "live", "x"));
  EXPECT_FALSE(recorder_at_work(directory.path()));
  int ready[2], done[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(done), 0);
  pid_t child = fork();
  if (child == 0) {
    int fd = open((directory.path() / "live").c_str(), O_RDWR);
    struct flock lock {};
    lock.l_type = F_WRLCK;
    fcntl(fd, F_SETLK, &lock);
    char byte = 0;
    _exit(write(ready[1], &byte, 1) == 1 && read(done[0], &byte, 1) == 1 ? 0 : 1);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_TRUE(recorder_at_work(directory.path()));
  ASSERT_EQ(write(done[1], &byte, 1), 1);
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(recorder_at_work(directory.path()));
}

}  // namespace
}  // namespace pastcone
