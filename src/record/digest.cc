#include "pastcone/record/digest.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace pastcone::record {
namespace {

constexpr size_t kBlock = 1 << 20;

Status write_at(int fd, const uint8_t* bytes, size_t size, uint64_t offset, const Path& path) {
  while (size > 0) {
    ssize_t done = pwrite(fd, bytes, size, static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return fail("cannot keep a copy of {}: {}", path.native(), errno_message(errno));
    bytes += done;
    size -= static_cast<size_t>(done);
    offset += static_cast<uint64_t>(done);
  }
  return {};
}

/// Where the next bytes that are not a hole begin, at or after `offset`; the end of the file if there are
/// none.
uint64_t next_data(int fd, uint64_t offset, uint64_t size) {
  off_t found = lseek(fd, static_cast<off_t>(offset), SEEK_DATA);
  if (found >= 0) return static_cast<uint64_t>(found);
  return errno == ENXIO ? std::max(offset, size)
                        : offset;  // a file system without holes says EINVAL: all is data
}

class Pass {
 public:
  Pass(int from, int to, const Path& path, const Breathe& breathe)
      : from_(from), to_(to), path_(path), breathe_(breathe), block_(kBlock) {
    XXH64_reset(&state_, 0);
  }

  Result<Digest> run() {
    struct stat info {};
    if (fstat(from_, &info) != 0) return fail("cannot read {}: {}", path_.native(), errno_message(errno));
    auto size = static_cast<uint64_t>(info.st_size);
    uint64_t offset = 0;
    for (;;) {
      uint64_t data = offset < size ? next_data(from_, offset, size) : offset;
      skip_hole(data - offset);
      offset = data;
      ssize_t got = pread(from_, block_.data(), block_.size(), static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return fail("cannot read {}: {}", path_.native(), errno_message(errno));
      if (got == 0) break;
      XXH64_update(&state_, block_.data(), static_cast<size_t>(got));
      if (to_ >= 0) TRY_STATUS(write_at(to_, block_.data(), static_cast<size_t>(got), offset, path_));
      offset += static_cast<uint64_t>(got);
      if (breathe_) breathe_();
    }
    if (to_ >= 0 && ftruncate(to_, static_cast<off_t>(offset)) != 0) {
      return fail("cannot keep a copy of {}: {}", path_.native(), errno_message(errno));
    }
    return Digest{XXH64_digest(&state_), offset};
  }

 private:
  void skip_hole(uint64_t size) {
    static const std::vector<uint8_t> zeros(kBlock);
    while (size > 0) {
      size_t part = std::min<uint64_t>(size, zeros.size());
      XXH64_update(&state_, zeros.data(), part);
      size -= part;
      if (breathe_) breathe_();
    }
  }

  int from_, to_;
  const Path& path_;
  const Breathe& breathe_;
  std::vector<uint8_t> block_;
  XXH64_state_t state_;
};

}  // namespace

Result<Digest> digest_file(int fd, const Path& path, const Breathe& breathe) {
  return Pass(fd, -1, path, breathe).run();
}

Result<Digest> copy_file(int fd, int to, const Path& path, const Breathe& breathe) {
  if (ioctl(to, FICLONE, fd) == 0) return digest_file(to, path, breathe);
  return Pass(fd, to, path, breathe).run();
}

std::string to_hex(uint64_t hash) { return fmt::format("{:016x}", hash); }

}  // namespace pastcone::record
