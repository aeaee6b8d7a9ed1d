#include "pastcone/causal/numbers.h"

#include <zstd.h>

#include "pastcone/base/check.h"

namespace pastcone::causal {
namespace {

constexpr size_t kPiece = size_t{64} << 10;

}  // namespace

Bytes NumberWriter::pack() const {
  Bytes packed(ZSTD_compressBound(bytes_.size()));
  size_t size = ZSTD_compress(packed.data(), packed.size(), bytes_.data(), bytes_.size(), 1);
  CHECK(ZSTD_isError(size) == 0);  // there is room enough
  packed.resize(size);
  return packed;
}

void NumberReader::Free::operator()(ZSTD_DCtx_s* context) const { ZSTD_freeDCtx(context); }

Result<NumberReader> NumberReader::open(ByteView packed, uint64_t size) {
  if (ZSTD_getFrameContentSize(packed.data(), packed.size()) != size) return fail("the graph is damaged");
  NumberReader reader;
  reader.packed_ = packed;
  reader.size_ = reader.left_ = size;
  return reader;
}

/// Puts the next piece in place.
bool NumberReader::fill() {
  if (left_ == 0 || wrong_) return false;
  if (!context_) {
    context_.reset(ZSTD_createDCtx());
    piece_ = std::make_unique_for_overwrite<uint8_t[]>(kPiece);
  }
  ZSTD_inBuffer in{packed_.data(), packed_.size(), 0};
  ZSTD_outBuffer out{piece_.get(), kPiece, 0};
  while (out.pos == 0) {
    size_t before = in.pos, result = ZSTD_decompressStream(context_.get(), &out, &in);
    wrong_ = ZSTD_isError(result) != 0 || out.pos > left_ || (out.pos == 0 && in.pos == before);
    if (wrong_) return false;
  }
  packed_ = packed_.subspan(in.pos);
  left_ -= out.pos;
  next_ = piece_.get();
  end_ = next_ + out.pos;
  return true;
}

uint64_t NumberReader::get_long() {
  uint64_t number = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (next_ == end_ && !fill()) break;
    uint8_t byte = *next_++;
    number |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return number;
  }
  wrong_ = true;
  return 0;
}

}  // namespace pastcone::causal
