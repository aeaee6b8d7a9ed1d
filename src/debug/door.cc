#include "pastcone/debug/door.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>

namespace pastcone::debug {
namespace {

constexpr std::string_view kName = "pastcone-door-";

Path directory() {
  std::error_code error;
  Path found = std::filesystem::temp_directory_path(error);
  return error ? Path("/tmp") : found;
}

/// Our own process, and a number.
Path new_name() {
  static std::atomic<unsigned> last;
  return directory() / fmt::format("{}{}-{}", kName, getpid(), ++last);
}

}  // namespace

Result<Door> Door::open() {
  Path name = new_name();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.native().size() >= sizeof address.sun_path)
    return fail("the name of {} is too long; set TMPDIR to another directory", name.native());
  std::strcpy(address.sun_path, name.c_str());
  unlink(name.c_str());  // of one that had our number
  UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  bool made = listener.get() >= 0 && fchmod(listener.get(), S_IRUSR | S_IWUSR) == 0 &&
              bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  UniqueFd file(made ? ::open(name.c_str(), O_PATH | O_CLOEXEC) : -1);
  int error = errno;
  if (made) unlink(name.c_str());
  if (made && file.get() >= 0 && listen(listener.get(), 1) == 0)
    return Door(std::move(listener), std::move(file));
  return fail("cannot make a socket for gdb at {}: {}; set TMPDIR", name.native(), errno_message(error));
}

Path Door::path() const { return fmt::format("/proc/{}/fd/{}", getpid(), file_.get()); }

UniqueFd Door::let_in() { return UniqueFd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)); }

void sweep_doors() {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory(), error)) {
    std::string name = entry.path().filename().native();
    if (!name.starts_with(kName)) continue;
    pid_t owner = 0;
    std::from_chars(name.data() + kName.size(), name.data() + name.size(), owner);
    bool dead = owner > 0 && kill(owner, 0) != 0 && errno == ESRCH;
    if (dead && entry.symlink_status(error).type() == std::filesystem::file_type::socket)
      unlink(entry.path().c_str());
  }
}

}  // namespace pastcone::debug
