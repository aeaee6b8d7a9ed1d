// Patched copies of programs and libraries (src/patch), made once and kept in the cache directory, named by
// what they were made from. The runtime maps them by that name.
#pragma once

#include <cstdint>

#include "pastcone/base/files.h"
#include "pastcone/base/result.h"
#include "pastcone/patch/patch.h"

namespace pastcone::record {

class PatchCache {
 public:
  /// Where patched copies are: cache directory/patched.
  static Result<Path> default_directory();

  PatchCache(Path directory, patch::PatchOptions options)
      : directory_(std::move(directory)), options_(options) {}

  /// Makes the directory. Anyone may read it: recorded programs that drop their rights still map from it.
  Status prepare() const;

  /// The name of the patched copy of `file`, whose contents have this hash; made now if it is not there yet.
  /// 0: it needs none.
  Result<uint64_t> get(const Path& file, uint64_t content_hash) const;

  Path path_of(uint64_t name) const;

 private:
  Path directory_;
  patch::PatchOptions options_;
};

}  // namespace pastcone::record
