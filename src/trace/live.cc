#include "pastcone/trace/live.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "pastcone/trace/chunk.h"
#include "pastcone/trace/file_names.h"

namespace pastcone {
namespace {

/// Reads exactly so many bytes at an offset; false if they are not there.
using ReadAt = std::function<bool(uint64_t offset, std::span<uint8_t> out)>;

struct Slot {
  uint64_t offset;
  format::ChunkHeader header;
};

bool read_header(const ReadAt& read, uint64_t offset, format::ChunkHeader& header) {
  uint8_t raw[sizeof header];
  if (!read(offset, raw)) return false;
  std::memcpy(&header, raw, sizeof header);
  return valid_chunk(header);
}

/// The same chunk, not one that has taken its place.
bool same_chunk(const format::ChunkHeader& a, const format::ChunkHeader& b) {
  return a.stream == b.stream && a.process == b.process && a.thread == b.thread && a.sequence == b.sequence;
}

bool same_header(const format::ChunkHeader& a, const format::ChunkHeader& b) {
  return same_chunk(a, b) && a.used == b.used && a.flags == b.flags;
}

/// Copies the chunks of one stream kind and notes the slots they were in.
void copy_stream(const ReadAt& read, uint64_t size, format::Stream stream, LiveSnapshot& snapshot,
                 std::vector<Slot>& slots) {
  for (uint64_t offset = 0; offset + sizeof(format::ChunkHeader) <= size; offset += format::kChunkSize) {
    format::ChunkHeader header, after;
    if (!read_header(read, offset, header) || header.stream != static_cast<uint8_t>(stream)) continue;
    uint64_t start = snapshot.bytes.size();
    snapshot.bytes.resize(start + header.used);
    bool copied = read(offset + sizeof header, std::span(snapshot.bytes).subspan(start));
    if (!copied || !read_header(read, offset, after) || !same_chunk(header, after)) {
      // Reused while it was copied: by now the chunk is in the pack. Or the file ends here: it was cut off.
      snapshot.bytes.resize(start);
      snapshot.changing = true;
      continue;
    }
    snapshot.chunks.push_back({header, start});
    slots.push_back({offset, header});
  }
}

LiveSnapshot snapshot_from(const ReadAt& read, uint64_t size) {
  LiveSnapshot snapshot;
  std::vector<Slot> slots;
  copy_stream(read, size, format::Stream::kEvents, snapshot, slots);
  copy_stream(read, size, format::Stream::kData, snapshot, slots);
  copy_stream(read, size, format::Stream::kLocks, snapshot, slots);
  for (const Slot& slot : slots) {
    format::ChunkHeader now;
    if (!read_header(read, slot.offset, now) || !same_header(slot.header, now)) snapshot.changing = true;
  }
  return snapshot;
}

}  // namespace

LiveSnapshot snapshot_live(ByteView live) {
  auto read = [live](uint64_t offset, std::span<uint8_t> out) {
    if (offset > live.size() || live.size() - offset < out.size()) return false;
    if (!out.empty()) std::memcpy(out.data(), live.data() + offset, out.size());
    return true;
  };
  LiveSnapshot snapshot = snapshot_from(read, live.size());
  snapshot.changing = false;
  return snapshot;
}

Result<LiveSnapshot> snapshot_live_file(const Path& directory) {
  Path path = directory / kLiveName;
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid() && errno == ENOENT) return LiveSnapshot();
  struct stat info {};
  if (!fd.valid() || fstat(fd.get(), &info) != 0) {
    return fail("cannot read {}: {}", path.native(), errno_message(errno));
  }
  if (!S_ISREG(info.st_mode)) return fail("cannot read {}: not a regular file", path.native());
  auto read = [&fd](uint64_t offset, std::span<uint8_t> out) {
    return pread(fd.get(), out.data(), out.size(), static_cast<off_t>(offset)) ==
           static_cast<ssize_t>(out.size());
  };
  return snapshot_from(read, static_cast<uint64_t>(info.st_size));
}

bool recorder_at_work(const Path& directory) {
  UniqueFd fd(::open((directory / kLiveName).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return fd.valid() && fcntl(fd.get(), F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

}  // namespace pastcone
