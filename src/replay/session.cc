#include "pastcone/replay/session.h"

#include <dirent.h>
#include <sys/wait.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>

#include "pastcone/base/files.h"
#include "pastcone/replay/alarm.h"

namespace pastcone::replay {
namespace {

struct Stat {
  char state;
  pid_t session;
};

/// From /proc/N/stat: "pid (name) state ppid pgrp session …"; the name may hold anything.
std::optional<Stat> read_stat(pid_t thread) {
  auto text = read_file(fmt::format("/proc/{}/stat", thread));
  if (!text) return std::nullopt;
  size_t name_end = text->rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  Stat stat{};
  int parent = 0, group = 0;
  if (std::sscanf(text->c_str() + name_end + 1, " %c %d %d %d", &stat.state, &parent, &group,
                  &stat.session) != 4) {
    return std::nullopt;
  }
  return stat;
}

bool is_dead(char state) { return state == 'Z' || state == 'X' || state == 'x'; }

}  // namespace

std::vector<pid_t> Session::processes() const {
  std::vector<pid_t> found;
  DIR* proc = opendir("/proc");
  if (proc == nullptr) return found;
  while (dirent* entry = readdir(proc)) {
    pid_t process = 0;
    const char* end = entry->d_name + std::strlen(entry->d_name);
    if (std::from_chars(entry->d_name, end, process).ptr != end) continue;
    auto stat = read_stat(process);
    if (stat && stat->session == leader_ && !is_dead(stat->state)) found.push_back(process);
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
  Got got = Got::kSomething;
  while (got == Got::kSomething) got = collect(WNOHANG);
  if (got == Got::kNothing && patience.count() > 0) {
    auto end = std::chrono::steady_clock::now() + patience;
    Alarm alarm(patience);
    while ((got == Got::kSomething || got == Got::kNothing) && std::chrono::steady_clock::now() < end)
      got = collect(0);
  }
  return got == Got::kNobodyLeft;
}

std::optional<int> Session::status(pid_t process) const {
  auto found = statuses_.find(process);
  if (found == statuses_.end()) return std::nullopt;
  return found->second;
}

}  // namespace pastcone::replay
