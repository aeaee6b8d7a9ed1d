// Bytes of outside origin, read without ever stepping out of bounds; and their counterpart that writes them.
//
// Integers are little endian. varint is LEB128 (7 bits per byte, low first, at most 10 bytes); zigzag folds
// the sign into the low bit first, so that small negative numbers stay short.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "pastcone/base/result.h"

namespace pastcone {

using Bytes = std::vector<uint8_t>;
using ByteView = std::span<const uint8_t>;

inline ByteView as_bytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}
inline std::string_view as_text(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// A cursor over bytes it does not own. Failure is sticky: a read that does not fit, or a malformed varint,
/// gives 0 (or an empty view) and so does every read after it; ask once at the end, and before trusting a
/// count:
///
///   ByteReader in(bytes);
///   header.version = in.u32();
///   header.name = as_text(in.bytes(in.varint()));
///   if (in.failed()) return fail("{}: the header is cut short", path);
class ByteReader {
 public:
  explicit ByteReader(ByteView bytes) : bytes_(bytes) {}

  uint8_t u8() { return integer<uint8_t>(); }
  uint16_t u16() { return integer<uint16_t>(); }
  uint32_t u32() { return integer<uint32_t>(); }
  uint64_t u64() { return integer<uint64_t>(); }
  uint64_t varint();
  int64_t zigzag();
  /// The next `count` bytes, a view into what the reader was made from.
  ByteView bytes(uint64_t count);
  void skip(uint64_t count) { bytes(count); }

  /// Makes all further reads fail: for the caller that sees a value which makes no sense.
  void set_failed() { failed_ = true; }
  bool failed() const { return failed_; }
  /// All read, nothing failed.
  bool at_end() const { return !failed_ && offset_ == bytes_.size(); }
  /// Where the next read begins; after a failure, where the failed one began.
  size_t offset() const { return offset_; }
  size_t remaining() const { return failed_ ? 0 : bytes_.size() - offset_; }

 private:
  template <std::unsigned_integral T>
  T integer() {
    static_assert(std::endian::native == std::endian::little);
    T value = 0;
    ByteView source = bytes(sizeof value);
    if (!source.empty()) std::memcpy(&value, source.data(), sizeof value);
    return value;
  }

  ByteView bytes_;
  size_t offset_ = 0;
  bool failed_ = false;
};

inline ByteView ByteReader::bytes(uint64_t count) {
  if (count > remaining()) {
    failed_ = true;
    return {};
  }
  if (failed_) return {};
  ByteView view = bytes_.subspan(offset_, static_cast<size_t>(count));
  offset_ += static_cast<size_t>(count);
  return view;
}

inline uint64_t ByteReader::varint() {
  uint64_t value = 0;
  size_t left = remaining();
  for (unsigned shift = 0; shift < 64 && left > 0; shift += 7, --left) {
    uint8_t byte = bytes_[offset_ + shift / 7];
    if (shift == 63 && byte > 1) break;  // the tenth byte has room for one bit
    value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) {
      offset_ += shift / 7 + 1;
      return value;
    }
  }
  failed_ = true;
  return 0;
}

inline int64_t ByteReader::zigzag() {
  uint64_t folded = varint();
  return static_cast<int64_t>(folded >> 1 ^ (0 - (folded & 1)));
}

/// Appends to a growing buffer. For the tool; the runtime writes into its mapped chunks by itself.
class ByteWriter {
 public:
  void u8(uint8_t value) { integer(value); }
  void u16(uint16_t value) { integer(value); }
  void u32(uint32_t value) { integer(value); }
  void u64(uint64_t value) { integer(value); }
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) buffer_.push_back(static_cast<uint8_t>(value | 0x80));
    buffer_.push_back(static_cast<uint8_t>(value));
  }
  void zigzag(int64_t value) {
    varint(static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63));
  }
  void bytes(ByteView source) { buffer_.insert(buffer_.end(), source.begin(), source.end()); }

  size_t size() const { return buffer_.size(); }
  ByteView view() const { return buffer_; }
  /// Hands the bytes over and starts again with none.
  Bytes take() { return std::exchange(buffer_, {}); }

 private:
  template <std::unsigned_integral T>
  void integer(T value) {
    static_assert(std::endian::native == std::endian::little);
    uint8_t raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    bytes(raw);
  }

  Bytes buffer_;
};

}  // namespace pastcone
