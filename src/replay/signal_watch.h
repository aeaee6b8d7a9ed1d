// Signals while a director is at work: they set a flag and wake it. SIGCHLD only wakes; SIGPIPE is ignored.
#pragma once

#include <atomic>
#include <csignal>
#include <iterator>

#include "pastcone/record/shared_stage.h"

namespace pastcone::replay {

class SignalWatch {
 public:
  explicit SignalWatch(const record::SharedStage& stage);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  bool interrupted() const { return interrupted_; }
  const sigset_t& mask() const { return mask_; }  ///< as it was before

 private:
  static constexpr int kTaken[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD};
  static inline std::atomic<const record::SharedStage*> current_ = nullptr;
  static inline std::atomic<bool> interrupted_ = false;
  struct sigaction before_[std::size(kTaken)], before_pipe_;
  sigset_t mask_;
};

}  // namespace pastcone::replay
