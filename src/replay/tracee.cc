#include "pastcone/replay/tracee.h"

#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "pastcone/base/files.h"

namespace pastcone::replay {
namespace {

constexpr int kCallStop = SIGTRAP | 0x80;  // PTRACE_O_TRACESYSGOOD

tl::unexpected<Error> gone() { return fail("it has ended"); }

/// wait4 for one that may be no child of ours but a tracee.
pid_t wait_for(pid_t thread, int& status, int options) {
  pid_t got;
  do {
    got = waitpid(thread, &status, options | __WALL);
  } while (got < 0 && errno == EINTR);
  return got;
}

}  // namespace

Result<Tracee> Tracee::seize(pid_t process, pid_t thread) {
  if (ptrace(PTRACE_SEIZE, thread, nullptr, PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD) != 0)
    return fail("ptrace: {}", errno_message(errno));
  return Tracee(process, thread);
}

Tracee::Tracee(Tracee&& other) noexcept
    : process_(other.process_),
      thread_(other.thread_),
      ours_(std::exchange(other.ours_, false)),
      stopped_(other.stopped_),
      status_(other.status_),
      start_(other.start_),
      instruction_(other.instruction_) {}

Tracee::State Tracee::look() {
  // Whoever executes a program becomes its process's first thread. In this order, so that it is not missed.
  for (pid_t id : {thread_, process_}) {
    int status = 0;
    pid_t got = wait_for(id, status, WNOHANG);
    if (got == 0) return State::kRunning;
    if (got < 0) continue;
    if (!WIFSTOPPED(status)) {
      if (got == process_) status_ = status;
      ours_ = false;
      return State::kEnded;
    }
    if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8)) {
      thread_ = process_;
      stopped_ = ptrace(PTRACE_GETREGS, thread_, nullptr, &start_) == 0;
      return stopped_ ? State::kExecuted : State::kEnded;
    }
    ptrace(PTRACE_CONT, got, nullptr, static_cast<long>(status >> 16 == 0 ? WSTOPSIG(status) : 0));
    return State::kRunning;
  }
  ours_ = false;
  return State::kEnded;
}

Status Tracee::put_instruction(uint64_t address) {
  const uint8_t syscall[8] = {0x0f, 0x05, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc};
  uint64_t word = 0;
  static_assert(sizeof word == sizeof syscall);
  __builtin_memcpy(&word, syscall, sizeof word);
  if (ptrace(PTRACE_POKEDATA, thread_, address, word) != 0) return fail("ptrace: {}", errno_message(errno));
  instruction_ = address;
  return {};
}

/// To the next time it enters a call, or leaves one. Signals are dropped: none is meant for a program that
/// has not begun.
Status Tracee::resume_to_call() {
  for (;;) {
    if (ptrace(PTRACE_SYSCALL, thread_, nullptr, nullptr) != 0) return gone();
    int status = 0;
    if (wait_for(thread_, status, 0) < 0) return gone();
    if (!WIFSTOPPED(status)) {
      status_ = status;
      ours_ = stopped_ = false;
      return gone();
    }
    if (status >> 8 == kCallStop) return {};
    if (WSTOPSIG(status) == SIGSEGV || WSTOPSIG(status) == SIGILL)
      return fail("it cannot make a call: {}", strsignal(WSTOPSIG(status)));
  }
}

Result<int64_t> Tracee::call(int64_t number, const std::array<uint64_t, 6>& arguments) {
  user_regs_struct now = start_;
  now.orig_rax = ~uint64_t{0};  // it is in no call that would be begun again
  now.rip = instruction_;
  now.rax = static_cast<uint64_t>(number);
  now.rdi = arguments[0];
  now.rsi = arguments[1];
  now.rdx = arguments[2];
  now.r10 = arguments[3];
  now.r8 = arguments[4];
  now.r9 = arguments[5];
  auto set = [&] { return ptrace(PTRACE_SETREGS, thread_, nullptr, &now) == 0; };
  if (!set()) return gone();
  TRY_STATUS(resume_to_call());
  user_regs_struct seen{};
  if (ptrace(PTRACE_GETREGS, thread_, nullptr, &seen) != 0) return gone();
  // The first time it is still on its way out of execve.
  if (seen.rip == instruction_) {
    if (!set()) return gone();
    TRY_STATUS(resume_to_call());
  }
  TRY_STATUS(resume_to_call());
  if (ptrace(PTRACE_GETREGS, thread_, nullptr, &seen) != 0) return gone();
  return static_cast<int64_t>(seen.rax);
}

Status Tracee::read(uint64_t address, void* to, size_t size) const {
  iovec ours{to, size}, theirs{reinterpret_cast<void*>(address), size};
  if (process_vm_readv(process_, &ours, 1, &theirs, 1, 0) == static_cast<ssize_t>(size)) return {};
  return fail("its memory cannot be read: {}", errno_message(errno));
}

Status Tracee::write(uint64_t address, ByteView bytes) const {
  iovec ours{const_cast<uint8_t*>(bytes.data()), bytes.size()},
      theirs{reinterpret_cast<void*>(address), bytes.size()};
  if (process_vm_writev(process_, &ours, 1, &theirs, 1, 0) == static_cast<ssize_t>(bytes.size())) return {};
  return fail("its memory cannot be written: {}", errno_message(errno));
}

Status Tracee::go_on(uint64_t address) {
  user_regs_struct now = start_;
  now.orig_rax = ~uint64_t{0};
  now.rip = address;
  if (ptrace(PTRACE_SETREGS, thread_, nullptr, &now) != 0) return gone();
  let_go();
  return {};
}

void Tracee::let_go() {
  if (!std::exchange(ours_, false)) return;
  if (!stopped_) {
    int status = 0;
    if (ptrace(PTRACE_INTERRUPT, thread_, nullptr, nullptr) != 0) return;
    if (wait_for(thread_, status, 0) < 0) return;
    if (!WIFSTOPPED(status)) {
      status_ = status;
      return;
    }
  }
  ptrace(PTRACE_DETACH, thread_, nullptr, nullptr);
}

}  // namespace pastcone::replay
