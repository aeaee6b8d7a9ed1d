// A directory in $TMPDIR or /tmp that is gone with its files when this object is, or when this process is,
// however that ends.
#pragma once

#include "pastcone/base/files.h"
#include "pastcone/base/result.h"

namespace pastcone::replay {

/// What a process that is killed leaves somebody else has to remove: a process of its own, which waits for
/// our end of a socket to be closed. It is no child of ours, for a replay waits for all of these.
class TemporaryDirectory {
 public:
  /// Its name begins with `prefix`. To be called while this process has one thread, and no grandchildren.
  static Result<TemporaryDirectory> create(const std::string& prefix);
  TemporaryDirectory(TemporaryDirectory&&) = default;
  TemporaryDirectory& operator=(TemporaryDirectory&&) = delete;
  ~TemporaryDirectory();
  const Path& path() const { return path_; }

 private:
  TemporaryDirectory(Path path, UniqueFd remover) : path_(std::move(path)), remover_(std::move(remover)) {}

  Path path_;
  UniqueFd remover_;  ///< invalid: moved from
};

}  // namespace pastcone::replay
