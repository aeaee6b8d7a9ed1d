#include "pastcone/gdb/hex.h"

#include <algorithm>
#include <limits>

namespace pastcone::gdb {

int hex_digit(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

std::string to_hex(ByteView bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::optional<Bytes> from_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  Bytes bytes(text.size() / 2);
  for (size_t i = 0; i < bytes.size(); ++i) {
    int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes[i] = static_cast<uint8_t>(high << 4 | low);
  }
  return bytes;
}

uint64_t Fields::number() {
  size_t digits = 0;
  uint64_t value = 0;
  while (digits < rest_.size() && hex_digit(rest_[digits]) >= 0) {
    value = value << 4 | static_cast<uint64_t>(hex_digit(rest_[digits]));
    ++digits;
  }
  rest_.remove_prefix(digits);
  if (digits == 0 || digits > 16) failed_ = true;
  return failed_ ? 0 : value;
}

int Fields::thread() {
  if (skip("-1")) return -1;
  uint64_t value = number();
  if (value > static_cast<uint64_t>(std::numeric_limits<int>::max())) failed_ = true;
  return failed_ ? 0 : static_cast<int>(value);
}

std::string_view Fields::until(char end) {
  std::string_view field = rest_.substr(0, rest_.find(end));
  rest_.remove_prefix(std::min(rest_.size(), field.size() + 1));
  return field;
}

}  // namespace pastcone::gdb
