#include "pastcone/base/files.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <vector>

namespace pastcone {
namespace {

/// $HOME, else the home of the password database: cron and containers may leave HOME unset. `variable` would
/// do instead.
Result<Path> home_directory(const char* variable) {
  if (const char* home = std::getenv("HOME"); home != nullptr && home[0] == '/') return Path(home);
  passwd entry{};
  passwd* found = nullptr;
  std::vector<char> buffer(16384);
  if (getpwuid_r(getuid(), &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr &&
      found->pw_dir != nullptr && found->pw_dir[0] == '/') {
    return Path(found->pw_dir);
  }
  return fail("no home directory: HOME is not set and user {} has none; set HOME or {}", getuid(), variable);
}

/// The XDG base directory specification: a relative or empty value counts as unset.
Result<Path> xdg_directory(const char* variable, const char* below_home) {
  if (const char* base = std::getenv(variable); base != nullptr && base[0] == '/') {
    return Path(base) / "pastcone";
  }
  return TRY(home_directory(variable)) / below_home / "pastcone";
}

}  // namespace

void UniqueFd::reset(int fd) {
  if (int old = std::exchange(fd_, fd); old >= 0) {
    int saved = errno;
    ::close(old);  // never retried: on Linux the fd is gone even after EINTR
    errno = saved;
  }
}

Result<MappedFile> MappedFile::open(const Path& path) {
  UniqueFd fd = TRY(open_file(path, O_RDONLY));
  struct stat info {};
  if (fstat(fd.get(), &info) != 0) return fail("cannot read {}: {}", path.native(), errno_message(errno));
  if (!S_ISREG(info.st_mode)) return fail("cannot read {}: not a regular file", path.native());
  auto size = static_cast<size_t>(info.st_size);
  if (size == 0) return MappedFile();
  void* start = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (start == MAP_FAILED) return fail("cannot map {}: {}", path.native(), errno_message(errno));
  return MappedFile(ByteView(static_cast<const uint8_t*>(start), size));
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) munmap(const_cast<uint8_t*>(bytes_.data()), bytes_.size());
}

Result<UniqueFd> open_file(const Path& path, int flags, mode_t mode) {
  int fd;
  do {
    fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return fail("cannot open {}: {}", path.native(), errno_message(errno));
  return UniqueFd(fd);
}

Result<std::string> read_file(const Path& path) {
  UniqueFd fd = TRY(open_file(path, O_RDONLY));
  struct stat info {};
  std::string contents;
  if (fstat(fd.get(), &info) == 0 && info.st_size > 0)
    contents.reserve(static_cast<size_t>(info.st_size) + 1);
  size_t used = 0;
  for (;;) {
    contents.resize(std::max(contents.capacity(), used + 4096));
    ssize_t got = read(fd.get(), contents.data() + used, contents.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail("cannot read {}: {}", path.native(), errno_message(errno));
    if (got == 0) break;
    used += static_cast<size_t>(got);
  }
  contents.resize(used);
  return contents;
}

Status write_all(int fd, ByteView bytes, const Path& path) {
  while (!bytes.empty()) {
    ssize_t done = write(fd, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return fail("cannot write {}: {}", path.native(), errno_message(errno));
    bytes = bytes.subspan(static_cast<size_t>(done));
  }
  return {};
}

Status write_file_atomic(const Path& path, std::string_view contents, mode_t mode) {
  return write_file_atomic(
      path, [&](int fd) { return write_all(fd, as_bytes(contents), path); }, mode);
}

Status write_file_atomic(const Path& path, const std::function<Status(int fd)>& write, mode_t mode) {
  std::string temporary = path.native() + ".XXXXXX";
  UniqueFd fd(mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd.valid()) return fail("cannot write {}: {}", path.native(), errno_message(errno));
  Status written = write(fd.get());
  if (written && (fchmod(fd.get(), mode) != 0 || rename(temporary.c_str(), path.c_str()) != 0)) {
    written = fail("cannot write {}: {}", path.native(), errno_message(errno));
  }
  if (!written) unlink(temporary.c_str());
  return written;
}

Status make_directories(const Path& path, mode_t mode) {
  if (mkdir(path.c_str(), mode) == 0) return {};
  int error = errno;
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return {};
  Path parent = path.parent_path();
  if (error == ENOENT && parent != path && !parent.empty()) {
    TRY_STATUS(make_directories(parent, mode));
    if (mkdir(path.c_str(), mode) == 0) return {};
    error = errno;
    if (std::filesystem::is_directory(path, ignored)) return {};  // somebody else was faster; or "a/b/"
  }
  return fail("cannot create the directory {}: {}", path.native(), errno_message(error));
}

Result<Path> data_directory() { return xdg_directory("XDG_DATA_HOME", ".local/share"); }

Result<Path> cache_directory() { return xdg_directory("XDG_CACHE_HOME", ".cache"); }

Result<Path> state_directory() { return xdg_directory("XDG_STATE_HOME", ".local/state"); }

std::string errno_message(int error) { return std::generic_category().message(error); }

}  // namespace pastcone
