// rep movs and rep stos, which are whole functions: memory is filled and copied.
#include <array>
#include <cstring>

#include "pastcone/replay/emulation.h"

namespace pastcone::replay {

/// All rounds, or none. The processor may stop behind each: where somebody looks at what is written it has to.
bool Emulation::run_repeated() {
  constexpr uint64_t kPage = 4096, kBackwards = 0x400;
  constexpr uint8_t kRepeat = 0xf3;
  if (byte() != kRepeat || bounds_.memory == nullptr || !bounds_.looked_at || !bounds_.alone) return false;
  uint8_t operation = byte();
  if ((operation & 0xf0) == 0x40) {
    wide_ = (operation & 8) != 0;
    operation = byte();
  }
  bool copies = operation == 0xa4 || operation == 0xa5, fills = operation == 0xaa || operation == 0xab;
  if (short_ || (!copies && !fills) || (r_.eflags & kBackwards) != 0) return false;
  uint64_t unit = (operation & 1) == 0 ? 1 : width(), to = r_.rdi, from = r_.rsi;
  if (r_.rcx > kPage / unit) return false;
  uint64_t size = r_.rcx * unit;
  if (size == 0) return next();
  auto in_one_page = [&](uint64_t address) { return address % kPage + size <= kPage; };
  if (!in_one_page(to) || bounds_.looked_at(to, size)) return false;
  std::array<uint8_t, kPage> bytes;
  if (copies) {
    bool overlap = from < to + size && to < from + size;
    if (overlap || !in_one_page(from) || !bounds_.memory->read(from, bytes.data(), size)) return false;
    r_.rsi += size;
  } else {
    for (uint64_t at = 0; at < size; at += unit) std::memcpy(bytes.data() + at, &r_.rax, unit);
  }
  if (!bounds_.memory->write(to, bytes.data(), size)) return false;
  r_.rdi += size;
  r_.rcx = 0;
  return next();
}

}  // namespace pastcone::replay
