// For tests: makes recordings, on disk or in memory, from streams that StreamBuilder wrote.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "pastcone/base/files.h"
#include "pastcone/trace/manifest.h"
#include "pastcone/trace/recording.h"
#include "pastcone/trace/testing/stream_builder.h"

namespace pastcone::trace_testing {

/// A directory below /tmp, removed at the end.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const Path& path() const { return path_; }

 private:
  Path path_;
};

class RecordingBuilder {
 public:
  RecordingBuilder();

  Manifest manifest;
  std::string files;  ///< files.jsonl
  size_t chunks_per_record = 4;

  /// A thread whose chunks go to the pack.
  RecordingBuilder& packed(const StreamBuilder& stream, bool ended = true);
  /// A thread that was being recorded: closed chunks in the pack, the last ones in `live`.
  RecordingBuilder& living(const StreamBuilder& stream);
  RecordingBuilder& add_packed(BuiltChunk chunk);
  RecordingBuilder& add_live(BuiltChunk chunk);
  std::vector<BuiltChunk>& packed_chunks() { return packed_; }

  Bytes pack() const;
  Bytes live() const;

  /// Writes it to `directory`, which is made.
  void write(const Path& directory) const;

 private:
  std::vector<BuiltChunk> packed_, live_;
};

/// What a recording is made of, and the recording, in memory.
struct MemoryRecording {
  explicit MemoryRecording(const RecordingBuilder& builder);
  MemoryRecording(Bytes pack, Bytes live, std::string manifest, std::string files);

  Bytes pack, live;
  std::string manifest, files;
  Result<Recording> recording;
};

/// p1 forks p2 and makes a thread; p2 executes a program and is killed.
RecordingBuilder family();

/// p2 and p3 write into a pipe (channel 12), p2 once and p3 twice; p1 reads p2's bytes by p1:5, p3's first
/// ones by p1:6, and the others not at all.
RecordingBuilder two_writers();

}  // namespace pastcone::trace_testing
