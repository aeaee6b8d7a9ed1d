// What an instruction writes to memory, found without executing it: the commonest of those that do. So that a
// write to a page that is protected on our behalf (GuardedPages) takes one stop, and nobody else has to be
// held meanwhile.
#pragma once

#include <sys/user.h>

#include <array>
#include <cstdint>
#include <functional>
#include <span>

namespace pastcone::replay {

struct Store {
  static constexpr uint64_t kPage = 4096;
  uint64_t address = 0;
  size_t size = 0;
  std::array<uint8_t, kPage> bytes{};
};

struct StoreContext {
  std::function<bool(uint64_t address, void* to, size_t size)> read;
  /// The bytes of a vector register: 16, or 32 with its upper half.
  std::function<bool(unsigned number, void* to, size_t size)> vector;
  /// Whether somebody has to be told of a write there. One that repeats is done up to the first of them.
  std::function<bool(uint64_t address, size_t size)> told;
};

/// `registers` become those behind it; of one that repeats, behind some rounds, all within one page. False:
/// it is none of these, and nothing has changed.
bool find_store(std::span<const uint8_t> code, user_regs_struct& registers, const StoreContext& context,
                Store& store);

}  // namespace pastcone::replay
