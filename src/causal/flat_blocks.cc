#include "pastcone/causal/flat_blocks.h"

#include <zstd.h>

#include "pastcone/base/check.h"

namespace pastcone::causal {
namespace {

constexpr int kLevel = 1;
constexpr uint64_t kMostBytes = uint64_t{64} << 20;  // of a block; no code writes so much

}  // namespace

void BlockPacker::Free::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }
void BlockUnpacker::Free::operator()(ZSTD_DCtx_s* context) const { ZSTD_freeDCtx(context); }

BlockPacker::BlockPacker() : context_(ZSTD_createCCtx()) {}

uint32_t BlockPacker::pack(ByteView block, Bytes& bytes) {
  size_t start = bytes.size();
  bytes.resize(start + ZSTD_compressBound(block.size()));
  size_t size = ZSTD_compressCCtx(context_.get(), &bytes[start], bytes.size() - start, block.data(),
                                  block.size(), kLevel);
  CHECK(ZSTD_isError(size) == 0);  // there is room enough
  bytes.resize(start + size);
  return static_cast<uint32_t>(size);
}

ByteView BlockUnpacker::unpack(ByteView packed) {
  if (!context_) context_.reset(ZSTD_createDCtx());
  unsigned long long size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (size > kMostBytes) return {};  // the errors are large numbers, too
  if (block_.size() < size) block_.resize(size);
  size_t unpacked =
      ZSTD_decompressDCtx(context_.get(), block_.data(), block_.size(), packed.data(), packed.size());
  if (ZSTD_isError(unpacked) != 0 || unpacked != size) return {};
  return ByteView(block_).first(unpacked);
}

}  // namespace pastcone::causal
