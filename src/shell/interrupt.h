// Ctrl-C as a flag. While an Interrupt exists SIGINT does not end the program: it sets a flag, and makes a
// file descriptor readable so that whoever waits in poll(2) wakes up. A command that takes long looks at
// pending(), or adds fd() to what it polls, and ends early; the line reader clears the flag before it shows
// the next prompt, and discards the line if it is set there.
//
// Interrupted calls are restarted (SA_RESTART), so that no output is lost; only poll(2) and its like return
// EINTR. What runs in other process groups gets no SIGINT from the terminal at all: programs that are being
// debugged belong there.
//
// One at a time. pending() and trigger() may be called from any thread.
#pragma once

#include <csignal>

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
  /// As if Ctrl-C had been typed.
  void trigger();
  /// Readable while pending. Not to be read from: clear() does that.
  int fd() const { return event_.get(); }

 private:
  UniqueFd event_;
  struct sigaction before_ {};
};

}  // namespace pastcone::shell
