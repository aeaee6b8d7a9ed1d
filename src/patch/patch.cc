#include "pastcone/patch/patch.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include "pastcone/patch/displace.h"
#include "pastcone/patch/eh_frame.h"
#include "pastcone/patch/elf_image.h"
#include "pastcone/patch/exempt.h"
#include "pastcone/patch/functions.h"
#include "pastcone/patch/hooked.h"
#include "pastcone/patch/sites.h"
#include "pastcone/patch/targets.h"
#include "pastcone/patch/trampoline.h"

namespace pastcone::patch {
namespace {

constexpr uint8_t kNop = 0x90;
constexpr uint8_t kInt3 = 0xcc;

/// Where a segment's trampolines go, and how many bytes are free there.
struct Placement {
  uint64_t address = 0;
  uint64_t capacity = 0;
};

/// Below a program at a fixed low address. `start` is behind those of its earlier segments.
Placement place_low(const ElfImage& image, uint64_t start) {
  uint64_t lowest = page_floor(image.segments().front().vaddr);
  return {start, lowest > start ? lowest - start : 0};
}

Placement place_at_distance(const ElfImage& image, const Segment& segment) {
  uint64_t page = page_floor(segment.vaddr);
  Placement place{page - kTrampolineDistance, kTrampolineDistance};
  // Stay clear of the file's own segments, which may be that large, and of the next one's trampolines.
  for (const Segment& other : image.segments()) {
    uint64_t other_page = page_floor(other.vaddr);
    uint64_t other_size = page_ceil(other.vaddr + other.memory_size) - other_page;
    if (place.address - other_page < other_size) place.capacity = 0;
    place.capacity = std::min(place.capacity, other_page - place.address);
    if (other.executable && other_page > page) place.capacity = std::min(place.capacity, other_page - page);
  }
  return place;
}

template <typename T>
ByteView as_raw(const T& value) {
  return {reinterpret_cast<const uint8_t*>(&value), sizeof value};
}

/// What is known about a file's code before anything is changed.
struct Analysis {
  FoundSites sites;
  CodeAddresses targets;
  std::vector<HookedFunction> hooked;
  std::vector<SitePiece> hooked_pieces;  ///< their code; empty where nothing is known about it
};

/// Exceptions enter a function at its landing pads.
void add_landing_pads(const ElfImage& image, std::span<const Frame> frames, Analysis& analysis) {
  for (SitePiece& piece : analysis.sites.pieces) {
    auto next = std::ranges::upper_bound(frames, piece.piece.start, {}, &Frame::start);
    if (next == frames.begin() || (next - 1)->lsda == 0) continue;
    auto pads = landing_pads(image, *(next - 1));
    if (!pads && piece.doubt == nullptr) piece.doubt = "its exception table cannot be read";
    for (uint64_t pad : pads.value_or(std::vector<uint64_t>())) analysis.targets.add(pad);
  }
}

Analysis analyse(const ElfImage& image, bool hooks) {
  std::vector<Frame> frames = read_frames(image);
  std::ranges::sort(frames, {}, &Frame::start);
  std::vector<Piece> pieces = find_pieces(image, frames);
  Analysis analysis{find_sites(image, pieces), CodeAddresses(image), {}, {}};
  if (hooks) analysis.hooked = find_hooked(image);
  for (const HookedFunction& function : analysis.hooked) {
    auto piece = std::ranges::find(pieces, function.address, &Piece::start);
    analysis.hooked_pieces.push_back(piece == pieces.end() ? SitePiece() : decode_piece(image, *piece));
  }
  if (!analysis.sites.pieces.empty() || !analysis.hooked.empty()) {  // else no need to look at all code
    analysis.targets = find_targets(image, pieces);
    add_landing_pads(image, frames, analysis);
  }
  return analysis;
}

/// Writes the patched copy of one file.
class Patcher {
 public:
  Patcher(const ElfImage& image, PatchOptions options) : image_(image), options_(options) {}

  PatchedBytes run();

 private:
  void patch_segment(const Segment& segment, std::span<const SitePiece> pieces, const Analysis& analysis);
  void hook_functions(const Segment& segment, const Analysis& analysis, TrampolineArea& area,
                      std::vector<HookEntry>& hooks);
  bool try_jump(const SitePiece& piece, size_t index, const CodeAddresses& targets, TrampolineArea& area,
                Site& site);
  bool try_trap(const Instruction& instruction, uint64_t segment_page, std::vector<TrapEntry>& traps,
                Site& site);
  void append_segment(const Segment& segment, TrampolineArea& area, const std::vector<TrapEntry>& traps,
                      const std::vector<HookEntry>& hooks);
  void append_trailer();
  void append(ByteView bytes) { contents_.insert(contents_.end(), bytes.begin(), bytes.end()); }
  uint64_t file_offset(uint64_t address) const;
  std::span<uint8_t> text(uint64_t address) { return std::span(contents_).subspan(file_offset(address)); }

