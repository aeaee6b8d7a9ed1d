#include "pastcone/patch/functions.h"

#include <algorithm>
#include <array>

#include "pastcone/patch/go_functions.h"

namespace pastcone::patch {
namespace {

struct Range {
  uint64_t start, end;
};

/// All known ranges that lie in one executable segment, sorted.
std::vector<Range> known_ranges(const ElfImage& image, const std::vector<Frame>& frames) {
  std::vector<Range> ranges;
  auto add = [&](uint64_t start, uint64_t size) {
    const Segment* segment = image.executable_segment(start);
    if (segment != nullptr && size > 0 && size <= segment->end() - start)
      ranges.push_back({start, start + size});
  };
  for (const Frame& frame : frames) {
    // glibc's frame for its signal restorer starts a byte early, in the padding, for old unwinders.
    uint64_t early = is_signal_restorer(image.from(frame.start + 1)) ? 1 : 0;
    add(frame.start + early, frame.end - frame.start - early);
  }
  for (const Symbol& symbol : image.symbols()) {
    if (symbol.is_function) add(symbol.address, symbol.size);
  }
  for (const GoFunction& function : read_go_functions(image)) {
    add(function.start, function.end - function.start);
  }
  std::ranges::sort(ranges, {}, &Range::start);
  return ranges;
}

}  // namespace

bool is_signal_restorer(ByteView code) {
  constexpr std::array<uint8_t, 9> kRestorer = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
  return code.size() >= kRestorer.size() && std::ranges::equal(code.first(kRestorer.size()), kRestorer);
}

std::vector<Piece> find_pieces(const ElfImage& image, const std::vector<Frame>& frames) {
  std::vector<Range> ranges = known_ranges(image, frames);
  std::vector<Piece> pieces;
  uint64_t covered = 0;  // up to here some range that began earlier reaches
  for (size_t i = 0; i < ranges.size(); ++i) {
    covered = std::max(covered, ranges[i].end);
    if (i + 1 < ranges.size() && ranges[i + 1].start == ranges[i].start) continue;
    uint64_t limit = image.executable_segment(ranges[i].start)->end();
    if (i + 1 < ranges.size()) limit = std::min(limit, ranges[i + 1].start);
    pieces.push_back({ranges[i].start, std::min(covered, limit), limit});
  }
  return pieces;
}

}  // namespace pastcone::patch
