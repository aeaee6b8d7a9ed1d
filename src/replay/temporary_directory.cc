#include "pastcone/replay/temporary_directory.h"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>

namespace pastcone::replay {
namespace {

using namespace std::chrono_literals;

constexpr int kTries = 200;  // while those who write there end as well
constexpr auto kBetweenTries = 10ms;

std::string name_for(const std::string& prefix) {
  const char* wanted = std::getenv("TMPDIR");
  return std::string(wanted != nullptr && wanted[0] == '/' ? wanted : "/tmp") + "/" + prefix + "XXXXXX";
}

bool remove(const std::string& directory) {
  std::error_code error;
  std::filesystem::remove_all(directory, error);
  return !std::filesystem::exists(directory, error);
}

/// Until `length` bytes are there, or the end of it. How many.
size_t read_all(int fd, char* to, size_t length) {
  size_t got = 0;
  while (got < length) {
    ssize_t n = ::read(fd, to + got, length - got);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    got += static_cast<size_t>(n);
  }
  return got;
}

struct Made {
  int error;
  char suffix[6];
};

/// Makes the directory, too: so there is never one that nobody removes.
[[noreturn]] void be_remover(int socket, std::string name) {
  setsid();
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  dup2(socket, STDIN_FILENO);
  close_range(STDIN_FILENO + 1, UINT_MAX, 0);
  Made made{};
  if (mkdtemp(name.data()) == nullptr) made.error = errno;
  name.copy(made.suffix, sizeof made.suffix, name.size() - sizeof made.suffix);
  (void)!::write(STDIN_FILENO, &made, sizeof made);
  char byte = 0;
  if (made.error == 0) {
    read_all(STDIN_FILENO, &byte, 1);
    for (int tries = 0; tries < kTries && !remove(name); ++tries) std::this_thread::sleep_for(kBetweenTries);
  }
  _exit(0);
}

/// Its parent ends at once, and we do not inherit it.
bool start_remover(int socket, const std::string& name) {
  int inherits = 0;
  prctl(PR_GET_CHILD_SUBREAPER, &inherits);
  prctl(PR_SET_CHILD_SUBREAPER, 0);
  pid_t child = fork();
  if (child == 0) {
    if (fork() == 0) be_remover(socket, name);
    _exit(0);
  }
  while (child > 0 && waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  prctl(PR_SET_CHILD_SUBREAPER, inherits);
  return child > 0;
}

}  // namespace

Result<TemporaryDirectory> TemporaryDirectory::create(const std::string& prefix) {
  std::string name = name_for(prefix);
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return fail("cannot create {}: {}", name, errno_message(errno));
  UniqueFd ours(ends[0]), theirs(ends[1]);
  bool started = start_remover(theirs.get(), name);
  int error = errno;
  theirs.reset();
  Made made{};
  bool told = started && read_all(ours.get(), reinterpret_cast<char*>(&made), sizeof made) == sizeof made;
  if (!told) {
    return fail("cannot create {}: no process to remove it ({})", name,
                errno_message(started ? EAGAIN : error));
  }
  if (made.error != 0)
    return fail("cannot create {}: {}; set TMPDIR to a directory with room", name, errno_message(made.error));
  name.replace(name.size() - sizeof made.suffix, sizeof made.suffix, made.suffix, sizeof made.suffix);
  return TemporaryDirectory(name, std::move(ours));
}

TemporaryDirectory::~TemporaryDirectory() {
  if (!remover_.valid()) return;
  shutdown(remover_.get(), SHUT_WR);
  char byte = 0;
  read_all(remover_.get(), &byte, 1);  // it has ended
  remove(path_);                       // should somebody have killed it
}

}  // namespace pastcone::replay
