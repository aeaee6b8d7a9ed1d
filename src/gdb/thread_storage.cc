#include "pastcone/gdb/thread_storage.h"

#include <cstring>

namespace pastcone::gdb {
namespace {

template <typename T>
Result<T> read_as(Target& target, uint64_t address) {
  Bytes bytes = TRY(target.read(address, sizeof(T)));
  if (bytes.size() < sizeof(T)) return fail("no memory at {:x}", address);
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

/// Each module with such variables has a number, from 1 on.
Result<uint64_t> module_number(Target& target, uint64_t module, std::optional<uint64_t> field) {
  if (module == 0) return 1;
  if (!field) return fail("libc does not say where modules have their numbers");
  // Fields are described by size in bits, count and offset, see glibc's nptl_db/db_info.c.
  uint32_t offset = TRY(read_as<uint32_t>(target, *field + 8));
  return read_as<uint64_t>(target, module + offset);
}

}  // namespace

// The ABI for x86-64: behind the thread's pointer to itself is the one to its vector, whose elements are
// pairs of words. In front of it is how many there are, the first is a generation, then each module's block.
Result<std::optional<uint64_t>> thread_block(Target& target, pid_t thread, uint64_t module, std::optional<uint64_t> field) {
  constexpr uint64_t kElement = 16;
  constexpr uint64_t kNotMade = ~uint64_t{0};
  uint64_t number = TRY(module_number(target, module, field));
  Registers registers = TRY(target.registers(thread));
  if (registers.general.fs_base == 0) return std::nullopt;
  uint64_t vector = TRY(read_as<uint64_t>(target, registers.general.fs_base + 8));
  uint64_t count = TRY(read_as<uint64_t>(target, vector - kElement));
  if (number == 0 || number > count) return fail("module {} has no variables of threads", module);
  uint64_t block = TRY(read_as<uint64_t>(target, vector + number * kElement));
  if (block == 0 || block == kNotMade) return std::nullopt;  // it has not used them
  return block;
}

}  // namespace pastcone::gdb
