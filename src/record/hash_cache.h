// Remembers the hashes of files that do not change (libraries, programs), so that libc is read once per
// machine and not once per recording. Good as long as device, inode, size and both times are the same.
//
// One file of fixed-size records in the cache directory, appended to by whoever computes a hash; what is torn
// or foreign in it is ignored, and without it everything works, slower. Not thread-safe; concurrent processes
// are fine.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

#include "pastcone/base/files.h"

namespace pastcone::record {

class HashCache {
 public:
  explicit HashCache(const Path& directory);

  std::optional<uint64_t> find(const struct stat& info) const;
  void add(const struct stat& info, uint64_t hash);

 private:
  using Key = std::tuple<uint64_t, uint64_t, uint64_t, uint64_t, uint64_t>;
  static Key key_of(const struct stat& info);

  Path path_;
  std::map<Key, uint64_t> hashes_;
};

/// Times in nanoseconds, as FileSlot and files.jsonl have them.
inline int64_t to_ns(const timespec& time) { return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec; }

}  // namespace pastcone::record
