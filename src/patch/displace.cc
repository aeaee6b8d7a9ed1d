#include "pastcone/patch/displace.h"

namespace pastcone::patch {
namespace {

constexpr const char* kNoRoom = "no room: the function ends";
constexpr const char* kTarget = "no room: a jump target is near";
constexpr const char* kUnmovable = "no room: a call or the like is near";
constexpr const char* kOtherSite = "no room: another site is near";

bool can_move(const Instruction& instruction) {
  return instruction.is_movable && (instruction.flow != Flow::kOther || instruction.is_padding);
}

/// The group that begins with code[first] and ends as early as possible.
tl::expected<Displacement, const char*> extend(std::span<const Instruction> code, size_t first, size_t site,
                                               const CodeAddresses& targets) {
  bool falls_through = true;
  size_t next = site + 1;  // the first that stays
  size_t executed = next;  // the first that need not be executed
  while (code[next - 1].end() - code[first].address < kJumpSize) {
    if (next == code.size()) return tl::unexpected(kNoRoom);
    const Instruction& instruction = code[next];
    if (instruction.is_site) return tl::unexpected(kOtherSite);
    if (!can_move(instruction)) return tl::unexpected(kUnmovable);
    if (!falls_through && !instruction.is_padding) return tl::unexpected(kNoRoom);
    ++next;
    if (falls_through) executed = next;
    falls_through = falls_through && instruction.falls_through();
  }
  uint64_t start = code[first].address;
  uint64_t end = code[next - 1].end();
  if (targets.any_in(start + 1, end)) return tl::unexpected(kTarget);
  return Displacement{start,
                      end,
                      code.subspan(first, site - first),
                      code[site],
                      code.subspan(site + 1, executed - site - 1),
                      falls_through};
}

}  // namespace

tl::expected<Displacement, const char*> displace(std::span<const Instruction> code, size_t site,
                                                 const CodeAddresses& targets, uint64_t free_from) {
  auto forward = extend(code, site, site, targets);
  if (forward) return forward;
  for (size_t first = site; first > 0 && code[site].end() - code[first].address < kJumpSize;) {
    --first;
    const Instruction& instruction = code[first];
    bool usable = can_move(instruction) && instruction.falls_through() && !instruction.is_site;
    if (!usable || instruction.address < free_from) break;
    if (auto group = extend(code, first, site, targets)) return group;
  }
  return forward;  // its reason is the more telling one
}

tl::expected<Displacement, const char*> displace_entry(std::span<const Instruction> code,
                                                       const CodeAddresses& targets) {
  size_t count = 0, executed = 0;
  bool falls_through = true;
  while (count == 0 || code[count - 1].end() - code[0].address < kJumpSize) {
    if (count == code.size()) return tl::unexpected(kNoRoom);
    const Instruction& instruction = code[count++];
    if (instruction.is_site) return tl::unexpected(kOtherSite);
    // A call that is the last returns to where it always did.
    bool last = instruction.end() - code[0].address >= kJumpSize;
    if (!can_move(instruction) && !(last && instruction.is_call)) return tl::unexpected(kUnmovable);
    if (!falls_through && !instruction.is_padding) return tl::unexpected(kNoRoom);
    if (falls_through) executed = count;
    falls_through = falls_through && instruction.falls_through();
  }
  uint64_t start = code[0].address, end = code[count - 1].end();
  if (targets.any_in(start + 1, end)) return tl::unexpected(kTarget);
  return Displacement{start, end, code.first(executed), {}, {}, falls_through};
}

}  // namespace pastcone::patch
