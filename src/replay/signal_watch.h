// Signals while a replay is directed: they set a flag and wake the director. SIGCHLD only wakes; SIGPIPE is
// ignored.
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

  bool interrupted() const { return interrupted_; }
  const sigset_t& mask() const { return mask_; }  ///< as it was before

 private:
  static constexpr int kTaken[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  static inline std::atomic<const record::SharedStage*> current_ = nullptr;
  static inline std::atomic<bool> interrupted_ = false;
  size_t taken_;
  struct sigaction before_[std::size(kTaken)], before_pipe_;
  sigset_t mask_;
};

}  // namespace pastcone::replay
