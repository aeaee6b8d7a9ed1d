#include "pastcone/replay/polling.h"

#include <fmt/format.h>
#include <unistd.h>

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

bool Polling::only(const std::vector<pid_t>& running) {
  bool all = !running.empty();
  for (pid_t thread : running) {
    Times now = times_of(thread);
    const Times& before = before_.try_emplace(thread, now).first->second;
    auto system = now.system - before.system;
    all = all && system >= patience_ && system > now.user - before.user;
  }
  return all;
}

}  // namespace pastcone::replay
