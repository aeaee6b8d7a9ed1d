// For tests of what does instructions without the processor.
#pragma once

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <random>

#include "pastcone/replay/emulate.h"

namespace pastcone::replay {

inline constexpr size_t kSize = 1 << 16;

/// A process that executes single instructions, to compare with. Its memory is ours too.
class Processor {
 public:
  Processor() {
    void* memory =
        mmap(nullptr, kSize + kBehind, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    memory_ = static_cast<uint8_t*>(memory);
    mprotect(memory_ + kSize, kBehind, PROT_NONE);
    id_ = fork();
    if (id_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
      raise(SIGSTOP);
      _exit(0);
    }
    waitpid(id_, nullptr, 0);
    ptrace(PTRACE_GETREGS, id_, nullptr, &start_);
  }
  ~Processor() {
    kill(id_, SIGKILL);
    waitpid(id_, nullptr, 0);
    munmap(memory_, kSize + kBehind);
  }

  pid_t id() const { return id_; }
  uint8_t* memory() const { return memory_; }
  const user_regs_struct& start() const { return start_; }

  /// False: it faults.
  bool step(user_regs_struct& registers) const {
    ptrace(PTRACE_SETREGS, id_, nullptr, &registers);
    ptrace(PTRACE_SINGLESTEP, id_, nullptr, nullptr);
    int status = 0;
    waitpid(id_, &status, 0);
    ptrace(PTRACE_GETREGS, id_, nullptr, &registers);
    return WSTOPSIG(status) == SIGTRAP;
  }

 private:
  static constexpr size_t kBehind = 4096;  // what nobody can use
  uint8_t* memory_;
  pid_t id_ = 0;
  user_regs_struct start_{};
};

/// What is shared with the processor. Elsewhere nothing could be put back.
class SharedMemory : public EmulatedMemory {
 public:
  explicit SharedMemory(uint8_t* memory) : memory_(memory) {}
  bool read(uint64_t address, void* to, size_t size) override {
    if (!has(address, size)) return false;
    std::memcpy(to, reinterpret_cast<const void*>(address), size);
    return true;
  }
  bool write(uint64_t address, const void* from, size_t size) override {
    if (!has(address, size)) return false;
    std::memcpy(reinterpret_cast<void*>(address), from, size);
    return true;
  }

 private:
  bool has(uint64_t address, size_t size) const {
    uint64_t at = address - reinterpret_cast<uint64_t>(memory_);
    return at < kSize && at + size <= kSize;
  }
  uint8_t* memory_;
};

/// Registers point into the memory, or hold anything.
inline user_regs_struct some_registers(const Processor& processor, std::mt19937_64& random) {
  user_regs_struct r = processor.start();
  r.orig_rax = ~uint64_t{0};
  auto base = reinterpret_cast<uint64_t>(processor.memory());
  unsigned long long* all[] = {&r.rax, &r.rcx, &r.rdx, &r.rbx, &r.rbp, &r.rsi, &r.rdi, &r.r8,
                               &r.r9,  &r.r10, &r.r11, &r.r12, &r.r13, &r.r14, &r.r15};
  for (auto* one : all) {
    switch (random() % 4) {
      case 0:
        *one = random() % 3;
        break;
      case 1:
        *one = random();
        break;
      default:
        *one = base + 8192 + random() % (kSize - 16384);
    }
  }
  r.rsp = base + kSize / 2;
  r.rip = base + 128;
  r.eflags = 0x202 | (random() & 0x8d5);
  return r;
}

}  // namespace pastcone::replay
