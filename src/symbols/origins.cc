#include "pastcone/symbols/origins.h"

#include <algorithm>
#include <cstring>

namespace pastcone::symbols {

std::optional<Origins> Origins::read(const Path& file) {
  auto mapped = MappedFile::open(file);
  if (!mapped || mapped->bytes().size() < sizeof(patch::PatchTrailer)) return std::nullopt;
  ByteView bytes = mapped->bytes();
  patch::PatchTrailer trailer;
  std::memcpy(&trailer, bytes.data() + bytes.size() - sizeof trailer, sizeof trailer);
  if (trailer.magic != patch::kPatchMagic || trailer.version != patch::kPatchVersion ||
      trailer.segment_count > patch::kMaxSegments) {
    return std::nullopt;
  }
  Origins result;
  for (uint32_t i = 0; i < trailer.segment_count; ++i) {
    const patch::PatchedSegment& segment = trailer.segments[i];
    if (segment.origin_offset > bytes.size() ||
        segment.origin_count > (bytes.size() - segment.origin_offset) / sizeof(patch::TrampolineOrigin)) {
      return std::nullopt;
    }
    Area area{segment, std::vector<patch::TrampolineOrigin>(segment.origin_count)};
    if (segment.origin_count > 0) {
      std::memcpy(area.origins.data(), bytes.data() + segment.origin_offset,
                  segment.origin_count * sizeof(patch::TrampolineOrigin));
    }
    result.areas_.push_back(std::move(area));
  }
  return result;
}

bool Origins::is_trampoline(uint64_t offset) const {
  return std::ranges::any_of(areas_, [&](const Area& area) {
    return offset - area.segment.trampoline_offset < area.segment.trampoline_size;
  });
}

std::optional<uint64_t> Origins::original(uint64_t offset) const {
  for (const Area& area : areas_) {
    uint64_t inside = offset - area.segment.trampoline_offset;
    if (inside >= area.segment.trampoline_size) continue;
    auto next = std::ranges::upper_bound(area.origins, inside, {}, &patch::TrampolineOrigin::trampoline);
    if (next == area.origins.begin()) return std::nullopt;
    return area.segment.offset + (next - 1)->original;
  }
  return std::nullopt;
}

std::vector<uint64_t> Origins::copies(uint64_t offset) const {
  std::vector<uint64_t> found;
  for (const Piece& piece : pieces())
    if (piece.original == offset) found.push_back(piece.begin);
  return found;
}

std::vector<Origins::Piece> Origins::pieces() const {
  std::vector<Piece> result;
  for (const Area& area : areas_) {
    for (const patch::TrampolineOrigin& origin : area.origins) {
      if (origin.trampoline < area.segment.trampoline_size)
        result.push_back(
            {area.segment.trampoline_offset + origin.trampoline, area.segment.offset + origin.original});
    }
  }
  return result;
}

}  // namespace pastcone::symbols
