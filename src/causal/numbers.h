// Lists of numbers as few bytes: each is written as its difference to what was to be expected, seven bits to
// a byte; and the whole is compressed.
#pragma once

#include <cstdint>
#include <memory>

#include "pastcone/base/bytes.h"
#include "pastcone/base/result.h"

struct ZSTD_DCtx_s;

namespace pastcone::causal {

class NumberWriter {
 public:
  void put(uint64_t number) {
    for (; number >= 0x80; number >>= 7) bytes_.push_back(static_cast<uint8_t>(number | 0x80));
    bytes_.push_back(static_cast<uint8_t>(number));
  }
  size_t size() const { return bytes_.size(); }
  ByteView bytes() const { return bytes_; }
  Bytes pack() const;

 private:
  Bytes bytes_;
};

/// Unpacks as it reads. What is behind the end reads as 0, and is an error in the end.
class NumberReader {
 public:
  /// `size`: before it was compressed. The bytes must outlive the reader.
  static Result<NumberReader> open(ByteView packed, uint64_t size);

  uint64_t get() {
    if (next_ < end_ && *next_ < 0x80) return *next_++;
    return get_long();
  }
  uint64_t size() const { return size_; }
  /// All of it was read, nothing more, and it was as it was packed.
  bool finished() const { return next_ == end_ && left_ == 0 && !wrong_; }

 private:
  struct Free {
    void operator()(ZSTD_DCtx_s* context) const;
  };

  uint64_t get_long();
  bool fill();

  std::unique_ptr<ZSTD_DCtx_s, Free> context_;
  std::unique_ptr<uint8_t[]> piece_;
  const uint8_t *next_ = nullptr, *end_ = nullptr;  ///< of the piece
  ByteView packed_;                                 ///< that is to be unpacked
  uint64_t size_ = 0, left_ = 0;
  bool wrong_ = false;
};

/// Reads numbers that are not packed. What is behind the end reads as 0, and is an error in the end.
class NumberCursor {
 public:
  explicit NumberCursor(ByteView bytes) : next_(bytes.data()), end_(next_ + bytes.size()) {}

  uint64_t get() {
    if (next_ < end_ && *next_ < 0x80) return *next_++;
    return get_long();
  }
  bool finished() const { return next_ == end_ && !wrong_; }

 private:
  uint64_t get_long() {
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 64 && next_ < end_; shift += 7) {
      uint8_t byte = *next_++;
      number |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return number;
    }
    wrong_ = true;
    return 0;
  }

  const uint8_t *next_, *end_;
  bool wrong_ = false;
};

/// Small differences, up or down, as small numbers.
template <typename Number>
constexpr Number folded(Number difference) {
  return static_cast<Number>(difference << 1 ^ (0 - (difference >> (sizeof(Number) * 8 - 1))));
}
template <typename Number>
constexpr Number unfolded(Number number) {
  return static_cast<Number>(number >> 1 ^ (0 - (number & 1)));
}

}  // namespace pastcone::causal
