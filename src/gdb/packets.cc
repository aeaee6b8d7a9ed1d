#include "pastcone/gdb/packets.h"

#include <fmt/format.h>

#include <algorithm>

#include "pastcone/gdb/hex.h"

namespace pastcone::gdb {
namespace {

constexpr char kEscape = '}';
constexpr char kEscapeBit = 0x20;
// Each byte may be escaped.
constexpr size_t kLongest = 2 * kPacketSize;

uint8_t checksum(std::string_view data) {
  unsigned sum = 0;
  for (char byte : data) sum += static_cast<uint8_t>(byte);
  return static_cast<uint8_t>(sum);
}

std::string unescape(std::string_view data) {
  std::string plain;
  plain.reserve(data.size());
  for (size_t i = 0; i < data.size(); ++i) {
    bool escaped = data[i] == kEscape && i + 1 < data.size();
    plain += escaped ? static_cast<char>(data[++i] ^ kEscapeBit) : data[i];
  }
  return plain;
}

}  // namespace

std::string frame(std::string_view data) {
  std::string packet = "$";
  packet.reserve(data.size() + 8);
  for (char byte : data) {
    if (byte == '$' || byte == '#' || byte == kEscape || byte == '*') {
      packet += kEscape;
      byte = static_cast<char>(byte ^ kEscapeBit);
    }
    packet += byte;
  }
  uint8_t sum = checksum(std::string_view(packet).substr(1));
  packet += fmt::format("#{:02x}", sum);
  return packet;
}

PacketReader::Item PacketReader::next() {
  size_t between = 0;
  while (between < buffer_.size() && buffer_[between] != '$' && buffer_[between] != '-') ++between;
  buffer_.erase(0, between);
  if (buffer_.empty()) return {};
  if (buffer_[0] == '-') {
    buffer_.erase(0, 1);
    return {Kind::kResend, {}};
  }
  return packet();
}

PacketReader::Item PacketReader::packet() {
  std::string_view all = buffer_;
  size_t end = all.find('#');
  if (end == std::string_view::npos ? all.size() > kLongest : end > kLongest) {
    buffer_.erase(0, std::min(end, all.size()));
    return {Kind::kDamaged, {}};
  }
  if (end == std::string_view::npos || end + 2 >= all.size()) return {};
  std::string_view data = all.substr(1, end - 1);
  int high = hex_digit(all[end + 1]), low = hex_digit(all[end + 2]);
  bool sound = high >= 0 && low >= 0 && checksum(data) == (high << 4 | low);
  Item item{sound ? Kind::kPacket : Kind::kDamaged, sound ? unescape(data) : std::string()};
  buffer_.erase(0, end + 3);
  return item;
}

}  // namespace pastcone::gdb
