// The long arrays of the flat form: cut into blocks, each packed by itself, so that a question unpacks only
// those that it looks at. How entries are written as numbers is their code's business (flat_codes.h). A part
// of flat.h.
//
// A code has an Entry; write(out, from, entries) and read(in, from, entries), which is false if the numbers
// make no sense; and clear(from, entries), for what does no harm instead. `from` is the place of the first. A
// block does not need the ones before it.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "pastcone/base/bytes.h"
#include "pastcone/causal/column.h"
#include "pastcone/causal/numbers.h"

struct ZSTD_CCtx_s;

namespace pastcone::causal {

/// Packs blocks one after the other.
class BlockPacker {
 public:
  BlockPacker();
  /// Appends it to `bytes`. How long it has become.
  uint32_t pack(ByteView block, Bytes& bytes);

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_CCtx_s, Free> context_;
};

class BlockUnpacker {
 public:
  /// Empty if it is damaged. Good until the next call.
  ByteView unpack(ByteView packed);

 private:
  struct Free {
    void operator()(ZSTD_DCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_DCtx_s, Free> context_;
  Bytes block_;
};

struct PackedBlocks {
  Bytes bytes;
  std::vector<uint32_t> sizes;
};

template <typename Code>
PackedBlocks pack_blocks(const Column<typename Code::Entry>& column, unsigned shift, Code code) {
  PackedBlocks packed;
  BlockPacker packer;
  for (size_t from = 0; from < column.size(); from += size_t{1} << shift) {
    NumberWriter out;
    code.write(out, from, column.part(from, std::min(column.size() - from, size_t{1} << shift)));
    packed.sizes.push_back(packer.pack(out.bytes(), packed.bytes));
  }
  return packed;
}

/// The memory that blocks are unpacked to is not touched before.
template <typename Code>
class PackedPages : public Pages {
 public:
  using Entry = typename Code::Entry;

  /// `packed` must outlive it, and holds all blocks.
  PackedPages(ByteView packed, std::span<const uint32_t> sizes, size_t count, unsigned shift, Code code)
      : Pages(count, shift),
        shift_(shift),
        packed_(packed),
        room_(std::make_unique_for_overwrite<std::byte[]>(count * sizeof(Entry))),
        entries_(reinterpret_cast<Entry*>(room_.get()), count),
        code_(std::move(code)) {
    static_assert(std::is_trivially_copyable_v<Entry> && alignof(Entry) <= alignof(std::max_align_t));
    for (uint32_t size : sizes) ends_.push_back((ends_.empty() ? 0 : ends_.back()) + size);
  }

  std::span<const Entry> entries() const { return entries_; }

 protected:
  /// The checksum was right, so that a block that makes no sense was made so by somebody.
  void unpack(size_t block) override {
    size_t from = block << shift_, start = block == 0 ? 0 : ends_[block - 1];
    auto entries = entries_.subspan(from, std::min(entries_.size() - from, size_t{1} << shift_));
    std::uninitialized_fill(entries.begin(), entries.end(), Entry{});
    NumberCursor in(unpacker_.unpack(packed_.subspan(start, ends_[block] - start)));
    if (!code_.read(in, from, entries) || !in.finished()) code_.clear(from, entries);
  }

 private:
  unsigned shift_;
  ByteView packed_;
  std::vector<size_t> ends_;
  std::unique_ptr<std::byte[]> room_;
  std::span<Entry> entries_;
  Code code_;
  BlockUnpacker unpacker_;
};

}  // namespace pastcone::causal
