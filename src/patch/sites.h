// Finds the instructions to redirect. Looks for their opcode bytes first and decodes only functions that
// contain some, so that a file without sites, the usual case, costs next to nothing.
#pragma once

#include <cstddef>
#include <vector>

#include "pastcone/patch/elf_image.h"
#include "pastcone/patch/functions.h"

namespace pastcone::patch {

/// A piece of code with sites in it, decoded.
struct SitePiece {
  Piece piece;
  std::vector<Instruction>
      code;                   ///< the piece's, then the padding that follows it, as far as it could be of use
  std::vector<size_t> sites;  ///< indices into `code`
  const char* doubt = nullptr;  ///< why there may be jumps in it that we do not see
};

struct FoundSites {
  std::vector<SitePiece> pieces;
  size_t unexamined = 0;  ///< opcode bytes outside all pieces
};

SitePiece decode_piece(const ElfImage& image, const Piece& piece);
FoundSites find_sites(const ElfImage& image, const std::vector<Piece>& pieces);

}  // namespace pastcone::patch
