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
std::atomic<int> event_fd = -1;

void note_interrupt(int) {
  int error = errno;
  interrupted = true;
  uint64_t one = 1;
  if (int fd = event_fd; fd >= 0) (void)!write(fd, &one, sizeof one);
  errno = error;
}

}  // namespace

Interrupt::Interrupt() : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  CHECK(event_.valid());
  CHECK(event_fd == -1);  // one at a time
  interrupted = false;
  event_fd = event_.get();
  struct sigaction action {};
  action.sa_handler = note_interrupt;
  action.sa_flags = SA_RESTART;
  CHECK(sigaction(SIGINT, &action, &before_) == 0);
}

Interrupt::~Interrupt() {
  sigaction(SIGINT, &before_, nullptr);
  event_fd = -1;
}

bool Interrupt::pending() const { return interrupted; }

void Interrupt::clear() {
  uint64_t count;
  (void)!read(event_.get(), &count, sizeof count);
  interrupted = false;
}

void Interrupt::trigger() { note_interrupt(SIGINT); }

}  // namespace pastcone::shell
