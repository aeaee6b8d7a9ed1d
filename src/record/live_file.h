// `live`, the file in a recording whose 64 KiB chunks the recorded processes write into. The recorder gives
// it disk space before anybody may touch it (a write into a hole on a full disk would be a SIGBUS in the
// user's program).
#pragma once

#include <cstdint>

#include "pastcone/base/files.h"
#include "pastcone/base/result.h"
#include "pastcone/trace/format.h"

namespace pastcone::record {

class LiveFile {
 public:
  static Result<LiveFile> create(const Path& directory);

  LiveFile(LiveFile&& other) noexcept;
  LiveFile& operator=(LiveFile&&) = delete;
  ~LiveFile();

  int fd() const { return fd_.get(); }
  /// Chunks [0, ready()) have disk space.
  uint32_t ready() const { return ready_; }

  /// Gives disk space to chunks up to `count`. On failure, errno-like: 0 is success, ENOSPC a full disk.
  int grow(uint32_t count);

  /// The memory of a chunk; shared with whoever holds it. `index` is below ready().
  char* chunk(uint32_t index) const { return base_ + uint64_t{index} * format::kChunkSize; }
  format::ChunkHeader& header(uint32_t index) const {
    return *reinterpret_cast<format::ChunkHeader*>(chunk(index));
  }

  /// Gives up chunks from `count` on; nobody may use them.
  void shrink(uint32_t count);
  /// Gives a chunk's disk space back; nobody may use it again.
  void punch(uint32_t index) const;
  /// Deletes the file; processes that still have it mapped may go on.
  void remove() const;

 private:
  LiveFile(UniqueFd fd, Path path, char* base) : fd_(std::move(fd)), path_(std::move(path)), base_(base) {}

  UniqueFd fd_;
  Path path_;
  char* base_;
  uint32_t ready_ = 0;
};

}  // namespace pastcone::record
