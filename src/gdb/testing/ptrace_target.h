// For tests: a program under ptrace as a Target, with all of its threads; what gdb asks for is done in the
// plainest way.
//
// Must be used by the thread that made it, as ptrace demands.
#pragma once

#include <sys/ptrace.h>

#include <map>
#include <string>
#include <vector>

#include "pastcone/gdb/target.h"

namespace pastcone::gdb::testing {

class PtraceTarget : public Target {
 public:
  /// Starts the program; it stands at its first instruction, in the dynamic loader. Its output goes nowhere.
  explicit PtraceTarget(const Path& program);
  ~PtraceTarget() override;
  PtraceTarget(const PtraceTarget&) = delete;
  PtraceTarget& operator=(const PtraceTarget&) = delete;

  std::vector<pid_t> threads() override { return threads_; }
  pid_t current() override { return current_; }
  std::string thread_name(pid_t thread) override;
  Result<Registers> registers(pid_t thread) override;
  Status set_registers(pid_t thread, const Registers& registers) override;
  Result<std::vector<uint8_t>> read(uint64_t address, size_t size) override;
  Status write(uint64_t address, ByteView bytes) override;
  Status insert(PointKind kind, uint64_t address, uint32_t size) override;
  Status remove(PointKind kind, uint64_t address, uint32_t size) override;
  Stop resume(const std::vector<Resume>& how) override;
  std::vector<uint8_t> auxv() override;
  Path program() override { return program_; }
  pid_t process() override { return process_; }

 private:
  struct HardPoint {
    PointKind kind;
    uint64_t address;
    uint32_t size;
  };

  /// Lets each thread go as asked for, waits for one that has something to say, and stops the others.
  Stop run_once(const std::vector<Resume>& how);
  void start(pid_t thread, enum __ptrace_request request, int signal);
  /// What one thread's stop means; nothing: it may go on.
  std::optional<Stop> examine(pid_t thread, int status);
  std::optional<Stop> examine_trap(pid_t thread);
  void stop_all();
  void set_debug_registers(pid_t thread);
  uint64_t debug_register(pid_t thread, size_t number);
  void set_debug_register(pid_t thread, size_t number, uint64_t value);
  uint64_t rip(pid_t thread);

  Path program_;
  pid_t process_ = 0;
  pid_t current_ = 0;
  UniqueFd memory_;
  std::vector<pid_t> threads_;
  std::map<uint64_t, uint8_t> breakpoints_;         ///< and the byte below each
  std::vector<HardPoint> hard_points_;              ///< by number of debug register
  std::map<pid_t, enum __ptrace_request> running_;  ///< and how
  std::vector<pid_t> made_;                         ///< threads that have not run yet
  std::vector<Stop> pending_;                       ///< of threads that had something to say at the same time
};

}  // namespace pastcone::gdb::testing
