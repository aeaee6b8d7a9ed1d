// A recording, opened for reading: the manifest, the table of files, and for each thread its two streams as
// lists of chunks that are unpacked when they are asked for. What the chunks hold is read with
// stream_reader.h.
//
// Unfinished recordings open like finished ones: up to their last event, also while they are still growing
// (what is added later is not seen). Nothing in the files is trusted. Memory: 48 bytes per chunk of 64 KB,
// and a few unpacked records. A Recording may be read from several threads.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pastcone/base/bytes.h"
#include "pastcone/base/files.h"
#include "pastcone/base/ids.h"
#include "pastcone/base/result.h"
#include "pastcone/trace/file_table.h"
#include "pastcone/trace/format.h"
#include "pastcone/trace/live.h"
#include "pastcone/trace/manifest.h"
#include "pastcone/trace/pack_reader.h"

namespace pastcone {

/// Where a chunk's bytes are.
struct ChunkRef {
  static constexpr uint32_t kLive = UINT32_MAX;

  uint64_t start;        ///< position of its first byte in its stream
  uint64_t offset;       ///< in the unpacked record, or in the copy of `live`
  uint64_t first_event;  ///< events before it in its thread
  uint32_t record;       ///< or kLive
  uint32_t used;
  uint32_t sequence;
  uint8_t flags;
};

/// One stream of a thread: chunks 0, 1, 2 … as far as there is no gap.
struct StreamIndex {
  std::vector<ChunkRef> chunks;
  uint64_t bytes = 0;
  bool last = false;   ///< its last chunk says that it is the last
  std::string damage;  ///< why it ends before its end; empty if it does not
};

struct ThreadStreams {
  StreamIndex events, data, locks;
  uint64_t operations = 0;  ///< of `locks`
};

/// What all streams of a kind take.
struct StreamBytes {
  uint64_t raw = 0;  ///< unpacked
  uint64_t packed =
      0;              ///< of the compressed records; a record that holds both kinds is divided in proportion
  uint64_t live = 0;  ///< of `raw`, what is not compressed yet
};

/// The files of a recording as bytes, for what has them in memory.
struct RecordingBytes {
  ByteView pack, live;
  std::string_view manifest, files;
};

class Recording {
 public:
  static Result<Recording> open(const Path& directory, Check check = Check::kAll);
  /// The bytes must outlive the recording.
  static Result<Recording> from_bytes(const RecordingBytes& bytes);

  Recording(Recording&&) noexcept;
  Recording& operator=(Recording&&) noexcept;
  ~Recording();

  const Path& directory() const { return directory_; }
  const Manifest& manifest() const { return manifest_; }
  const FileTable& files() const { return files_; }
  bool complete() const { return manifest_.state == Manifest::State::kComplete; }
  /// Why it ends before the program did, as far as known; empty if it is complete.
  std::string why_incomplete() const;
  /// It changed while it was opened: its recorder is at work.
  bool growing() const { return growing_; }

  /// All threads, in order. Those of which no event was recorded are left out.
  const std::map<ThreadId, ThreadStreams>& threads() const { return threads_; }
  size_t process_count() const;

  /// What is wrong with it, one line each. Empty for any recording whose files are as they were written,
  /// finished or not.
  const std::vector<std::string>& damage() const { return damage_; }

  StreamBytes stream_bytes(format::Stream stream) const { return sizes_[static_cast<size_t>(stream)]; }
  uint64_t pack_bytes() const { return pack_bytes_; }

  /// Copies a chunk's bytes to `out`, which has room for `used`.
  Status read_chunk(const ChunkRef& chunk, uint8_t* out) const;

 private:
  Recording() = default;
  /// The recorder wrote it to its end, so that anything missing is damage.
  bool pack_is_whole() const;
  Status index(ByteView pack, Check check);
  /// False if there are more chunks than a recording can have.
  bool add_chunk(const format::ChunkHeader& header, uint32_t record, uint64_t offset);
  void order_chunks();
  void order_stream(ThreadId thread, const char* name, StreamIndex& stream);
  void add_sizes(const StreamIndex& stream, StreamBytes& sizes) const;

  Path directory_;
  Manifest manifest_;
  FileTable files_;
  MappedFile mapped_pack_;
  uint64_t pack_bytes_ = 0;
  std::unique_ptr<PackReader> pack_;
  LiveSnapshot live_;
  bool growing_ = false;
  std::map<ThreadId, ThreadStreams> threads_;
  uint64_t chunk_count_ = 0;
  std::vector<std::string> damage_;
  StreamBytes sizes_[3];
};

}  // namespace pastcone