  const ElfImage& image_;
  PatchOptions options_;
  Exemptions exemptions_{image_};
  std::vector<Displacement> hooked_;  // what of the code belongs to hooks
  uint64_t free_from_ = 0;            // code before it belongs to the last site that became a jump
  uint64_t low_trampolines_ = kLowTrampolines;
  Bytes contents_;
  PatchTrailer trailer_{};
  PatchReport report_;
};

PatchedBytes Patcher::run() {
  Analysis analysis = analyse(image_, options_.hooks);
  report_.unexamined = analysis.sites.unexamined;
  if (analysis.sites.pieces.empty() && analysis.hooked.empty()) return {std::move(report_), {}};

  append(image_.file());
  std::span<const SitePiece> rest = analysis.sites.pieces;
  for (const Segment& segment : image_.segments()) {
    if (!segment.executable) continue;
    auto outside =
        std::ranges::find_if(rest, [&](const SitePiece& p) { return !segment.holds(p.piece.start); });
    auto count = static_cast<size_t>(outside - rest.begin());
    patch_segment(segment, rest.first(count), analysis);
    rest = rest.subspan(count);
  }
  append_trailer();
  report_.needed = report_.patched + report_.trapped + report_.hooked.size() > 0;
  if (!report_.needed) contents_.clear();
  return {std::move(report_), std::move(contents_)};
}

void Patcher::patch_segment(const Segment& segment, std::span<const SitePiece> pieces,
                            const Analysis& analysis) {
  uint64_t page = page_floor(segment.vaddr);
  bool is_low = image_.is_fixed() && page < kLowTrampolines + kTrampolineDistance;
  Placement place = is_low ? place_low(image_, low_trampolines_) : place_at_distance(image_, segment);
  TrampolineArea area(place.address, place.capacity);
  std::vector<TrapEntry> traps;
  std::vector<HookEntry> hooks;
  hook_functions(segment, analysis, area, hooks);
  for (const SitePiece& piece : pieces) {
    for (size_t index : piece.sites) {
      const Instruction& instruction = piece.code[index];
      Site site{.offset = file_offset(instruction.address),
                .address = instruction.address,
                .kind = instruction.kind()};
      site.patched = try_jump(piece, index, analysis.targets, area, site);
      site.trapped = !site.patched && try_trap(instruction, page, traps, site);
      ++(site.patched ? report_.patched : site.trapped ? report_.trapped : report_.left);
      report_.sites.push_back(site);
    }
  }
  append_segment(segment, area, traps, hooks);
  if (is_low) low_trampolines_ += trailer_.segments[trailer_.segment_count - 1].trampoline_size;
}

void Patcher::hook_functions(const Segment& segment, const Analysis& analysis, TrampolineArea& area,
                             std::vector<HookEntry>& hooks) {
  for (size_t i = 0; i < analysis.hooked.size(); ++i) {
    const HookedFunction& function = analysis.hooked[i];
    const SitePiece& piece = analysis.hooked_pieces[i];
    if (!function.is_data && !segment.holds(function.address)) continue;
    HookEntry left{static_cast<uint32_t>(function.hook),
                   static_cast<uint32_t>(function.address - area.address())};
    if (function.untouched || function.is_data) {
      hooks.push_back(left);
      continue;
    }
    auto group = displace_entry(piece.code, analysis.targets);
    if (!group && function.replaced && piece.piece.limit - piece.piece.start >= kJumpSize) {
      group = Displacement{function.address, function.address + kJumpSize, {}, {}, {}, false};
    }
    if (piece.doubt != nullptr) group = tl::unexpected(piece.doubt);
    std::optional<TrampolineArea::Entry> entry;
    if (group) entry = area.add_hook(*group, image_.from(group->start), function.hook);
    if (!entry) {
      const char* why = group ? "the trampoline is out of reach" : group.error();
      (function.optional ? report_.left_out : report_.not_hooked).push_back(fmt::format("{}: {}", function.name, why));
      hooks.push_back(left);  // hooks of others may call it
      continue;
    }
    write_jump(text(group->start), *group, entry->jump);
    hooked_.push_back(*group);
    hooks.push_back(
        {static_cast<uint32_t>(function.hook), static_cast<uint32_t>(entry->original - area.address())});
    report_.hooked.push_back(function.hook);
  }
}

/// Makes the site a jump, or sets the reason why not.
bool Patcher::try_jump(const SitePiece& piece, size_t index, const CodeAddresses& targets,
                       TrampolineArea& area, Site& site) {
  if (const char* reason = exemptions_.reason(piece, piece.code[index])) {
    site.reason = reason;
    return false;
  }
  auto group = displace(piece.code, index, targets, free_from_);
  if (!group) {
    site.reason = group.error();
    return false;
  }
  for (const Displacement& hook : hooked_) {
    if (group->start < hook.end && hook.start < group->end) {
      site.reason = "no room: its function is hooked";
      return false;
    }
  }
  auto trampoline = area.add(*group, image_.from(group->start));
  if (!trampoline) {
    site.reason = "the trampoline is out of reach";
    return false;
  }
  write_jump(text(group->start), *group, *trampoline);
  free_from_ = group->end;
  site.start = group->start;
  site.end = group->end;
  return true;
}

bool Patcher::try_trap(const Instruction& instruction, uint64_t segment_page, std::vector<TrapEntry>& traps,
                       Site& site) {
  if (instruction.kind() == Kind::kSyscall && !options_.traps) return false;
  uint64_t offset = instruction.address - segment_page;
  if (offset > std::numeric_limits<uint32_t>::max()) return false;
  std::span<uint8_t> bytes = text(instruction.address).first(instruction.length);
  std::ranges::fill(bytes, kNop);
  bytes[0] = kInt3;
  traps.push_back({static_cast<uint32_t>(offset), instruction.descriptor});
  site.start = instruction.address;
  site.end = instruction.end();
  return true;
}

void Patcher::append_segment(const Segment& segment, TrampolineArea& area,
                             const std::vector<TrapEntry>& traps, const std::vector<HookEntry>& hooks) {
  PatchedSegment& entry = trailer_.segments[trailer_.segment_count++];
  entry.vaddr = page_floor(segment.vaddr);
  entry.offset = page_floor(segment.offset);
  entry.size = segment.end() - entry.vaddr;
  entry.trampoline_vaddr = area.address();
  if (Bytes code = area.take(); !code.empty()) {
    contents_.resize(page_ceil(contents_.size()));
    entry.trampoline_offset = contents_.size();
    entry.trampoline_size = code.size();
    append(code);
  }
  contents_.resize((contents_.size() + 7) / 8 * 8);
  entry.trap_offset = contents_.size();
  entry.trap_count = traps.size();
  for (const TrapEntry& trap : traps) append(as_raw(trap));
  entry.hook_offset = contents_.size();
  entry.hook_count = hooks.size();
  for (const HookEntry& hook : hooks) append(as_raw(hook));
  entry.origin_offset = contents_.size();
  entry.origin_count = area.origins().size();
  for (const TrampolineArea::Origin& origin : area.origins()) {
    append(as_raw(TrampolineOrigin{static_cast<uint32_t>(origin.address - area.address()),
                                   static_cast<uint32_t>(origin.original - entry.vaddr)}));
  }
}

void Patcher::append_trailer() {
  trailer_.magic = kPatchMagic;
  trailer_.version = kPatchVersion;
  trailer_.flags = options_.traps ? kFlagAllTrapped : 0;
  trailer_.original_size = image_.file().size();
  append(as_raw(trailer_));
}

uint64_t Patcher::file_offset(uint64_t address) const {
  const Segment* segment = image_.executable_segment(address);
  return address - segment->vaddr + segment->offset;
}

}  // namespace

Result<PatchedBytes> patch_bytes(ByteView file, PatchOptions options) {
  ElfImage image = TRY(ElfImage::parse(file));
  return Patcher(image, options).run();
}

Result<PatchReport> patch_file(const Path& input, const Path& output, PatchOptions options) {
  std::string contents = TRY(read_file(input));
  auto patched = patch_bytes(as_bytes(contents), options);
  if (!patched) return fail("cannot patch {}: {}", input.native(), patched.error().message);
  if (patched->report.needed) TRY_STATUS(write_file_atomic(output, as_text(patched->contents), 0644));
  return std::move(patched->report);
}

}  // namespace pastcone::patch
