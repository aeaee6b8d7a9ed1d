// A process that is stopped on our behalf (ptrace) between executing a program and its first instruction, and
// makes system calls for us. From one thread only, as ptrace wants it.
#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <array>
#include <cstdint>
#include <optional>

#include "pastcone/base/bytes.h"
#include "pastcone/base/result.h"

namespace pastcone::replay {

class Tracee {
 public:
  /// From now on the process stops when this thread of it has executed a program.
  static Result<Tracee> seize(pid_t process, pid_t thread);

  Tracee(Tracee&& other) noexcept;
  Tracee& operator=(Tracee&&) = delete;
  ~Tracee() { let_go(); }

  pid_t id() const { return process_; }
  enum class State { kRunning, kExecuted, kEnded };
  /// Whether it has executed it by now. Only once it has, what follows can be called.
  State look();
  /// As from waitpid, if it has ended and we were the ones to be told.
  std::optional<int> status() const { return status_; }

  /// As the program would find them.
  const user_regs_struct& registers() const { return start_; }

  /// A `syscall` instruction that it may use; the first may be put in the place of other code.
  void use_instruction(uint64_t address) { instruction_ = address; }
  Status put_instruction(uint64_t address);
  /// The result, or -errno.
  Result<int64_t> call(int64_t number, const std::array<uint64_t, 6>& arguments);

  Status read(uint64_t address, void* to, size_t size) const;
  Status write(uint64_t address, ByteView bytes) const;

  /// It goes on there, on the stack that the kernel gave the program, and is no longer ours.
  Status go_on(uint64_t address);
  /// It is no longer ours, wherever it is.
  void let_go();

 private:
  Tracee(pid_t process, pid_t thread) : process_(process), thread_(thread) {}
  Status resume_to_call();

  pid_t process_, thread_;
  bool ours_ = true, stopped_ = false;
  std::optional<int> status_;
  user_regs_struct start_{};
  uint64_t instruction_ = 0;
};

}  // namespace pastcone::replay
