#include "pastcone/record/live_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "pastcone/stage/layout.h"

namespace pastcone::record {
namespace {

constexpr size_t kMapped = uint64_t{stage::kMaxChunks} * format::kChunkSize;

}  // namespace

Result<LiveFile> LiveFile::create(const Path& directory) {
  Path path = directory / "live";
  UniqueFd fd = TRY(open_file(path, O_RDWR | O_CREAT | O_EXCL));
  // Addresses only, far beyond the file's present end; it grows under the mapping.
  void* base = mmap(nullptr, kMapped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd.get(), 0);
  if (base == MAP_FAILED)
    return fail("cannot map {}: {}; check ulimit -v", path.native(), errno_message(errno));
  return LiveFile(std::move(fd), std::move(path), static_cast<char*>(base));
}

LiveFile::LiveFile(LiveFile&& other) noexcept
    : fd_(std::move(other.fd_)),
      path_(std::move(other.path_)),
      base_(std::exchange(other.base_, nullptr)),
      ready_(other.ready_) {}

LiveFile::~LiveFile() {
  if (base_ != nullptr) munmap(base_, kMapped);
}

int LiveFile::grow(uint32_t count) {
  if (count <= ready_) return 0;
  if (count > stage::kMaxChunks) return ENOSPC;
  auto from = static_cast<off_t>(uint64_t{ready_} * format::kChunkSize);
  auto size = static_cast<off_t>(uint64_t{count - ready_} * format::kChunkSize);
  int error;
  do {
    error = posix_fallocate(fd_.get(), from, size);
  } while (error == EINTR);
  if (error == 0) ready_ = count;
  return error;
}

void LiveFile::shrink(uint32_t count) {
  if (ftruncate(fd_.get(), static_cast<off_t>(uint64_t{count} * format::kChunkSize)) == 0) ready_ = count;
}

void LiveFile::punch(uint32_t index) const {
  fallocate(fd_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
            static_cast<off_t>(uint64_t{index} * format::kChunkSize), format::kChunkSize);
}

void LiveFile::remove() const { unlink(path_.c_str()); }

}  // namespace pastcone::record
