#include "pastcone/replay/ahead_memory.h"

#include <sys/ioctl.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "pastcone/replay/traced_memory.h"

namespace pastcone::replay {
namespace {

/// PROCMAP_QUERY and its struct procmap_query (Linux 6.11), which headers may not have yet.
struct MapQuery {
  uint64_t size, how, address;
  uint64_t start, end, kind, page_size, offset, inode;
  uint32_t device[2], name_size, build_id_size;
  uint64_t name, build_id;
};
constexpr unsigned long kMapQuery = _IOWR('f', 17, MapQuery);
constexpr uint64_t kMapReadable = 1, kMapWritable = 2, kMapExecutable = 4, kMapShared = 8;

}  // namespace

const symbols::Mapping* AheadMemory::mapping_of(uint64_t address) {
  auto has = [&](const symbols::Mapping& one) { return address >= one.start && address < one.end; };
  if (last_ != nullptr && has(*last_)) return last_;
  auto found = std::ranges::find_if(mappings_, has);
  if (found == mappings_.end() && !all_known_) {
    look_up(address);
    found = std::ranges::find_if(mappings_, has);
  }
  return last_ = found == mappings_.end() ? nullptr : &*found;
}

/// To read about all of them takes as long as a stop of the process: newer kernels tell of one.
void AheadMemory::look_up(uint64_t address) {
  MapQuery query{};
  query.size = sizeof query;
  query.address = address;
  if (ioctl(memory_.maps(), kMapQuery, &query) == 0) {
    symbols::Mapping one;
    one.start = query.start;
    one.end = query.end;
    one.readable = (query.kind & kMapReadable) != 0;
    one.writable = (query.kind & kMapWritable) != 0;
    one.executable = (query.kind & kMapExecutable) != 0;
    one.shared = (query.kind & kMapShared) != 0;
    mappings_.push_back(one);
  } else if (errno != ENOENT) {
    all_known_ = true;
    mappings_.clear();
    last_ = nullptr;
    if (auto maps = symbols::read_maps(process_)) std::ranges::copy(symbols::parse_mappings(*maps), std::back_inserter(mappings_));
  }
}

/// By a call that asks what the program may read, which /proc/PID/mem does not.
bool AheadMemory::fetch(uint64_t address, void* to, size_t size) const {
  iovec ours{to, size}, theirs{reinterpret_cast<void*>(address), size};
  return process_vm_readv(process_, &ours, 1, &theirs, 1, 0) == static_cast<ssize_t>(size);
}

std::optional<size_t> AheadMemory::keep(uint64_t address, const symbols::Mapping& mapping) {
  uint64_t begin = begin_of(address);
  size_t index = index_of(address);
  Block& block = blocks_[index];
  if (block.begin == begin) return index;
  flush(index);
  block.begin = kNone;
  if (!fetch(begin, data_[index].data(), kBlock)) return std::nullopt;
  block.begin = begin;
  block.writable = mapping.writable;
  return index;
}

bool AheadMemory::keep_both(uint64_t address, size_t size, const symbols::Mapping& mapping) {
  uint64_t behind = begin_of(address) + kBlock;
  if (mapping.shared || mapping.executable || behind >= mapping.end || size > kBlock) return false;
  return index_of(address) != index_of(behind) && keep(address, mapping) && keep(behind, mapping);
}

void AheadMemory::get(size_t index, uint64_t address, void* to, size_t size) const {
  std::memcpy(to, data_[index].data() + (address - begin_of(address)), size);
}

void AheadMemory::put(size_t index, uint64_t address, const void* from, size_t size) {
  size_t at = address - begin_of(address);
  std::memcpy(data_[index].data() + at, from, size);
  for (size_t i = at; i < at + size; ++i) blocks_[index].dirty.set(i);
  dirty_.set(index);
}

bool AheadMemory::read(uint64_t address, void* to, size_t size) {
  if (auto index = kept(address, size)) {
    get(*index, address, to, size);
    return true;
  }
  const symbols::Mapping* mapping = mapping_of(address);
  if (mapping == nullptr) return false;
  bool across = address - begin_of(address) + size > kBlock;
  if (across && keep_both(address, size, *mapping)) {
    uint64_t behind = begin_of(address) + kBlock, first = behind - address;
    get(index_of(address), address, to, first);
    get(index_of(behind), behind, static_cast<uint8_t*>(to) + first, size - first);
    return true;
  }
  // Code may have breakpoints in it.
  if (mapping->shared || mapping->executable || across) {
    if (across) flush();
    return fetch(address, to, size);
  }
  auto index = keep(address, *mapping);
  if (index) get(*index, address, to, size);
  return index.has_value();
}

/// Guarded pages are not writable because of us.
bool AheadMemory::write(uint64_t address, const void* from, size_t size) {
  if (auto index = kept(address, size); index && blocks_[*index].writable) {
    put(*index, address, from, size);
    written_ = {address, size};
    return true;
  }
  const symbols::Mapping* mapping = mapping_of(address);
  if (mapping == nullptr || address + size > mapping->end || mapping->executable) return false;
  if (!mapping->writable && !memory_.pages.has(address)) return false;
  bool across = address - begin_of(address) + size > kBlock;
  if (across && keep_both(address, size, *mapping)) {
    uint64_t behind = begin_of(address) + kBlock, first = behind - address;
    put(index_of(address), address, from, first);
    put(index_of(behind), behind, static_cast<const uint8_t*>(from) + first, size - first);
  } else if (mapping->shared || across) {
    if (across) forget();
    if (!memory_.write_through(address, from, size)) return false;
  } else {
    auto index = keep(address, *mapping);
    if (!index) return false;
    put(*index, address, from, size);
  }
  written_ = {address, size};
  return true;
}

std::span<const uint8_t> AheadMemory::code(uint64_t address) {
  uint64_t begin = begin_of(address);
  size_t index = index_of(address, kCodeBlocks);
  CodeBlock& block = code_[index];
  if (code_begins_[index] != begin) {
    const symbols::Mapping* mapping = mapping_of(address);
    // What is written to as well may be another soon.
    if (mapping == nullptr || !mapping->executable || mapping->writable) return {};
    code_begins_[index] = begin;
    block.size = std::min(block.bytes.size(), mapping->end - begin);
    if (!memory_.read_through(begin, block.bytes.data(), block.size)) block.size = 0;
  }
  size_t at = address - begin;
  size_t size = block.size <= at ? 0 : std::min<size_t>(block.size - at, kLongest);
  return std::span(block.bytes).subspan(at, size);
}

/// No more than was written: of what is beside it somebody else may have changed something.
void AheadMemory::flush(size_t index) {
  Block& block = blocks_[index];
  if (!dirty_.test(index)) return;
  for (size_t begin = 0, end; begin < kBlock; begin = end + 1) {
    for (end = begin; end < kBlock && block.dirty.test(end);) ++end;
    if (begin < end) memory_.write_through(block.begin + begin, data_[index].data() + begin, end - begin);
  }
  block.dirty.reset();
  dirty_.reset(index);
}

void AheadMemory::flush() {
  for (size_t index = dirty_._Find_first(); index < kBlocks; index = dirty_._Find_next(index)) flush(index);
}

void AheadMemory::forget() {
  flush();
  for (Block& block : blocks_) block.begin = kNone;
}

}  // namespace pastcone::replay
