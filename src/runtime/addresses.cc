#include "addresses.h"

#include "log.h"
#include "thread.h"

namespace pastcone::runtime {
namespace {
constexpr u64 kDropped = 1;
constexpr u32 kProbes = 256;
}  // namespace

u64 address_key(KeyOf family, u64 a, u64 b, u64 c) {
  Hash h;
  h.mix((u64)family);
  h.mix(a);
  h.mix(b);
  h.mix(c);
  return h.state | 2;  // never 0 or kDropped
}

void put_address(u64 key, u32 value) {
  // An older entry with the same key is a connection that is gone.
  for (u32 i = 0; i < kProbes; ++i) {
    auto& slot = g.stage.address((u32)((key + i) % stage::kAddressSlots));
    u64 held = load(slot.key);
    if (held == key) {
      store(slot.connection, value);
      return;
    }
    if (!held) break;
  }
  for (u32 i = 0; i < kProbes; ++i) {
    auto& slot = g.stage.address((u32)((key + i) % stage::kAddressSlots));
    u64 held = load(slot.key);
    if (held > kDropped) continue;
    if (swap_if(slot.key, held, key)) {
      store(slot.connection, value);
      return;
    }
  }
}

u32 find_address(u64 key) {
  for (u32 i = 0; i < kProbes; ++i) {
    auto& slot = g.stage.address((u32)((key + i) % stage::kAddressSlots));
    u64 held = load(slot.key);
    if (held == key) return load(slot.connection);
    if (!held) break;
  }
  return 0;
}

void drop_address(u64 key) {
  for (u32 i = 0; i < kProbes; ++i) {
    auto& slot = g.stage.address((u32)((key + i) % stage::kAddressSlots));
    u64 held = load(slot.key);
    if (held == key) {
      store(slot.connection, 0u);
      store(slot.key, kDropped);
      return;
    }
    if (!held) return;
  }
}

}  // namespace pastcone::runtime
