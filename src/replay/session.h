// The processes of a replay, as the kernel sees them: the first one starts a session, and nothing leaves it.
// So whatever becomes of the stage's tables, they can be found, looked at and ended.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace pastcone::replay {

class Session {
 public:
  explicit Session(pid_t leader) : leader_(leader) {}

  /// All its processes that are not zombies.
  std::vector<pid_t> processes() const;

  /// What a thread is doing: 'R' running, 'S' asleep, 'Z' dead …; none: it is gone.
  static std::optional<char> thread_state(pid_t thread);

  /// Ends all of them. False: there were none.
  bool kill_all() const;

  /// Collects the children that have ended. True if none is left. With patience it waits that long for more,
  /// and collects these too, unless on_status has enough.
  bool reap(std::chrono::nanoseconds patience = {});
  /// Told of all that waitpid tells, stops of traced threads too. True: the caller of reap has to know at
  /// once.
  std::function<bool(pid_t, int)> on_status;
  /// An end that somebody else was told of.
  void note(pid_t process, int status) { statuses_[process] = status; }
  /// How an ended process ended, as from waitpid.
  std::optional<int> status(pid_t process) const;

 private:
  enum class Got { kNothing, kSomething, kEnough, kNobodyLeft };
  Got collect(int options);

  pid_t leader_;
  std::map<pid_t, int> statuses_;
};

}  // namespace pastcone::replay
