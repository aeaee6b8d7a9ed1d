#include "pastcone/patch/sites.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace pastcone::patch {
namespace {

/// Whether an instruction to redirect could have these opcode bytes; the first is 0f.
bool looks_like_site(ByteView bytes) {
  if (bytes.size() < 2) return false;
  if (bytes[1] == 0x05 || bytes[1] == 0x31) return true;  // syscall, rdtsc
  if (bytes.size() < 3) return false;
  return (bytes[1] == 0x01 && bytes[2] == 0xf9)      // rdtscp
         || (bytes[1] == 0xc7 && bytes[2] >= 0xf0);  // rdrand /6, rdseed /7, of registers
}

/// Addresses of all opcode bytes in a segment.
std::vector<uint64_t> find_candidates(ByteView bytes, uint64_t vaddr) {
  std::vector<uint64_t> candidates;
  for (size_t at = 0; at < bytes.size(); ++at) {
    const void* found = std::memchr(bytes.data() + at, 0x0f, bytes.size() - at);
    if (found == nullptr) break;
    at = static_cast<size_t>(static_cast<const uint8_t*>(found) - bytes.data());
    if (looks_like_site(bytes.subspan(at))) candidates.push_back(vaddr + at);
  }
  return candidates;
}

/// Appends nops and int3 between the end of the piece and the next: room for a jump.
void decode_padding(const ElfImage& image, const Piece& piece, std::vector<Instruction>& code) {
  constexpr uint64_t kEnough = 16;
  uint64_t limit = std::min(piece.limit, piece.end + kEnough);
  bool is_padding = true;
  decode_range(image, piece.end, limit, [&](const Instruction& instruction) {
    is_padding = is_padding && instruction.is_padding;
    if (is_padding) code.push_back(instruction);
  });
}

/// Decodes on behind the end of a piece as long as control leads there: glibc's clone3 ends its frame right
/// before the system call, lest the child be unwound. Returns where that code ends.
template <typename Visit>
uint64_t decode_continuation(const ElfImage& image, const Piece& piece, std::span<const Instruction> code,
                             Visit visit) {
  constexpr uint64_t kFarEnough = 1024;
  std::vector<uint64_t> targets;
  auto note_target = [&](const Instruction& instruction) {
    bool jumps = instruction.flow == Flow::kBranch || instruction.flow == Flow::kJump;
    if (jumps && instruction.target >= piece.end) targets.push_back(instruction.target);
  };
  for (const Instruction& instruction : code) note_target(instruction);
  uint64_t end = piece.end;
  bool falls_in =
      code.back().falls_through() && code.back().flow != Flow::kOther;  // calls at the end do not return
  decode_range(image, piece.end, std::min(piece.limit, piece.end + kFarEnough),
               [&](const Instruction& instruction) {
                 bool reached = falls_in || std::ranges::find(targets, instruction.address) != targets.end();
                 if (!reached || instruction.address != end) return;
                 visit(instruction);
                 note_target(instruction);
                 end = instruction.end();
                 falls_in = instruction.falls_through();
               });
  return end;
}

}  // namespace

SitePiece decode_piece(const ElfImage& image, const Piece& piece) {
  SitePiece result{.piece = piece, .code = {}, .sites = {}};
  auto keep = [&](const Instruction& instruction) {
    if (instruction.is_site) result.sites.push_back(result.code.size());
    result.code.push_back(instruction);
  };
  if (!decode_range(image, piece.start, piece.end, keep)) {
    result.doubt = "its function does not decode to the end";
    return result;
  }
  std::vector<Instruction> known = result.code;
  result.piece.end = decode_continuation(image, piece, known, keep);
  decode_padding(image, result.piece, result.code);
  return result;
}

FoundSites find_sites(const ElfImage& image, const std::vector<Piece>& pieces) {
  FoundSites found;
  auto next = pieces.begin();  // the first piece that has not been looked at
  uint64_t decoded_to = 0;
  for (const Segment& segment : image.segments()) {
    if (!segment.executable) continue;
    for (uint64_t candidate : find_candidates(image.bytes(segment), segment.vaddr)) {
      auto behind = std::upper_bound(next, pieces.end(), candidate, [](uint64_t address, const Piece& piece) {
        return address < piece.start;
      });
      if (behind != next) {
        next = behind;
        SitePiece decoded = decode_piece(image, *(behind - 1));
        decoded_to = decoded.piece.end;
        if (!decoded.sites.empty()) found.pieces.push_back(std::move(decoded));
      }
      if (candidate >= decoded_to) ++found.unexamined;
    }
  }
  return found;
}

}  // namespace pastcone::patch
