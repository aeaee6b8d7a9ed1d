// Ctrl-C as a flag. While an Interrupt exists SIGINT does not end the program: it sets a flag, and makes a
// file descriptor readable so that whoever waits in poll(2) wakes up. A command that takes long looks at
// pending(), or adds fd() to what it polls, and ends early; the line reader clears the flag before it shows
// the next prompt, and discards the line if it is set there.
//
// SIGTERM, SIGHUP and SIGQUIT are as well such a Ctrl-C, and the session ends with it: ended_by() stays. When the
// Interrupt goes, after all that has to be tidied up, the signal does what it would have done. A second one,
// and one that has waited for some seconds, does that at once.
//
// Interrupted calls are restarted (SA_RESTART), so that no output is lost; only poll(2) and its like return
// EINTR. What runs in other process groups gets no SIGINT from the terminal at all: programs that are being
// debugged belong there.
//
// One at a time. pending(), count() and trigger() may be called from any thread.
#pragma once

#include <array>
#include <csignal>
#include <cstdint>

#include "pastcone/base/files.h"

namespace pastcone::shell {

class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  bool pending() const;
  void clear();
  /// How many there have been: who has heard some wants to know of others.
  uint64_t count() const;
  /// The signal that ends the session; 0: none has come.
  int ended_by() const;
  /// As if Ctrl-C had been typed.
  void trigger();
  /// Readable while pending. Not to be read from: clear() does that.
  int fd() const { return event_.get(); }

 private:
  static constexpr std::array kEnding = {SIGTERM, SIGHUP, SIGQUIT};

  UniqueFd event_;
  struct sigaction before_ {};
  std::array<struct sigaction, kEnding.size()> before_ending_ = {};
};

}  // namespace pastcone::shell
