// The memory of a process that stands, for who does its instructions one after the other in its place: what
// is read and written is kept here for a while, so that hardly any system calls are made. What other
// processes may see of it, because it is shared, is read and written at once.
#pragma once

#include <sys/types.h>

#include <array>
#include <bitset>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <utility>

#include "pastcone/replay/emulate.h"
#include "pastcone/symbols/mappings.h"

namespace pastcone::replay {

class TracedMemory;

class AheadMemory : public EmulatedMemory {
 public:
  /// For as long as the process stands.
  AheadMemory(pid_t process, TracedMemory& memory) : process_(process), memory_(memory) {
    code_begins_.fill(kNone);
  }
  AheadMemory(const AheadMemory&) = delete;
  AheadMemory& operator=(const AheadMemory&) = delete;
  ~AheadMemory() override { flush(); }

  /// As the program may: false where it would fault.
  bool read(uint64_t address, void* to, size_t size) override;
  bool write(uint64_t address, const void* from, size_t size) override;
  struct Written {
    uint64_t address = 0;
    size_t size = 0;
  };
  /// By the last write(), if there was any since this was asked.
  Written take_written() { return std::exchange(written_, {}); }
  /// The bytes of the instruction at the address and of what is behind it, without breakpoints; none where
  /// nothing can be executed.
  std::span<const uint8_t> code(uint64_t address);

  /// Into the process.
  void flush();
  /// The same, and nothing is known any more.
  void forget();

 private:
  static constexpr uint64_t kBlock = 256, kLongest = 15;
  static constexpr uint64_t kNone = 1;  // is no beginning of a block, as 0 is
  using Bytes = std::array<uint8_t, kBlock>;
  /// What there is of it beside the bytes.
  struct Block {
    uint64_t begin = kNone;
    std::bitset<kBlock> dirty;
    bool writable = false;  ///< by the program, whatever pages we guard
  };
  struct CodeBlock {
    std::array<uint8_t, kBlock + kLongest> bytes;  ///< and those behind it
    size_t size;
  };
  static constexpr size_t kBlocks = 256, kCodeBlocks = 512;
  static uint64_t begin_of(uint64_t address) { return address / kBlock * kBlock; }
  /// Libraries, heap and stack mostly begin where pages do.
  static size_t index_of(uint64_t address, size_t blocks = kBlocks) {
    uint64_t number = address / kBlock;
    return (number ^ number >> 8 ^ number >> 16) % blocks;
  }
  const symbols::Mapping* mapping_of(uint64_t address);
  void look_up(uint64_t address);
  bool fetch(uint64_t address, void* to, size_t size) const;
  /// The index of what lies there as a whole, if it is kept: one's own, and no code.
  std::optional<size_t> kept(uint64_t address, size_t size) const {
    size_t index = index_of(address);
    uint64_t begin = begin_of(address);
    if (blocks_[index].begin != begin || address - begin + size > kBlock) return std::nullopt;
    return index;
  }
  /// Only of one's own; none: it cannot be read.
  std::optional<size_t> keep(uint64_t address, const symbols::Mapping& mapping);
  /// One's own, of which a part is in the next block: whether both are kept.
  bool keep_both(uint64_t address, size_t size, const symbols::Mapping& mapping);
  void get(size_t index, uint64_t address, void* to, size_t size) const;
  void put(size_t index, uint64_t address, const void* from, size_t size);
  void flush(size_t index);

  pid_t process_;
  TracedMemory& memory_;
  std::deque<symbols::Mapping> mappings_;  ///< that have been asked for, or all
  bool all_known_ = false;
  const symbols::Mapping* last_ = nullptr;
  Written written_;
  std::array<Block, kBlocks> blocks_;
  std::bitset<kBlocks> dirty_;
  std::array<uint64_t, kCodeBlocks> code_begins_;
  std::array<Bytes, kBlocks> data_;                  // most of these are never touched
  std::array<CodeBlock, kCodeBlocks> code_;
};

}  // namespace pastcone::replay
