#include "pastcone/shell/prompt_signals.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

#include "pastcone/base/check.h"

namespace pastcone::shell {
namespace {

std::atomic<int> pipe_fd = -1;  // for the handler

void note_signal(int signal) {
  int error = errno;
  auto number = static_cast<unsigned char>(signal);
  (void)!write(pipe_fd, &number, 1);
  errno = error;
}

struct sigaction noting_action() {
  struct sigaction action {};
  action.sa_handler = note_signal;
  action.sa_flags = SA_RESTART;
  return action;
}

}  // namespace

PromptSignals::PromptSignals() {
  int ends[2];
  CHECK(pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
  read_end_.reset(ends[0]);
  write_end_.reset(ends[1]);
  CHECK(pipe_fd == -1);  // one at a time
  pipe_fd = ends[1];
  struct sigaction action = noting_action();
  for (size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &before_[i]);
    // What is ignored (nohup) stays ignored; SIGWINCH and SIGCONT do nothing by themselves.
    if (before_[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
  }
}

PromptSignals::~PromptSignals() {
  for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  pipe_fd = -1;
}

std::optional<int> PromptSignals::next() {
  unsigned char number;
  if (read(read_end_.get(), &number, 1) != 1) return std::nullopt;
  return number;
}

void PromptSignals::pass_on(int signal) {
  auto at = static_cast<size_t>(std::find(kSignals.begin(), kSignals.end(), signal) - kSignals.begin());
  CHECK(at < kSignals.size());
  struct sigaction action = noting_action();
  sigaction(signal, &before_[at], nullptr);
  raise(signal);
  sigaction(signal, &action, nullptr);
}

}  // namespace pastcone::shell
