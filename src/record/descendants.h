// Waits for everything a run started, however it was forked: the tool becomes the parent of orphans
// (subreaper), and a run has ended when no child is left. Takes the signals meanwhile: those the terminal
// sends reach the program by themselves.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <optional>
#include <set>

#include "pastcone/base/result.h"

namespace pastcone::record {

class Descendants {
 public:
  /// Blocks the signals the recorder waits for, in this thread and those it starts; makes it a subreaper.
  /// Before the first fork; one at a time.
  static Result<Descendants> adopt();

  Descendants(Descendants&& other) noexcept;
  Descendants& operator=(Descendants&&) = delete;
  /// Gives the signals back.
  ~Descendants();

  /// What the program shall have: the mask and disposition from before.
  const sigset_t& original_mask() const { return original_mask_; }
  bool child_signal_ignored() const { return child_signal_ignored_; }

  /// Waits until all are gone: 0. Or until a signal says not to: SIGINT for the second time; SIGTERM or
  /// SIGHUP, which are passed on to `first` as long as that lives. Gives the signal.
  int wait(pid_t first);

  /// The first process's status, as from waitpid, once it has ended.
  std::optional<int> first_status() const { return first_status_; }

 private:
  Descendants() = default;
  /// True if none of the run's processes is left.
  bool reap(pid_t first);
  bool only_strangers_left() const;

  sigset_t original_mask_{}, taken_{};
  bool child_signal_ignored_ = false, active_ = false;
  std::set<pid_t>
      strangers_;  ///< children this process had before, as `exec pastcone` from a shell script may leave
  std::optional<int> first_status_;
};

}  // namespace pastcone::record
