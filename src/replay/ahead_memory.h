// The memory of a process that stands, for who does its instructions one after the other in its place: what
// is read and written is kept here for a while, so that hardly any system calls are made. What other
// processes may see of it, because it is shared, is read and written at once.
#pragma once

#include <sys/types.h>

#include <array>
#include <bitset>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "pastcone/replay/emulate.h"
#include "pastcone/symbols/mappings.h"

namespace pastcone::replay {

class TracedMemory;

class AheadMemory : public EmulatedMemory {
 public:
  /// For as long as the process stands.
  AheadMemory(pid_t process, TracedMemory& memory);
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

  /// If it is known here.
  bool read_kept(uint64_t address, void* to, size_t size) const;
  /// Into the process.
  void flush();
  /// The same, and nothing is known any more.
  void forget();

 private:
  static constexpr uint64_t kBlock = 256, kLongest = 15;
  static constexpr uint64_t kNone = 1;  // is no beginning of a block
  struct Block {
    uint64_t begin = kNone;
    std::array<uint8_t, kBlock> bytes;
    std::bitset<kBlock> dirty;
    bool writable = false;  ///< by the program, whatever pages we guard
  };
  struct CodeBlock {
    uint64_t begin = kNone;
    std::array<uint8_t, kBlock + kLongest> bytes;  ///< and those behind it
    size_t size = 0;
  };
  static constexpr size_t kBlocks = 64;
  static uint64_t begin_of(uint64_t address) { return address / kBlock * kBlock; }
  static size_t index_of(uint64_t address) { return address / kBlock % kBlocks; }
  const symbols::Mapping* mapping_of(uint64_t address);
  bool fetch(uint64_t address, void* to, size_t size) const;
  /// What lies there as a whole, if it is kept: one's own, and no code.
  Block* kept(uint64_t address, size_t size) {
    Block& block = data_[index_of(address)];
    return block.begin == begin_of(address) && address - block.begin + size <= kBlock ? &block : nullptr;
  }
  /// Only of one's own; nullptr: it cannot be read.
  Block* keep(uint64_t address, const symbols::Mapping& mapping);
  static void put(Block& block, uint64_t address, const void* from, size_t size);
  void flush(Block& block);

  pid_t process_;
  TracedMemory& memory_;
  std::vector<symbols::Mapping> mappings_;
  const symbols::Mapping* last_ = nullptr;
  Written written_;
  std::array<Block, kBlocks> data_;
  std::array<CodeBlock, kBlocks> code_;
};

}  // namespace pastcone::replay
