// The signals that concern a terminal while its lines are edited. Handlers can do little, so they only write
// the signal's number into a pipe, and whoever edits reads it there.
#pragma once

#include <array>
#include <csignal>
#include <optional>

#include "pastcone/base/files.h"

namespace pastcone::shell {

/// Catches them while it exists. One at a time.
class PromptSignals {
 public:
  PromptSignals();
  ~PromptSignals();
  PromptSignals(const PromptSignals&) = delete;
  PromptSignals& operator=(const PromptSignals&) = delete;

  /// Readable when one has come.
  int fd() const { return read_end_.get(); }
  std::optional<int> next();

  /// Does what `signal` did before, which may stop or end the program, and catches it again.
  void pass_on(int signal);

 private:
  static constexpr std::array kSignals = {SIGWINCH, SIGTSTP, SIGCONT, SIGTERM, SIGHUP, SIGQUIT};

  UniqueFd read_end_, write_end_;
  std::array<struct sigaction, kSignals.size()> before_ = {};
};

}  // namespace pastcone::shell
