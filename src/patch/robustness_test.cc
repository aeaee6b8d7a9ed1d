// Damaged files give an error or a report, never a crash. Most useful with sanitizers.
#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "pastcone/patch/patch.h"

namespace pastcone::patch {
namespace {

Bytes subject() {
  std::string contents = *read_file(PATCH_SUBJECT);
  return {contents.begin(), contents.end()};
}

/// Patches it, whatever comes of it.
void try_patch(const Bytes& file) {
  auto patched = patch_bytes(file, {.traps = true});
  if (!patched) return;
  EXPECT_EQ(patched->report.needed, patched->contents.size() > file.size());
}

TEST(Robustness, TruncatedFiles) {
  Bytes file = subject();
  for (size_t size = 0; size < file.size(); size += size < 1024 ? 1 : 17) {
    try_patch(Bytes(file.begin(), file.begin() + static_cast<ptrdiff_t>(size)));
  }
}

TEST(Robustness, FlippedBytes) {
  Bytes original = subject();
  std::mt19937 random(1);
  for (int round = 0; round < 4000; ++round) {
    Bytes file = original;
    for (unsigned flips = 1 + random() % 8; flips > 0; --flips) {
      // Mostly in the tables; headers are at the start.
      size_t range = random() % 2 == 0 ? 512 : file.size();
      file[random() % range] = static_cast<uint8_t>(random());
    }
    try_patch(file);
  }
}

TEST(Robustness, LargeNumbersInTables) {
  Bytes original = subject();
  for (uint64_t value : {uint64_t{1}, uint64_t{0xffffffff}, uint64_t{1} << 46, ~uint64_t{0} - 4096}) {
    for (size_t at = 0; at + 8 <= original.size(); at += 4) {
      if (at > 1024 && at % 64 != 0 && at < 0x2000) continue;  // machine code: rarely
      Bytes file = original;
      std::memcpy(file.data() + at, &value, 8);
      try_patch(file);
    }
  }
}

TEST(Robustness, Garbage) {
  std::mt19937 random(2);
  for (int round = 0; round < 1000; ++round) {
    Bytes file(random() % 5000);
    std::ranges::generate(file, [&] { return static_cast<uint8_t>(random()); });
    if (round % 2 == 0 && file.size() >= sizeof(Elf64_Ehdr)) {
      Bytes original = subject();
      std::memcpy(file.data(), original.data(), sizeof(Elf64_Ehdr));
    }
    try_patch(file);
  }
}

}  // namespace
}  // namespace pastcone::patch
