// Signals while a replay is directed: they set a flag and wake the director. SIGCHLD only wakes; SIGPIPE is
// ignored, unless it is somebody else's affair, too.
#pragma once

#include <atomic>
#include <csignal>
#include <iterator>

#include "pastcone/record/shared_stage.h"

namespace pastcone::replay {

class SignalWatch {
 public:
  /// `interrupts`: false: those that end programs are somebody else's affair.
  SignalWatch(const record::SharedStage& stage, bool interrupts);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  bool interrupted() const { return interrupted_ != 0; }
  int signal() const { return interrupted_; }  ///< the last one that did; 0: none
  const sigset_t& mask() const { return mask_; }  ///< as it was before

 private:
  static constexpr int kTaken[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  static inline std::atomic<const record::SharedStage*> current_ = nullptr;
  static inline std::atomic<int> interrupted_ = 0;
  size_t taken_;
  bool pipes_;
  struct sigaction before_[std::size(kTaken)], before_pipe_;
  sigset_t mask_;
};

}  // namespace pastcone::replay
