#include "pastcone/replay/watchpoints.h"

#include <sys/ptrace.h>
#include <sys/user.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <utility>

#include "pastcone/base/files.h"

namespace pastcone::replay {
namespace {

constexpr uint64_t kControl = 7, kStatus = 6;

uint64_t place_of(uint64_t number) { return offsetof(user, u_debugreg) + number * sizeof(uint64_t); }

Status set(pid_t thread, uint64_t number, uint64_t value) {
  if (ptrace(PTRACE_POKEUSER, thread, place_of(number), value) == 0) return {};
  if (errno == EINVAL) return fail("{:#x} cannot be watched", value);
  if (errno == ENOSPC) return fail("the machine has no debug registers left for {:#x}", value);
  return fail("no watchpoint can be set: {}", errno_message(errno));
}

}  // namespace

std::vector<Watchpoints::Piece> Watchpoints::split(uint64_t address, uint32_t size, bool reads) {
  std::vector<Piece> pieces;
  while (size > 0 && pieces.size() <= kRegisters) {
    uint32_t piece = 8;
    while (piece > size || address % piece != 0) piece /= 2;
    pieces.push_back({address, piece, reads, 1});
    address += piece;
    size -= piece;
  }
  return pieces;
}

Watchpoints::Piece* Watchpoints::find(const Piece& wanted) {
  for (Piece& have : registers_) {
    bool same = have.address == wanted.address && have.size == wanted.size && have.reads == wanted.reads;
    if (have.users > 0 && same) return &have;
  }
  return nullptr;
}

Status Watchpoints::add(uint64_t address, uint32_t size, bool reads) {
  if (size == 0) return fail("there is nothing to watch: its size is 0");
  for (Watch& watch : watches_) {
    if (watch.address != address || watch.size != size || watch.reads != reads) continue;
    ++watch.users;
    return {};
  }
  std::vector<Piece> pieces = split(address, size, reads);
  auto unused = static_cast<size_t>(std::count_if(registers_.begin(), registers_.end(),
                                                  [](const Piece& piece) { return piece.users == 0; }));
  size_t wanted = 0;
  for (const Piece& piece : pieces) wanted += find(piece) == nullptr ? 1 : 0;
  if (wanted > unused) {
    return fail("{} bytes at {:#x} cannot be watched: that takes {} debug registers, and {} of {} are free",
                size, address, wanted > kRegisters ? "more than four" : std::to_string(wanted), unused,
                kRegisters);
  }
  for (const Piece& piece : pieces) {
    if (Piece* have = find(piece))
      ++have->users;
    else
      put(piece);
  }
  watches_.push_back({{address, size, reads}, 1});
  return {};
}

/// In place of one of the same kind, if there is one: so only the address is another.
void Watchpoints::put(const Piece& piece) {
  auto is_free = [](const Piece& any) { return any.users == 0; };
  auto free = std::ranges::find_if(registers_, [&](const Piece& any) {
    return is_free(any) && any.size == piece.size && any.reads == piece.reads;
  });
  if (free == registers_.end()) free = std::ranges::find_if(registers_, is_free);
  *free = piece;
}

void Watchpoints::remove(uint64_t address, uint32_t size, bool reads) {
  auto watch = std::find_if(watches_.begin(), watches_.end(), [&](const Watch& any) {
    return any.address == address && any.size == size && any.reads == reads;
  });
  if (watch == watches_.end() || --watch->users > 0) return;
  watches_.erase(watch);
  for (const Piece& piece : split(address, size, reads)) {
    if (Piece* have = find(piece)) --have->users;
  }
}

Status Watchpoints::apply(pid_t thread, Registers& has) const {
  Registers before = std::exchange(has, {});
  Registers wanted{true, before.addresses, 0};
  for (size_t i = 0; i < kRegisters; ++i) {
    const Piece& piece = registers_[i];
    if (piece.users == 0) continue;
    wanted.addresses[i] = piece.address;
    uint64_t length = piece.size == 8 ? 2 : piece.size - 1, kind = piece.reads ? 3 : 1;
    wanted.control |= uint64_t{1} << 2 * i | (length << 2 | kind) << (16 + 4 * i);
  }
  bool same_control = before.known && before.control == wanted.control;
  // Off first: an address may not be changed under a length that it is not aligned to.
  if (!same_control) TRY_STATUS(set(thread, kControl, 0));
  for (size_t i = 0; i < kRegisters; ++i) {
    bool used = registers_[i].users > 0, same = before.known && before.addresses[i] == wanted.addresses[i];
    if (used && !same) TRY_STATUS(set(thread, i, wanted.addresses[i]));
  }
  if (!same_control && wanted.control != 0) TRY_STATUS(set(thread, kControl, wanted.control));
  has = wanted;
  return {};
}

bool Watchpoints::fit(const Registers& has) const {
  constexpr uint64_t kEnd = (uint64_t{1} << 47) - 4096, kEnabled = 0x55;
  auto used = std::ranges::count_if(registers_, [](const Piece& piece) { return piece.users > 0; });
  bool in_program = std::ranges::all_of(
      registers_, [](const Piece& piece) { return piece.users == 0 || piece.address < kEnd - piece.size; });
  return in_program && has.known && used <= std::popcount(has.control & kEnabled);
}

std::vector<WatchedWord> Watchpoints::hits(pid_t thread) const {
  std::vector<WatchedWord> found;
  if (empty()) return found;
  long status = ptrace(PTRACE_PEEKUSER, thread, place_of(kStatus), nullptr);
  for (const Watch& watch : watches_) {
    for (size_t i = 0; i < kRegisters; ++i) {
      const Piece& piece = registers_[i];
      bool part = piece.users > 0 && piece.reads == watch.reads && piece.address >= watch.address &&
                  piece.address + piece.size <= watch.address + watch.size;
      if (part && (status >> i & 1) != 0) {
        found.push_back(watch);
        break;
      }
    }
  }
  return found;
}

bool Watchpoints::sees(uint64_t address, uint64_t size, bool writes) const {
  return std::ranges::any_of(registers_, [&](const Piece& piece) {
    bool touches = piece.address < address + size && address < piece.address + piece.size;
    return piece.users > 0 && touches && (writes || piece.reads);
  });
}

std::vector<WatchedWord> Watchpoints::near(uint64_t address, uint64_t size) const {
  std::vector<WatchedWord> found;
  for (const Watch& watch : watches_)
    if (watch.address < address + size && address < watch.address + watch.size) found.push_back(watch);
  return found;
}

}  // namespace pastcone::replay
