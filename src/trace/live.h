// The file `live`: the chunks that recorded threads are writing, or were writing when all was killed. It may
// change while it is looked at, so what is used of it is copied first, in an order that keeps the copy
// consistent where that matters.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "pastcone/base/bytes.h"
#include "pastcone/base/files.h"
#include "pastcone/base/result.h"
#include "pastcone/trace/format.h"

namespace pastcone {

/// A copy of the chunks in use.
struct LiveSnapshot {
  struct Chunk {
    format::ChunkHeader header;
    uint64_t offset;  ///< of its bytes in `bytes`
  };
  std::vector<Chunk> chunks;
  Bytes bytes;
  /// Something changed during the copying: chunks may be missing, or shorter than those that follow them
  /// demand. Events never refer to data that was not copied: their chunks were copied first.
  bool changing = false;
};

/// From bytes that do not change.
LiveSnapshot snapshot_live(ByteView live);

/// From a recording's directory. No file: no chunks.
Result<LiveSnapshot> snapshot_live_file(const Path& directory);

/// Whether a record process is at work on the recording: it keeps a write lock (F_SETLK) on `live` until it
/// ends.
bool recorder_at_work(const Path& directory);

}  // namespace pastcone
