// Writes trampolines: machine code that does what a displaced group did, with the site's instruction replaced
// by a jump to the runtime. abi.h says what the runtime finds there.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include "pastcone/base/bytes.h"
#include "pastcone/patch/displace.h"
#include "pastcone/patch/hooks.h"

namespace pastcone::patch {

/// The trampolines of one executable segment.
class TrampolineArea {
 public:
  /// To lie at `address` and be no longer than `capacity` bytes.
  TrampolineArea(uint64_t address, uint64_t capacity);

  /// Adds a trampoline and returns its address; or nothing if something is out of reach or the area is full.
  /// `text` is the file from the group's start on.
  std::optional<uint64_t> add(const Displacement& group, ByteView text);

  /// The same for the start of a function, which goes to `hook` instead. Where it jumps to, and what to call for the
  /// function as it was.
  struct Entry {
    uint64_t jump, original;
  };
  std::optional<Entry> add_hook(const Displacement& group, ByteView text, Hook hook);

  /// What each piece of code stands for: address in the area, and in the file.
  struct Origin {
    uint64_t address, original;
  };
  const std::vector<Origin>& origins() const { return origins_; }

  bool empty() const { return code_.size() <= kFirst; }
  uint64_t address() const { return address_; }
  /// The code, filled up to whole pages; nothing if there are no trampolines.
  Bytes take();

 private:
  static constexpr size_t kFirst = 16;  // before it: the address of the runtime's entry, for indirect jumps
  static constexpr size_t kAlignment = 16;

  uint64_t here() const { return address_ + code_.size(); }
  void put(std::initializer_list<uint8_t> bytes) {
    for (uint8_t byte : bytes) code_.push_back(byte);
  }
  void put_u32(uint32_t value);
  void put_u64(uint64_t value);
  void put_relative(uint64_t target);
  void put_jump(uint64_t target);
  void note_origin(const Instruction& instruction) { origins_.push_back({here(), instruction.address}); }
  void put_moved(const Instruction& instruction, ByteView bytes);
  void put_all_moved(std::span<const Instruction> instructions, const Displacement& group, ByteView text);
  void put_syscall(const Instruction& site);
  void put_instruction(Descriptor descriptor);

  uint64_t address_;
  uint64_t capacity_;
  bool reachable_ = true;  // false: a distance did not fit since add() began
  Bytes code_;
  std::vector<Origin> origins_;
};

/// Writes a jump over [group.start, group.end) of `text`, which begins there.
void write_jump(std::span<uint8_t> text, const Displacement& group, uint64_t trampoline);

}  // namespace pastcone::patch
