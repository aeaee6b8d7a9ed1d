// For tests: a Target that is nothing but memory: two threads, 4096 bytes at 0x1000, and what was asked of
// it.
#pragma once

#include <string>
#include <vector>

#include "pastcone/gdb/target.h"

namespace pastcone::gdb::testing {

class MemoryTarget : public Target {
 public:
  static constexpr uint64_t kBase = 0x1000;
  static constexpr pid_t kFirst = 0x10, kSecond = 0x2b;

  std::vector<pid_t> threads() override { return {kFirst, kSecond}; }
  pid_t current() override { return kFirst; }
  std::string thread_name(pid_t thread) override { return thread == kFirst ? "p1.1" : "p1.2 <\"&\">"; }
  Result<Registers> registers(pid_t thread) override;
  Status set_registers(pid_t thread, const Registers& registers) override;
  Result<std::vector<uint8_t>> read(uint64_t address, size_t size) override;
  Status write(uint64_t address, ByteView bytes) override;
  Status insert(PointKind kind, uint64_t address, uint32_t size) override;
  Status remove(PointKind kind, uint64_t address, uint32_t size) override;
  Stop resume(const std::vector<Resume>& how) override;
  std::vector<uint8_t> auxv() override { return auxiliary; }
  Path program() override { return "/bin/a program"; }
  pid_t process() override { return kFirst; }

  std::vector<uint8_t> memory = std::vector<uint8_t>(4096);
  std::vector<uint8_t> auxiliary;
  Registers files[2];
  std::vector<std::string> asked;  ///< "insert 0 1234 1"
  std::vector<Resume> resumed;     ///< as last asked for
  Stop stop;                       ///< what resume() shall return
};

}  // namespace pastcone::gdb::testing
