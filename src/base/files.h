// Files and directories for the tool: RAII over fds and mappings, whole-file reads and writes, where the
// user's data lives. Every failure is a sentence with the path and the system's reason.
//
// Nothing here is for src/runtime. All functions may be called from any thread.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "pastcone/base/bytes.h"
#include "pastcone/base/result.h"

namespace pastcone {

using Path = std::filesystem::path;

/// Owns a file descriptor, or none (-1).
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  ~UniqueFd() { reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  /// Closes what it owns and takes `fd` instead. errno is kept.
  void reset(int fd = -1);

 private:
  int fd_ = -1;
};

/// A whole file, mapped read-only. An empty file is an empty view. A file that somebody cuts short while it
/// is mapped raises SIGBUS on access: map only what no longer changes.
class MappedFile {
 public:
  static Result<MappedFile> open(const Path& path);

  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MappedFile();

  ByteView bytes() const { return bytes_; }

 private:
  explicit MappedFile(ByteView bytes) : bytes_(bytes) {}

  ByteView bytes_;
};

/// open(2) with O_CLOEXEC added.
Result<UniqueFd> open_file(const Path& path, int flags, mode_t mode = 0600);

/// The contents of a file; reads to the end, so it does for /proc too.
Result<std::string> read_file(const Path& path);

/// Replaces a file as a whole: readers see the old contents or the new, never a part, and a writer that dies
/// leaves the old. Not synced: power loss may lose it.
Status write_file_atomic(const Path& path, std::string_view contents, mode_t mode = 0600);
/// The same for what is not in memory as a whole: `write` writes it.
Status write_file_atomic(const Path& path, const std::function<Status(int fd)>& write, mode_t mode = 0600);

/// Writes all of it, however many write(2)s it takes. `path` is for the message.
Status write_all(int fd, ByteView bytes, const Path& path);

/// mkdir -p; directories it makes get `mode` (less the umask), those that exist keep theirs.
Status make_directories(const Path& path, mode_t mode = 0700);

/// Where recordings live: $XDG_DATA_HOME/pastcone, else ~/.local/share/pastcone. Not created.
Result<Path> data_directory();

/// What can be made again: $XDG_CACHE_HOME/pastcone, else ~/.cache/pastcone. Not created.
Result<Path> cache_directory();

/// What a program keeps between two runs and can do without: $XDG_STATE_HOME/pastcone, else
/// ~/.local/state/pastcone. Not created.
Result<Path> state_directory();

/// The system's words for an errno, for messages: "No such file or directory".
std::string errno_message(int error);

}  // namespace pastcone
