#include "pastcone/replay/signal_watch.h"

#include <cerrno>

namespace pastcone::replay {

SignalWatch::SignalWatch(const record::SharedStage& stage, bool interrupts)
    : taken_(interrupts ? std::size(kTaken) : 1), pipes_(interrupts) {
  current_ = &stage;
  interrupted_ = 0;
  struct sigaction action {};
  action.sa_handler = [](int signal) {
    int saved = errno;
    if (signal != SIGCHLD) interrupted_ = signal;
    if (const record::SharedStage* woken = current_) woken->notify();
    errno = saved;
  };
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;  // nothing that is printed meanwhile may fail
  for (size_t i = 0; i < taken_; ++i) sigaction(kTaken[i], &action, &before_[i]);
  action.sa_handler = SIG_IGN;
  if (pipes_) sigaction(SIGPIPE, &action, &before_pipe_);
  pthread_sigmask(SIG_SETMASK, nullptr, &mask_);
}

SignalWatch::~SignalWatch() {
  for (size_t i = 0; i < taken_; ++i) sigaction(kTaken[i], &before_[i], nullptr);
  if (pipes_) sigaction(SIGPIPE, &before_pipe_, nullptr);
  current_ = nullptr;
}

}  // namespace pastcone::replay
