#include "pastcone/replay/ahead_memory.h"

#include <sys/uio.h>

#include <algorithm>
#include <cstring>

#include "pastcone/replay/traced_memory.h"

namespace pastcone::replay {

AheadMemory::AheadMemory(pid_t process, TracedMemory& memory) : process_(process), memory_(memory) {
  if (auto maps = symbols::read_maps(process))
    mappings_ = symbols::parse_mappings(*maps);
}

const symbols::Mapping* AheadMemory::mapping_of(uint64_t address) {
  auto has = [&](const symbols::Mapping& one) { return address >= one.start && address < one.end; };
  if (last_ != nullptr && has(*last_)) return last_;
  auto found = std::ranges::find_if(mappings_, has);
  return last_ = found == mappings_.end() ? nullptr : &*found;
}

/// By a call that asks what the program may read, which /proc/PID/mem does not.
bool AheadMemory::fetch(uint64_t address, void* to, size_t size) const {
  iovec ours{to, size}, theirs{reinterpret_cast<void*>(address), size};
  return process_vm_readv(process_, &ours, 1, &theirs, 1, 0) == static_cast<ssize_t>(size);
}

AheadMemory::Block* AheadMemory::keep(uint64_t address, const symbols::Mapping& mapping) {
  uint64_t begin = begin_of(address);
  Block& block = data_[index_of(address)];
  if (block.begin == begin) return &block;
  flush(block);
  block.begin = kNone;
  if (!fetch(begin, block.bytes.data(), kBlock)) return nullptr;
  block.begin = begin;
  block.writable = mapping.writable;
  return &block;
}

void AheadMemory::put(Block& block, uint64_t address, const void* from, size_t size) {
  size_t at = address - block.begin;
  std::memcpy(block.bytes.data() + at, from, size);
  for (size_t i = at; i < at + size; ++i) block.dirty.set(i);
}

bool AheadMemory::read(uint64_t address, void* to, size_t size) {
  if (const Block* block = kept(address, size)) {
    std::memcpy(to, block->bytes.data() + (address - block->begin), size);
    return true;
  }
  const symbols::Mapping* mapping = mapping_of(address);
  if (mapping == nullptr) return false;
  bool across = address - begin_of(address) + size > kBlock;
  // Code may have breakpoints in it.
  if (mapping->shared || mapping->executable || across) {
    if (across) flush();
    return fetch(address, to, size);
  }
  const Block* block = keep(address, *mapping);
  if (block == nullptr) return false;
  std::memcpy(to, block->bytes.data() + (address - block->begin), size);
  return true;
}

/// Guarded pages are not writable because of us.
bool AheadMemory::write(uint64_t address, const void* from, size_t size) {
  if (Block* block = kept(address, size); block != nullptr && block->writable) {
    put(*block, address, from, size);
    written_ = {address, size};
    return true;
  }
  const symbols::Mapping* mapping = mapping_of(address);
  if (mapping == nullptr || address + size > mapping->end || mapping->executable) return false;
  if (!mapping->writable && !memory_.pages.has(address)) return false;
  bool across = address - begin_of(address) + size > kBlock;
  if (mapping->shared || across) {
    if (across) forget();
    if (!memory_.write_through(address, from, size)) return false;
  } else {
    Block* block = keep(address, *mapping);
    if (block == nullptr) return false;
    put(*block, address, from, size);
  }
  written_ = {address, size};
  return true;
}

std::span<const uint8_t> AheadMemory::code(uint64_t address) {
  uint64_t begin = begin_of(address);
  CodeBlock& block = code_[index_of(address)];
  if (block.begin != begin) {
    const symbols::Mapping* mapping = mapping_of(address);
    // What is written to as well may be another soon.
    if (mapping == nullptr || !mapping->executable || mapping->writable) return {};
    block.begin = begin;
    block.size = std::min(block.bytes.size(), mapping->end - begin);
    if (!memory_.read_through(begin, block.bytes.data(), block.size)) block.size = 0;
  }
  size_t at = address - begin;
  size_t size = block.size <= at ? 0 : std::min<size_t>(block.size - at, kLongest);
  return std::span(block.bytes).subspan(at, size);
}

bool AheadMemory::read_kept(uint64_t address, void* to, size_t size) const {
  const Block& block = data_[index_of(address)];
  if (block.begin != begin_of(address) || address - block.begin + size > kBlock) return false;
  std::memcpy(to, block.bytes.data() + (address - block.begin), size);
  return true;
}

/// No more than was written: of what is beside it somebody else may have changed something.
void AheadMemory::flush(Block& block) {
  if (block.dirty.none()) return;
  for (size_t begin = 0, end; begin < kBlock; begin = end + 1) {
    for (end = begin; end < kBlock && block.dirty.test(end);) ++end;
    if (begin < end) memory_.write_through(block.begin + begin, block.bytes.data() + begin, end - begin);
  }
  block.dirty.reset();
}

void AheadMemory::flush() {
  for (Block& block : data_) flush(block);
}

void AheadMemory::forget() {
  flush();
  for (Block& block : data_) block.begin = kNone;
}

}  // namespace pastcone::replay
