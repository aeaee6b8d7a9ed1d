#include "pastcone/trace/repetition.h"

#include <cstdint>
#include <cstring>
#include <vector>

namespace pastcone {
namespace {

constexpr size_t kPiece = 24;
constexpr unsigned kSlotBits = 16;
constexpr uint64_t kOneOf = 32;  // pieces are looked at
constexpr uint64_t kMuch = 16;

uint64_t word(const uint8_t* bytes) {
  uint64_t value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

}  // namespace

/// Which pieces are looked at depends on what begins them, so that of two that are equal both are, or none.
bool repeats_itself(ByteView bytes) {
  if (bytes.size() < kPiece) return false;
  std::vector<uint32_t> seen(size_t{1} << kSlotBits);
  uint64_t looked_at = 0, repeated = 0;
  const uint8_t* last = bytes.data() + (bytes.size() - kPiece);
  for (const uint8_t* at = bytes.data(); at <= last; ++at) {
    uint64_t begin = word(at) * 0x9e3779b97f4a7c15;
    if (begin > UINT64_MAX / kOneOf) continue;
    uint64_t all = ((begin ^ word(at + 8)) * 0xc2b2ae3d27d4eb4f ^ word(at + 16)) * 0x9e3779b97f4a7c15;
    uint32_t& slot = seen[all >> (64 - kSlotBits)];
    auto rest = static_cast<uint32_t>(all >> 16);
    ++looked_at;
    if (slot == rest) ++repeated;
    slot = rest;
  }
  // Where the same few pieces come all the time, those looked at may not be among them: then there are too
  // few.
  uint64_t usual = bytes.size() / kOneOf;
  return repeated * kMuch > looked_at || looked_at * 4 < usual * 3;
}

}  // namespace pastcone
