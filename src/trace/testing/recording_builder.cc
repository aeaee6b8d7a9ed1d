#include "pastcone/trace/testing/recording_builder.h"

#include <stdlib.h>

#include <cstring>

#include "pastcone/base/check.h"
#include "pastcone/trace/file_names.h"
#include "pastcone/trace/pack_writer.h"

namespace pastcone::trace_testing {
namespace {

namespace fs = std::filesystem;

void write_bytes(const Path& path, ByteView bytes) {
  if (bytes.empty()) return;
  Status written = write_file_atomic(path, as_text(bytes));
  CHECK(written.has_value(), "{}", written.error().message);
}

}  // namespace

TemporaryDirectory::TemporaryDirectory() {
  char name[] = "/tmp/pastcone-test-XXXXXX";
  CHECK(mkdtemp(name) != nullptr);
  path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code error;
  fs::remove_all(path_, error);
}

RecordingBuilder::RecordingBuilder() {
  manifest.id = "0123456789abcdef";
  manifest.host = "lab";
  manifest.kernel = "6.1.0";
  manifest.machine = "x86_64";
  manifest.cpu = {"fpu", "sse2"};
  manifest.command = {"./tool", "--flag"};
  manifest.cwd = "/tmp";
  manifest.pastcone = "0.1.0";
  manifest.started_ns = 1'700'000'000'000'000'000;
  manifest.ended_ns = 1'700'000'002'500'000'000;
  manifest.state = Manifest::State::kComplete;
  manifest.exit_status = 0;
}

RecordingBuilder& RecordingBuilder::packed(const StreamBuilder& stream, bool ended) {
  for (BuiltChunk& chunk : stream.chunks(ended)) packed_.push_back(std::move(chunk));
  return *this;
}

RecordingBuilder& RecordingBuilder::living(const StreamBuilder& stream) {
  manifest.state = Manifest::State::kRecording;
  manifest.ended_ns = 0;
  manifest.exit_status.reset();
  for (BuiltChunk& chunk : stream.chunks(false)) {
    bool closed = (chunk.header.flags & format::kChunkClosed) != 0;
    (closed ? packed_ : live_).push_back(std::move(chunk));
  }
  return *this;
}

RecordingBuilder& RecordingBuilder::add_packed(BuiltChunk chunk) {
  packed_.push_back(std::move(chunk));
  return *this;
}

RecordingBuilder& RecordingBuilder::add_live(BuiltChunk chunk) {
  live_.push_back(std::move(chunk));
  return *this;
}

Bytes RecordingBuilder::pack() const {
  TemporaryDirectory directory;
  auto writer = PackWriter::create(directory.path());
  CHECK(writer.has_value());
  for (size_t i = 0; i < packed_.size(); i += chunks_per_record) {
    std::vector<PackedChunk> batch;
    for (size_t j = i; j < packed_.size() && j < i + chunks_per_record; ++j) {
      batch.push_back({packed_[j].header, packed_[j].bytes});
    }
    CHECK(writer->append(batch).has_value());
  }
  auto bytes = pastcone::read_file(directory.path() / kPackName);
  CHECK(bytes.has_value() && bytes->size() == writer->bytes_written());
  return Bytes(bytes->begin(), bytes->end());
}

Bytes RecordingBuilder::live() const {
  Bytes bytes((live_.size() + 1) * format::kChunkSize);  // the first slot was never used
  for (size_t i = 0; i < live_.size(); ++i) {
    uint8_t* slot = bytes.data() + (i + 1) * format::kChunkSize;
    std::memcpy(slot, &live_[i].header, sizeof live_[i].header);
    std::memcpy(slot + sizeof live_[i].header, live_[i].bytes.data(), live_[i].bytes.size());
  }
  return live_.empty() ? Bytes() : bytes;
}

void RecordingBuilder::write(const Path& directory) const {
  fs::create_directories(directory);
  write_bytes(directory / kPackName, pack());
  write_bytes(directory / kLiveName, live());
  write_bytes(directory / kFileTableName, as_bytes(files));
  write_bytes(directory / kManifestName, as_bytes(manifest.to_json()));
}

MemoryRecording::MemoryRecording(const RecordingBuilder& builder)
    : MemoryRecording(builder.pack(), builder.live(), builder.manifest.to_json(), builder.files) {}

MemoryRecording::MemoryRecording(Bytes pack_bytes, Bytes live_bytes, std::string manifest_text,
                                 std::string files_text)
    : pack(std::move(pack_bytes)),
      live(std::move(live_bytes)),
      manifest(std::move(manifest_text)),
      files(std::move(files_text)),
      recording(Recording::from_bytes({pack, live, manifest, files})) {}

RecordingBuilder family() {
  constexpr int64_t kNow = 1'700'000'000'000'000'000;
  ThreadId p1(ProcessId(1), 1), p1_2(ProcessId(1), 2), p2(ProcessId(2), 1);
  StreamBuilder first(p1), second(p1_2), child(p2);
  first.start(100, 100, EventId(), format::kStartProcess | format::kStartRoot, kNow)
      .file(1, "/usr/bin/tool")
      .exec({"/usr/bin/tool", "--flag"})
      .create(57, 101, p2)
      .create(56, 102, p1_2)
      .send(1, 12, 45)
      .output(1, 0, 0)
      .result(1, 6)
      .realtime(kNow + 1'000'000)
      .exit_group(3);
  second.start(100, 102, EventId(p1, 4), format::kStartThread, kNow + 200).out(0, 5, "hello").thread_exit(0);
  child.start(101, 101, EventId(p1, 3), format::kStartProcess, kNow + 100)
      .exec({"/bin/cat", "-n"})
      .receive(0, 12, 45)
      .receive(0, 12, -11)
      .signal(format::Op::kSignal, 10, std::string(128, 's'));
  RecordingBuilder builder;
  builder.files =
      R"({"id":1,"path":"/usr/bin/tool","size":12345,"mtime_ns":1,"hash":"00ff","kept":"files/1"})"
      "\n";
  builder.packed(first).packed(second).packed(child, false);
  return builder;
}

RecordingBuilder two_writers() {
  constexpr uint32_t kRead = 0, kWrite = 1, kFork = 57;
  ThreadId p1(ProcessId(1), 1), p2(ProcessId(2), 1), p3(ProcessId(3), 1);
  StreamBuilder reader(p1), second(p2), third(p3);
  reader.start(100, 100, EventId(), format::kStartProcess | format::kStartRoot, 1)
      .exec({"/bin/two"})
      .create(kFork, 101, p2)
      .create(kFork, 102, p3)
      .offset(0)
      .receive(kRead, 12, 10)
      .offset(10)
      .receive(kRead, 12, 10)
      .exit_group(0);
  second.start(101, 101, EventId(p1, 3), format::kStartProcess, 2)
      .offset(0)
      .send(kWrite, 12, 10)
      .exit_group(0);
  third.start(102, 102, EventId(p1, 4), format::kStartProcess, 3)
      .offset(10)
      .send(kWrite, 12, 10)
      .offset(20)
      .send(kWrite, 12, 10)
      .exit_group(0);
  return RecordingBuilder().packed(reader).packed(second).packed(third);
}

}  // namespace pastcone::trace_testing
