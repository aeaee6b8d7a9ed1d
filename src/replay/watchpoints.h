// The four debug registers that x86 has for watching memory, as all threads of a process have them.
#pragma once

#include <sys/types.h>

#include <array>
#include <compare>
#include <cstdint>
#include <vector>

#include "pastcone/base/result.h"

namespace pastcone::replay {

/// As it was given to somebody who watches it.
struct WatchedWord {
  uint64_t address = 0;
  uint32_t size = 0;
  bool reads = false;
  auto operator<=>(const WatchedWord&) const = default;
};

class Watchpoints {
 public:
  /// Counted. Takes a register for each aligned piece of 1, 2, 4 or 8 bytes.
  Status add(uint64_t address, uint32_t size, bool reads);
  void remove(uint64_t address, uint32_t size, bool reads);
  void clear() { *this = {}; }
  bool empty() const { return watches_.empty(); }

  /// Whether somebody is to be told of that.
  bool sees(uint64_t address, uint64_t size, bool writes) const;
  /// What a thread has in its registers, as far as that is known. The kernel takes its time for each that is written.
  struct Registers {
    bool known = false;
    std::array<uint64_t, 4> addresses{};
    uint64_t control = 0;
  };
  /// Into those of a thread that stands.
  Status apply(pid_t thread, Registers& has) const;
  /// Whether that can but succeed: they are not more than it has, and nobody's but the program's.
  bool fit(const Registers& has) const;
  /// Those by which the thread has stopped.
  std::vector<WatchedWord> hits(pid_t thread) const;
  /// Those of which some byte is there.
  std::vector<WatchedWord> near(uint64_t address, uint64_t size) const;

 private:
  struct Piece {
    uint64_t address = 0;
    uint32_t size = 0;
    bool reads = false;
    int users = 0;
  };
  struct Watch : WatchedWord {
    int users = 0;
  };
  static constexpr size_t kRegisters = 4;
  static std::vector<Piece> split(uint64_t address, uint32_t size, bool reads);
  Piece* find(const Piece& wanted);
  void put(const Piece& piece);

  std::array<Piece, kRegisters> registers_;
  std::vector<Watch> watches_;
};

}  // namespace pastcone::replay
