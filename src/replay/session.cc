#include "pastcone/replay/session.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "pastcone/base/files.h"
#include "pastcone/replay/alarm.h"

namespace pastcone::replay {

using namespace std::chrono_literals;

namespace {

struct Stat {
  char state;
  pid_t session;
};

/// How long who is known to be of another session is not looked at again. Nobody comes into a session but by being
/// born there, and numbers go once round before one is given again, which takes much longer.
constexpr auto kForeign = 100ms;

/// How long patience may be lengthened by what comes: who stops and goes on a hundred times in that time has no use for
/// being looked after each time.
constexpr auto kBusy = 1ms;

/// From /proc/N/stat: "pid (name) state ppid pgrp session …"; the name may hold anything. Looked at very often, for
/// every process there is.
std::optional<Stat> read_stat(pid_t thread) {
  char text[512];
  *fmt::format_to_n(text, sizeof text - 1, "/proc/{}/stat", thread).out = '\0';
  UniqueFd file(open(text, O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return std::nullopt;
  ssize_t size = read(file.get(), text, sizeof text - 1);
  if (size <= 0) return std::nullopt;
  text[size] = '\0';
  const char* name_end = std::strrchr(text, ')');
  if (name_end == nullptr || name_end[1] == '\0') return std::nullopt;
  Stat stat{name_end[2], 0};
  char* at = const_cast<char*>(name_end) + 3;
  std::strtol(at, &at, 10);  // parent
  std::strtol(at, &at, 10);  // group
  char* end = at;
  stat.session = static_cast<pid_t>(std::strtol(at, &end, 10));
  if (end == at) return std::nullopt;
  return stat;
}

bool is_dead(char state) { return state == 'Z' || state == 'X' || state == 'x'; }

}  // namespace

std::vector<pid_t> Session::processes() const { return find({}, SIZE_MAX); }

bool Session::has_others_than(const std::set<pid_t>& known) const { return !find(known, 1).empty(); }

std::vector<pid_t> Session::find(const std::set<pid_t>& known, size_t most) const {
  std::vector<pid_t> found;
  auto now = std::chrono::steady_clock::now();
  if (now >= foreign_until_) foreign_.clear(), foreign_until_ = now + kForeign;
  DIR* proc = opendir("/proc");
  if (proc == nullptr) return found;
  while (dirent* entry = found.size() < most ? readdir(proc) : nullptr) {
    pid_t process = 0;
    const char* end = entry->d_name + std::strlen(entry->d_name);
    if (std::from_chars(entry->d_name, end, process).ptr != end) continue;
    if (foreign_.contains(process) || known.contains(process)) continue;
    auto stat = read_stat(process);
    if (!stat) continue;
    if (stat->session != leader_ && process != leader_) foreign_.insert(process);
    if (stat->session == leader_ && !is_dead(stat->state)) found.push_back(process);
  }
  closedir(proc);
  return found;
}

std::optional<char> Session::thread_state(pid_t thread) {
  auto stat = read_stat(thread);
  if (!stat || is_dead(stat->state)) return std::nullopt;
  return stat->state;
}

bool Session::kill_all() const {
  std::vector<pid_t> left = processes();
  for (pid_t process : left) kill(process, SIGKILL);
  return !left.empty();
}

Session::Got Session::collect(int options) {
  int status = 0;
  pid_t child = waitpid(-1, &status, options | (on_status ? __WALL : 0));
  if (child < 0) return errno == EINTR ? Got::kNothing : Got::kNobodyLeft;
  if (child == 0) return Got::kNothing;
  if (!WIFSTOPPED(status)) statuses_[child] = status;
  return on_status && on_status(child, status) ? Got::kEnough : Got::kSomething;
}

bool Session::reap(std::chrono::nanoseconds patience) {
  Got got = collect(WNOHANG);
  if (patience.count() == 0) {
    while (got == Got::kSomething) got = collect(WNOHANG);
    return got == Got::kNobodyLeft;
  }
  if (got == Got::kNobodyLeft || got == Got::kEnough) return got == Got::kNobodyLeft;
  auto now = std::chrono::steady_clock::now();
  auto end = now + patience, latest = now + std::max<std::chrono::nanoseconds>(patience, kBusy);
  Alarm alarm(patience);
  while ((got == Got::kSomething || got == Got::kNothing) && now < end) {
    got = collect(0);
    now = std::chrono::steady_clock::now();
    if (got == Got::kSomething) end = std::min(now + patience, latest);
  }
  return got == Got::kNobodyLeft;
}

std::optional<int> Session::status(pid_t process) const {
  auto found = statuses_.find(process);
  if (found == statuses_.end()) return std::nullopt;
  return found->second;
}

}  // namespace pastcone::replay
