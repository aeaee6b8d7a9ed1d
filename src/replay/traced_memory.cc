#include "pastcone/replay/traced_memory.h"

#include <fcntl.h>
#include <linux/kcmp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "pastcone/replay/ahead_memory.h"

namespace pastcone::replay {
namespace {

constexpr uint8_t kInt3 = 0xcc;

}  // namespace

bool share_memory(pid_t one, pid_t other) { return syscall(SYS_kcmp, one, other, KCMP_VM, 0, 0) == 0; }

Result<std::shared_ptr<TracedMemory>> TracedMemory::open(pid_t process) {
  UniqueFd memory = TRY(open_file(symbols::proc_of(process) / "mem", O_RDWR | O_CLOEXEC));
  auto maps = open_file(symbols::proc_of(process) / "maps", O_RDONLY | O_CLOEXEC);
  return std::shared_ptr<TracedMemory>(new TracedMemory(std::move(memory), maps ? std::move(*maps) : UniqueFd()));
}

Result<std::shared_ptr<TracedMemory>> TracedMemory::open_copy(pid_t child, const TracedMemory& parent) {
  auto copy = TRY(open(child));
  for (const auto& [address, point] : parent.breaks_) {
    if (point.in) copy->poke(address, point.original);
  }
  for (const auto& [address, original] : parent.removed_) {
    // It may have been copied before it was removed.
    uint8_t now = 0;
    if (copy->peek(address, now) && now == kBreak) copy->poke(address, original);
  }
  copy->removed_ = parent.removed_;
  return copy;
}

bool TracedMemory::peek(uint64_t address, uint8_t& byte) const {
  return pread(memory_.get(), &byte, 1, static_cast<off_t>(address)) == 1;
}

bool TracedMemory::poke(uint64_t address, uint8_t byte) const {
  return pwrite(memory_.get(), &byte, 1, static_cast<off_t>(address)) == 1;
}

bool TracedMemory::read(uint64_t address, void* to, size_t size) const {
  if (ahead != nullptr) {
    if (!any(address, address + size) && ahead->read(address, to, size)) return true;
    ahead->flush();
  }
  return read_through(address, to, size);
}

bool TracedMemory::write(uint64_t address, const void* from, size_t size) {
  if (ahead != nullptr) ahead->forget();
  return write_through(address, from, size);
}

bool TracedMemory::read_through(uint64_t address, void* to, size_t size) const {
  if (pread(memory_.get(), to, size, static_cast<off_t>(address)) != static_cast<ssize_t>(size)) return false;
  auto* bytes = static_cast<uint8_t*>(to);
  for (auto point = breaks_.lower_bound(address); point != breaks_.end(); ++point) {
    if (point->first - address >= size) break;
    uint8_t& byte = bytes[point->first - address];
    if (point->second.in && byte == kBreak) byte = point->second.original;
  }
  return true;
}

bool TracedMemory::write_through(uint64_t address, const void* from, size_t size) {
  const auto* begin = static_cast<const uint8_t*>(from);
  std::vector<uint8_t> bytes(begin, begin + size);
  auto first = breaks_.lower_bound(address);
  for (auto point = first; point != breaks_.end() && point->first - address < size; ++point) {
    if (point->second.in) bytes[point->first - address] = kBreak;
  }
  if (pwrite(memory_.get(), bytes.data(), size, static_cast<off_t>(address)) != static_cast<ssize_t>(size))
    return false;
  for (auto point = first; point != breaks_.end() && point->first - address < size; ++point)
    point->second.original = begin[point->first - address];
  return true;
}

Status TracedMemory::add(uint64_t address) {
  if (auto known = breaks_.find(address); known != breaks_.end()) {
    ++known->second.users;
    return {};
  }
  uint8_t original = 0;
  if (!peek(address, original)) return fail("there is no memory at {:#x}", address);
  bool in = strangers_.empty();
  if (!poke(address, in ? kBreak : original))
    return fail("no breakpoint can be put at {:#x}: {}", address, errno_message(errno));
  removed_.erase(address);
  breaks_[address] = {original, 1, in};
  return {};
}

void TracedMemory::remove(uint64_t address) {
  auto known = breaks_.find(address);
  if (known == breaks_.end() || --known->second.users > 0) return;
  uint8_t now = 0;
  if (known->second.in && peek(address, now) && now == kBreak) poke(address, known->second.original);
  removed_[address] = known->second.original;
  breaks_.erase(known);
}

bool TracedMemory::has(uint64_t address) const {
  auto known = breaks_.find(address);
  return known != breaks_.end() && known->second.in;
}

bool TracedMemory::is_in_place(uint64_t address) const {
  uint8_t now = 0;
  return has(address) && peek(address, now) && now == kBreak;
}

bool TracedMemory::any(uint64_t begin, uint64_t end) const {
  auto next = breaks_.lower_bound(begin);
  return next != breaks_.end() && next->first < end;
}

bool TracedMemory::bury(uint64_t address) {
  auto known = removed_.find(address);
  uint8_t now = 0;
  return known != removed_.end() && peek(address, now) && now == kBreak && poke(address, known->second);
}

void TracedMemory::take_out(uint64_t address) {
  uint8_t now = 0;
  if (has(address) && peek(address, now) && now == kBreak) poke(address, breaks_[address].original);
}

void TracedMemory::put_in(uint64_t address) {
  if (has(address)) poke(address, kBreak);
}

void TracedMemory::renew() {
  for (auto& [address, point] : breaks_) {
    uint8_t now = 0;
    if (!point.in || !peek(address, now) || now == kBreak) continue;
    if (now == kInt3 && point.original != kInt3)
      continue;  // in its place for now; the runtime will put it back
    point.original = now;
    poke(address, kBreak);
  }
}

void TracedMemory::add_stranger(pid_t process) {
  if (strangers_.empty()) {
    for (auto& [address, point] : breaks_) {
      poke(address, point.original);
      point.in = false;
    }
  }
  strangers_.push_back(process);
}

void TracedMemory::look_for_strangers(pid_t process) {
  if (strangers_.empty()) return;
  std::erase_if(strangers_, [&](pid_t stranger) { return !share_memory(process, stranger); });
  if (!strangers_.empty()) return;
  for (auto& [address, point] : breaks_) {
    if (peek(address, point.original)) point.in = poke(address, kBreak);
  }
}

}  // namespace pastcone::replay
