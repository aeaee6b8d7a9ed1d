#include "pastcone/patch/go_functions.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

namespace pastcone::patch {
namespace {

enum Magic : uint32_t { kGo12 = 0xfffffffb, kGo116 = 0xfffffffa, kGo118 = 0xfffffff0, kGo120 = 0xfffffff1 };

/// The fields that are wanted of a table's header, as words behind its first eight bytes.
struct Layout {
  Magic magic;
  size_t text_start;  ///< what entries are relative to; 0: they are addresses
  size_t functions;   ///< where the table proper begins; 0: right behind the count
  size_t entry_size;  ///< of the address in an entry; what follows it is as large
};
constexpr std::array<Layout, 4> kLayouts = {
    {{kGo12, 0, 0, 8}, {kGo116, 0, 6, 8}, {kGo118, 2, 7, 4}, {kGo120, 2, 7, 4}}};
constexpr size_t kHeaderSize = 8 + 8 * 8;

uint64_t number_at(ByteView bytes, uint64_t offset, size_t size) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data() + offset, size);
  return value;
}

const Layout* layout_of(ByteView table) {
  // Two zeros, the smallest instruction, the size of a pointer
  constexpr std::array<uint8_t, 4> kX86_64 = {0, 0, 1, 8};
  if (table.size() < kHeaderSize || !std::ranges::equal(table.subspan(4, 4), kX86_64)) return nullptr;
  auto found = std::ranges::find(kLayouts, number_at(table, 0, 4), &Layout::magic);
  return found == kLayouts.end() ? nullptr : &*found;
}

/// Nothing if this is no table after all: then something is in it that cannot be.
std::optional<std::vector<GoFunction>> read_table(const ElfImage& image, ByteView table, const Layout& layout) {
  auto word = [&](size_t index) { return number_at(table, 8 + 8 * index, 8); };
  uint64_t count = word(0);
  uint64_t text = layout.text_start != 0 ? word(layout.text_start) : 0;
  uint64_t begin = layout.functions != 0 ? word(layout.functions) : 16;
  size_t entry = 2 * layout.entry_size;
  if (begin > table.size() || count == 0 || count >= (table.size() - begin) / entry) return std::nullopt;
  std::vector<GoFunction> functions;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t start = text + number_at(table, begin + i * entry, layout.entry_size);
    uint64_t end = text + number_at(table, begin + (i + 1) * entry, layout.entry_size);
    const Segment* segment = image.executable_segment(start);
    if (segment == nullptr || end < start || end > segment->end()) return std::nullopt;
    functions.push_back({start, end});
  }
  return functions;
}

}  // namespace

std::vector<GoFunction> read_go_functions(const ElfImage& image) {
  constexpr size_t kAlignment = 8;
  for (const Segment& segment : image.segments()) {
    if (segment.executable) continue;
    ByteView bytes = image.bytes(segment);
    for (size_t at = -segment.vaddr % kAlignment; at + kHeaderSize <= bytes.size(); at += kAlignment) {
      if (bytes[at + 7] != 8 || bytes[at + 3] != 0xff) continue;
      const Layout* layout = layout_of(bytes.subspan(at));
      if (layout == nullptr) continue;
      if (auto functions = read_table(image, bytes.subspan(at), *layout)) return *functions;
    }
  }
  return {};
}

}  // namespace pastcone::patch
