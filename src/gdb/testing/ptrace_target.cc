#include "pastcone/gdb/testing/ptrace_target.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <utility>

#include "pastcone/base/check.h"

namespace pastcone::gdb::testing {
namespace {

constexpr uint8_t kInt3 = 0xcc;

int wait_for(pid_t thread) {
  int status = 0;
  while (waitpid(thread, &status, __WALL) < 0)
    CHECK(errno == EINTR, "waitpid {}: {}", thread, errno_message(errno));
  return status;
}

void* as_pointer(uint64_t value) { return reinterpret_cast<void*>(value); }

int event_of(int status) { return status >> 16; }

const Resume* action_for(const std::vector<Resume>& how, pid_t thread) {
  for (const Resume& one : how) {
    if (one.thread == 0 || one.thread == thread) return &one;
  }
  return nullptr;
}

}  // namespace

PtraceTarget::PtraceTarget(const Path& program) : program_(program) {
  process_ = fork();
  CHECK(process_ >= 0);
  if (process_ == 0) {
    int nowhere = open("/dev/null", O_RDWR);
    for (int fd = 0; fd <= 2; ++fd) dup2(nowhere, fd);
    raise(SIGSTOP);
    execl(program.c_str(), program.c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  waitpid(process_, &status, WUNTRACED);
  long options = PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC;
  CHECK(ptrace(PTRACE_SEIZE, process_, nullptr, as_pointer(static_cast<uint64_t>(options))) == 0);
  kill(process_, SIGCONT);
  for (;;) {
    status = wait_for(process_);
    CHECK(WIFSTOPPED(status), "{} did not start", program.string());
    if (event_of(status) == PTRACE_EVENT_EXEC) break;
    ptrace(PTRACE_CONT, process_, nullptr, nullptr);  // SIGCONT, and the stop that it ends
  }
  threads_ = {process_};
  current_ = process_;
  memory_ = open_file(fmt::format("/proc/{}/mem", process_), O_RDWR).value();
}

PtraceTarget::~PtraceTarget() {
  if (threads_.empty()) return;
  kill(process_, SIGKILL);
  for (;;) {
    int status = 0;
    pid_t gone = waitpid(-1, &status, __WALL);
    if (gone < 0 || (gone == process_ && !WIFSTOPPED(status))) return;
  }
}

std::string PtraceTarget::thread_name(pid_t thread) {
  auto place = std::find(threads_.begin(), threads_.end(), thread);
  return fmt::format("p1.{}", place - threads_.begin() + 1);
}

Result<Registers> PtraceTarget::registers(pid_t thread) {
  Registers registers;
  if (ptrace(PTRACE_GETREGS, thread, nullptr, &registers.general) != 0 ||
      ptrace(PTRACE_GETFPREGS, thread, nullptr, &registers.floating) != 0) {
    return fail("registers of {}: {}", thread, errno_message(errno));
  }
  return registers;
}

Status PtraceTarget::set_registers(pid_t thread, const Registers& registers) {
  if (ptrace(PTRACE_SETREGS, thread, nullptr, &registers.general) != 0 ||
      ptrace(PTRACE_SETFPREGS, thread, nullptr, &registers.floating) != 0) {
    return fail("registers of {}: {}", thread, errno_message(errno));
  }
  return {};
}

Result<std::vector<uint8_t>> PtraceTarget::read(uint64_t address, size_t size) {
  std::vector<uint8_t> bytes(size);
  ssize_t got = pread(memory_.get(), bytes.data(), size, static_cast<off_t>(address));
  if (got <= 0) return fail("no memory at {:x}", address);
  bytes.resize(static_cast<size_t>(got));
  for (auto [place, below] : breakpoints_) {
    if (place >= address && place - address < bytes.size()) bytes[place - address] = below;
  }
  return bytes;
}

Status PtraceTarget::write(uint64_t address, ByteView bytes) {
  std::vector<uint8_t> patched(bytes.begin(), bytes.end());
  for (auto& [place, below] : breakpoints_) {
    if (place >= address && place - address < patched.size()) {
      below = patched[place - address];
      patched[place - address] = kInt3;
    }
  }
  ssize_t put = pwrite(memory_.get(), patched.data(), patched.size(), static_cast<off_t>(address));
  if (put != static_cast<ssize_t>(patched.size())) return fail("no memory at {:x}", address);
  return {};
}

Status PtraceTarget::insert(PointKind kind, uint64_t address, uint32_t size) {
  if (kind == PointKind::kBreak) {
    std::vector<uint8_t> below = TRY(read(address, 1));
    TRY_STATUS(write(address, ByteView(&kInt3, 1)));
    breakpoints_[address] = below[0];
    return {};
  }
  if (hard_points_.size() == 4) return fail("no debug register is free");
  if (size > 8 || (size & (size - 1)) != 0 || address % size != 0) return fail("{} bytes do not fit", size);
  if (kind == PointKind::kRead) return fail("the machine has no watchpoint for reads alone");
  hard_points_.push_back({kind, address, size});
  return {};
}

Status PtraceTarget::remove(PointKind kind, uint64_t address, uint32_t size) {
  if (kind == PointKind::kBreak) {
    auto place = breakpoints_.find(address);
    if (place == breakpoints_.end()) return fail("no breakpoint at {:x}", address);
    uint8_t below = place->second;
    breakpoints_.erase(place);
    return write(address, ByteView(&below, 1));
  }
  size_t removed = std::erase_if(hard_points_, [&](const HardPoint& one) {
    return one.kind == kind && one.address == address && one.size == size;
  });
  if (removed == 0) return fail("no such point at {:x}", address);
  return {};
}

std::vector<uint8_t> PtraceTarget::auxv() {
  std::string text = read_file(fmt::format("/proc/{}/auxv", process_)).value_or("");
  return {text.begin(), text.end()};
}

uint64_t PtraceTarget::debug_register(pid_t thread, size_t number) {
  return static_cast<uint64_t>(
      ptrace(PTRACE_PEEKUSER, thread, as_pointer(offsetof(user, u_debugreg) + 8 * number), nullptr));
}

void PtraceTarget::set_debug_register(pid_t thread, size_t number, uint64_t value) {
  ptrace(PTRACE_POKEUSER, thread, as_pointer(offsetof(user, u_debugreg) + 8 * number), as_pointer(value));
}

// See "Debug control register" in Intel's manual, volume 3B, 18.2.4.
void PtraceTarget::set_debug_registers(pid_t thread) {
  set_debug_register(thread, 7, 0);
  uint64_t control = 0;
  for (size_t i = 0; i < hard_points_.size(); ++i) {
    const HardPoint& one = hard_points_[i];
    bool code = one.kind == PointKind::kHardBreak;
    uint64_t when = code ? 0 : one.kind == PointKind::kWrite ? 1 : 3;
    uint64_t length = code || one.size == 1 ? 0 : one.size == 2 ? 1 : one.size == 8 ? 2 : 3;
    set_debug_register(thread, i, one.address);
    control |= uint64_t{1} << 2 * i | (length << 2 | when) << (16 + 4 * i);
  }
  set_debug_register(thread, 6, 0);
  set_debug_register(thread, 7, control);
}

uint64_t PtraceTarget::rip(pid_t thread) { return registers(thread).value_or(Registers{}).general.rip; }

Stop PtraceTarget::resume(const std::vector<Resume>& how) {
  for (;;) {
    Stop stop = run_once(how);
    if (stop.ended) return stop;
    const Resume* action = action_for(how, stop.thread);
    bool in_range = action != nullptr && action->kind == Resume::Kind::kRange && stop.signal == SIGTRAP &&
                    !stop.point && rip(stop.thread) >= action->begin && rip(stop.thread) < action->end;
    if (!in_range) return stop;
  }
}

void PtraceTarget::start(pid_t thread, enum __ptrace_request request, int signal) {
  set_debug_registers(thread);
  if (ptrace(request, thread, nullptr, as_pointer(static_cast<uint64_t>(signal))) == 0)
    running_[thread] = request;
}

Stop PtraceTarget::run_once(const std::vector<Resume>& how) {
  if (!pending_.empty()) {
    Stop stop = pending_.back();
    pending_.pop_back();
    current_ = stop.thread;
    return stop;
  }
  for (pid_t thread : threads_) {
    const Resume* action = action_for(how, thread);
    if (action == nullptr || action->kind == Resume::Kind::kStay) continue;
    start(thread, action->kind == Resume::Kind::kContinue ? PTRACE_CONT : PTRACE_SINGLESTEP, action->signal);
  }
  for (;;) {
    int status = 0;
    pid_t thread = waitpid(-1, &status, __WALL);
    CHECK(thread > 0 || errno == EINTR);
    if (thread < 0) continue;
    auto request = running_[thread];
    running_.erase(thread);
    std::optional<Stop> stop = examine(thread, status);
    if (stop && stop->ended) return *stop;
    if (stop) {
      stop_all();
      current_ = thread;
      return *stop;
    }
    if (WIFSTOPPED(status)) start(thread, request, 0);
    for (pid_t made : std::exchange(made_, {})) start(made, PTRACE_CONT, 0);
  }
}

std::optional<Stop> PtraceTarget::examine(pid_t thread, int status) {
  if (!WIFSTOPPED(status)) {
    std::erase(threads_, thread);
    if (thread != process_) return std::nullopt;
    threads_.clear();
    return Stop{.thread = thread, .point = {}, .ended = status};
  }
  int event = event_of(status);
  if (event == PTRACE_EVENT_CLONE) {
    unsigned long made = 0;
    ptrace(PTRACE_GETEVENTMSG, thread, nullptr, &made);
    wait_for(static_cast<pid_t>(made));
    threads_.push_back(static_cast<pid_t>(made));
    made_.push_back(static_cast<pid_t>(made));
  }
  if (event != 0) return std::nullopt;
  if (WSTOPSIG(status) == SIGTRAP) return examine_trap(thread);
  return Stop{.thread = thread, .signal = WSTOPSIG(status), .point = {}, .ended = {}};
}

std::optional<Stop> PtraceTarget::examine_trap(pid_t thread) {
  Stop stop{.thread = thread, .point = {}, .ended = {}};
  uint64_t hit = debug_register(thread, 6);
  for (size_t i = 0; i < hard_points_.size(); ++i) {
    if ((hit >> i & 1) == 0) continue;
    stop.point = hard_points_[i].kind;
    stop.address = hard_points_[i].address;
    return stop;
  }
  bool stepped = (hit >> 14 & 1) != 0;
  if (!stepped && breakpoints_.contains(rip(thread) - 1)) {
    Registers registers = this->registers(thread).value();
    --registers.general.rip;
    CHECK(set_registers(thread, registers).has_value());
    stop.point = PointKind::kBreak;
  }
  return stop;
}

void PtraceTarget::stop_all() {
  for (auto [thread, request] : std::exchange(running_, {})) {
    ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr);
    std::optional<Stop> stop = examine(thread, wait_for(thread));
    // A breakpoint will be hit again, if it is still there then; a step is done again.
    bool comes_again =
        stop && stop->signal == SIGTRAP && (!stop->point || *stop->point <= PointKind::kHardBreak);
    if (stop && !comes_again) pending_.push_back(*stop);
  }
  made_.clear();
}

}  // namespace pastcone::gdb::testing
