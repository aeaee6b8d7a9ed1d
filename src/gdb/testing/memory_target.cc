#include "pastcone/gdb/testing/memory_target.h"

#include <fmt/format.h>

#include <algorithm>

namespace pastcone::gdb::testing {

Result<Registers> MemoryTarget::registers(pid_t thread) {
  if (thread != kFirst && thread != kSecond) return fail("no thread {}", thread);
  return files[thread == kSecond];
}

Status MemoryTarget::set_registers(pid_t thread, const Registers& registers) {
  if (thread != kFirst && thread != kSecond) return fail("no thread {}", thread);
  files[thread == kSecond] = registers;
  return {};
}

Result<std::vector<uint8_t>> MemoryTarget::read(uint64_t address, size_t size) {
  if (address < kBase || address - kBase >= memory.size()) return fail("no memory at {:x}", address);
  ByteView all = ByteView(memory).subspan(address - kBase);
  all = all.first(std::min(all.size(), size));
  return std::vector<uint8_t>(all.begin(), all.end());
}

Status MemoryTarget::write(uint64_t address, ByteView bytes) {
  if (address < kBase || address - kBase > memory.size() ||
      bytes.size() > memory.size() - (address - kBase)) {
    return fail("no memory at {:x}", address);
  }
  std::copy(bytes.begin(), bytes.end(), memory.begin() + static_cast<ptrdiff_t>(address - kBase));
  return {};
}

Status MemoryTarget::insert(PointKind kind, uint64_t address, uint32_t size) {
  if (kind == PointKind::kRead) return fail("not on this machine");
  asked.push_back(fmt::format("insert {} {:x} {}", static_cast<int>(kind), address, size));
  return {};
}

Status MemoryTarget::remove(PointKind kind, uint64_t address, uint32_t size) {
  asked.push_back(fmt::format("remove {} {:x} {}", static_cast<int>(kind), address, size));
  return {};
}

Stop MemoryTarget::resume(const std::vector<Resume>& how) {
  resumed = how;
  return stop;
}

}  // namespace pastcone::gdb::testing
