// Writes trace.pack: takes closed chunks, appends them as compressed records. Used by the record process,
// from one thread at a time. What append() has returned for stays readable whatever happens afterwards.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "pastcone/base/bytes.h"
#include "pastcone/base/files.h"
#include "pastcone/base/result.h"
#include "pastcone/trace/format.h"

struct ZSTD_CCtx_s;

namespace pastcone {

/// A chunk on its way into the pack. `header.used` and `header.checksum` need not be set: they follow from
/// `bytes`.
struct PackedChunk {
  format::ChunkHeader header;
  ByteView bytes;  ///< at most format::kChunkRoom
};

class PackWriter {
 public:
  /// Makes the file, which must not exist yet.
  static Result<PackWriter> create(const Path& directory);

  /// Appends the chunks as one record (as several, should they not fit into one). If the disk is full the
  /// file is cut back to its last whole record, and append may be tried again.
  Status append(std::span<const PackedChunk> chunks);

  /// The size of the file.
  uint64_t bytes_written() const { return bytes_written_; }

 private:
  struct FreeContext {
    void operator()(ZSTD_CCtx_s* context) const;
  };

  PackWriter(UniqueFd fd, Path path);
  Status append_record(std::span<const PackedChunk> chunks);

  UniqueFd fd_;
  Path path_;
  std::unique_ptr<ZSTD_CCtx_s, FreeContext> context_;
  uint64_t bytes_written_ = 0;
  Bytes raw_, table_, packed_;  ///< kept from record to record
};

}  // namespace pastcone
