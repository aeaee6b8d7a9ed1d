#include "pastcone/debug/contents.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace pastcone::debug {
namespace {

constexpr size_t kRow = 16;

bool is_printable(unsigned char byte) { return byte >= 0x20 && byte < 0x7f; }

/// How many bytes the character takes; 0: it is none. What is cut off at the end counts as one.
size_t character(std::string_view bytes) {
  auto first = static_cast<unsigned char>(bytes[0]);
  if (is_printable(first) || first == '\n' || first == '\t' || first == '\r') return 1;
  size_t length = first >= 0xf0 && first < 0xf5 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  if (first >= 0xf5) length = 0;
  for (size_t i = 1; i < std::min(length, bytes.size()); ++i)
    if ((static_cast<unsigned char>(bytes[i]) & 0xc0) != 0x80) return 0;
  return std::min(length, bytes.size());
}

std::string row(size_t at, std::string_view bytes) {
  std::string numbers, letters;
  for (size_t i = 0; i < kRow; ++i) {
    if (i == kRow / 2) numbers += ' ';
    numbers += i < bytes.size() ? fmt::format(" {:02x}", static_cast<unsigned char>(bytes[i])) : "   ";
  }
  for (char each : bytes) letters += is_printable(static_cast<unsigned char>(each)) ? each : '.';
  return fmt::format("  {:04x} {}  {}\n", at, numbers, letters);
}

}  // namespace

bool is_text(std::string_view bytes) {
  while (!bytes.empty()) {
    size_t length = character(bytes);
    if (length == 0) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

std::string contents_text(std::string_view bytes) {
  std::string text;
  if (!is_text(bytes)) {
    for (size_t at = 0; at < bytes.size(); at += kRow) text += row(at, bytes.substr(at, kRow));
    return text;
  }
  while (!bytes.empty()) {
    size_t end = std::min(bytes.find('\n'), bytes.size());
    std::string_view line = bytes.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    text += fmt::format("  {}\n", line);
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
  }
  return text;
}

}  // namespace pastcone::debug
