#include "pastcone/record/hash_cache.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <ctime>

#include "pastcone/trace/checksum.h"

namespace pastcone::record {
namespace {

struct Record {
  uint64_t device, inode, size, mtime_ns, ctime_ns, hash;
  uint64_t checksum;  ///< xxh64 of the above
};

/// Past this the file is started anew: most of it is about files long gone.
constexpr size_t kMaxSize = 4 << 20;

uint64_t checksum_of(const Record& record) {
  return xxh64(ByteView(reinterpret_cast<const uint8_t*>(&record), offsetof(Record, checksum)), 1);
}

}  // namespace

HashCache::HashCache(const Path& directory) : path_(directory / "hashes") {
  auto text = read_file(path_);
  if (!text) return;
  for (size_t at = 0; at + sizeof(Record) <= text->size(); at += sizeof(Record)) {
    Record record;
    std::memcpy(&record, text->data() + at, sizeof record);
    if (record.checksum != checksum_of(record)) continue;
    hashes_[{record.device, record.inode, record.size, record.mtime_ns, record.ctime_ns}] = record.hash;
  }
  if (text->size() > kMaxSize || text->size() % sizeof(Record) != 0) unlink(path_.c_str());
}

HashCache::Key HashCache::key_of(const struct stat& info) {
  return {info.st_dev, info.st_ino, static_cast<uint64_t>(info.st_size),
          static_cast<uint64_t>(to_ns(info.st_mtim)), static_cast<uint64_t>(to_ns(info.st_ctim))};
}

std::optional<uint64_t> HashCache::find(const struct stat& info) const {
  auto found = hashes_.find(key_of(info));
  if (found == hashes_.end()) return std::nullopt;
  return found->second;
}

void HashCache::add(const struct stat& info, uint64_t hash) {
  // A file that was changed just now may be changed again without its times showing it.
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (std::abs(to_ns(now) - to_ns(info.st_ctim)) < 2'000'000'000) return;
  Key key = key_of(info);
  if (!hashes_.emplace(key, hash).second) return;
  auto [device, inode, size, mtime_ns, ctime_ns] = key;
  Record record{device, inode, size, mtime_ns, ctime_ns, hash, 0};
  record.checksum = checksum_of(record);
  auto fd = open_file(path_, O_WRONLY | O_CREAT | O_APPEND);
  if (!fd) return;
  [[maybe_unused]] ssize_t ignored = write(fd->get(), &record, sizeof record);
}

}  // namespace pastcone::record
