// Chooses which instructions make room for a site's jump.
//
// The jump needs five bytes, most sites have two or three. So whole neighbours move to the trampoline with
// it: those behind, or, if control may enter there from elsewhere, those in front. All of these hold:
//   - no target (see targets.h) lies behind the first byte of the group;
//   - each neighbour works elsewhere: it is position independent, or a jump, branch or operand relative to
//   %rip that
//     can be encoded anew. Calls do not move: their return address would be in the trampoline, where
//     exceptions and debuggers do not know their way;
//   - groups of different sites do not overlap;
//   - behind a jump or return only padding is taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <tl/expected.hpp>

#include "pastcone/patch/decoder.h"
#include "pastcone/patch/targets.h"

namespace pastcone::patch {

inline constexpr uint64_t kJumpSize = 5;

/// What a jump replaces: bytes [start, end) of the file's addresses.
struct Displacement {
  uint64_t start = 0;
  uint64_t end = 0;
  std::span<const Instruction> before;  ///< to be executed before the site's instruction
  Instruction site;
  std::span<const Instruction> after;  ///< and after it
  bool falls_through = true;           ///< control then goes on at `end`
};

/// The group for code[site], which may use bytes from `free_from` on; or why there is none.
tl::expected<Displacement, const char*> displace(std::span<const Instruction> code, size_t site,
                                                 const CodeAddresses& targets, uint64_t free_from);

/// The same at the start of a function: there is no site, all of the group is `before`.
tl::expected<Displacement, const char*> displace_entry(std::span<const Instruction> code,
                                                       const CodeAddresses& targets);

}  // namespace pastcone::patch
