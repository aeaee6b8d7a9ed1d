#include "pastcone/shell/interrupt.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "pastcone/base/check.h"

namespace pastcone::shell {
namespace {

// For the handler, which can be given nothing.
std::atomic<bool> interrupted = false;
std::atomic<uint64_t> interrupts = 0;
std::atomic<int> ending_signal = 0;
std::atomic<int> event_fd = -1;

constexpr unsigned kSecondsToEnd = 20;

void note_interrupt(int) {
  int error = errno;
  ++interrupts;
  interrupted = true;
  uint64_t one = 1;
  if (int fd = event_fd; fd >= 0) (void)!write(fd, &one, sizeof one);
  errno = error;
}

void note_end(int signal) {
  ending_signal = signal;
  alarm(kSecondsToEnd);
  note_interrupt(signal);
}

}  // namespace

Interrupt::Interrupt() : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  CHECK(event_.valid());
  CHECK(event_fd == -1);  // one at a time
  interrupted = false;
  ending_signal = 0;
  event_fd = event_.get();
  struct sigaction action {};
  action.sa_handler = note_interrupt;
  action.sa_flags = SA_RESTART;
  CHECK(sigaction(SIGINT, &action, &before_) == 0);
  action.sa_handler = note_end;
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  for (size_t i = 0; i < kEnding.size(); ++i) {
    sigaction(kEnding[i], nullptr, &before_ending_[i]);
    // What is ignored (nohup) stays ignored.
    if (before_ending_[i].sa_handler != SIG_IGN) sigaction(kEnding[i], &action, nullptr);
  }
}

Interrupt::~Interrupt() {
  sigaction(SIGINT, &before_, nullptr);
  for (size_t i = 0; i < kEnding.size(); ++i) sigaction(kEnding[i], &before_ending_[i], nullptr);
  event_fd = -1;
  if (ending_signal == 0) return;
  alarm(0);
  raise(ending_signal);
}

bool Interrupt::pending() const { return interrupted; }

uint64_t Interrupt::count() const { return interrupts; }

int Interrupt::ended_by() const { return ending_signal; }

void Interrupt::clear() {
  uint64_t count;
  (void)!read(event_.get(), &count, sizeof count);
  interrupted = false;
}

void Interrupt::trigger() { note_interrupt(SIGINT); }

}  // namespace pastcone::shell
