#include "pastcone/replay/polling.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "pastcone/base/files.h"

namespace pastcone::replay {

/// From /proc/N/task/N/stat, after the name: state, ten numbers, and the times in clock ticks.
Polling::Times Polling::times_of(pid_t thread) {
  auto text = read_file(fmt::format("/proc/{0}/task/{0}/stat", thread));
  if (!text) return {};
  size_t name_end = text->rfind(')');
  unsigned long user = 0, system = 0;
  if (name_end == std::string::npos ||
      std::sscanf(text->c_str() + name_end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
                  &system) != 2) {
    return {};
  }
  auto tick = static_cast<unsigned long>(sysconf(_SC_CLK_TCK));
  return {std::chrono::milliseconds(user * 1000 / tick), std::chrono::milliseconds(system * 1000 / tick)};
}

Polling::Times Polling::spent(pid_t thread) {
  Times now = times_of(thread);
  const Times& before = before_.try_emplace(thread, now).first->second;
  return {now.user - before.user, now.system - before.system};
}

bool Polling::only(const std::vector<pid_t>& running) {
  bool all = !running.empty();
  for (pid_t thread : running) {
    Times times = spent(thread);
    all = all && times.system >= patience_ && times.system > times.user;
  }
  return all;
}

std::chrono::milliseconds Polling::longest(const std::vector<pid_t>& running) {
  std::chrono::milliseconds most{};
  for (pid_t thread : running) {
    Times times = spent(thread);
    most = std::max(most, times.user + times.system);
  }
  return most;
}

}  // namespace pastcone::replay
