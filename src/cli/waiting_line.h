// What is waited for, and how far it has come: one line on the terminal, rewritten in place, and gone when the waiting
// is over. It comes after a second; where there is no terminal it never does.
//
// Nobody's time is taken for it: whoever waits calls tick() now and then. No thread does, because replays fork.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace pastcone::cli {

class WaitingLine {
 public:
  /// On stderr, or else on stdout, if that is a terminal that can take a line back.
  WaitingLine();
  explicit WaitingLine(int fd) : fd_(fd) {}
  WaitingLine(const WaitingLine&) = delete;
  WaitingLine& operator=(const WaitingLine&) = delete;

  /// As long as it lives, this is waited for; then what was before, if anything.
  class Scope {
   public:
    /// `to`: so many events lead there; 0: as tick() says.
    Scope(WaitingLine& line, std::string what, uint64_t to = 0);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    WaitingLine& line_;
    std::string what_;
    uint64_t to_;
  };

  /// The second begins anew: somebody has just typed something.
  void begin();
  void tick();
  struct Far {
    uint64_t done = 0, of = 0;  ///< events
  };
  /// `ask` is asked only if the line is to be written.
  void tick(const std::function<Far()>& ask);
  /// Something else is about to be written there. The line comes back behind it, but not behind half a line.
  void make_room(std::string_view text);

 private:
  using Clock = std::chrono::steady_clock;
  void hide();
  std::string text() const;

  int fd_;
  std::string what_;  ///< empty: nothing is waited for
  uint64_t to_ = 0;
  Far far_;
  bool shown_ = false, half_line_ = false;
  Clock::time_point due_ = Clock::now() + std::chrono::seconds(1);
};

/// "going back to p2:1041 … 45%, 1,200 of 2,600 events", at most so wide.
std::string waiting_text(std::string_view what, uint64_t done, uint64_t to, size_t width);

}  // namespace pastcone::cli
