// The processes of a replay, as the kernel sees them: the first one starts a session, and nothing leaves it.
// So whatever becomes of the stage's tables, they can be found, looked at and ended.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <unordered_set>
#include <vector>

namespace pastcone::replay {

class Session {
 public:
  explicit Session(pid_t leader) : leader_(leader) {}

  /// All its processes that are not zombies.
  std::vector<pid_t> processes() const;

  /// Whether there are more of these than the given ones.
  bool has_others_than(const std::set<pid_t>& known) const;

  /// What a thread is doing: 'R' running, 'S' asleep, 'Z' dead …; none: it is gone.
  static std::optional<char> thread_state(pid_t thread);

  /// Ends all of them. False: there were none.
  bool kill_all() const;

  /// Collects the children that have ended. True if none is left. With patience it waits that long for more,
  /// and collects these too, unless on_status has enough; longer while they keep coming.
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
  /// Those that are not known already, up to `most`.
  std::vector<pid_t> find(const std::set<pid_t>& known, size_t most) const;

  pid_t leader_;
  mutable std::unordered_set<pid_t> foreign_;  ///< of other sessions, for a while
  mutable std::chrono::steady_clock::time_point foreign_until_;
  std::map<pid_t, int> statuses_;
};

}  // namespace pastcone::replay
