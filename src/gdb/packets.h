// How packets lie in the stream between gdb and a stub: $DATA#CHECKSUM, where '}' in DATA makes the next byte
// one xor 0x20. Between packets come acknowledgements ('+', '-') and gdb's interrupt (0x03). See "Overview"
// in appendix E, "GDB Remote Serial Protocol", of gdb's manual.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pastcone::gdb {

/// What one packet may hold, either way.
constexpr size_t kPacketSize = 0x20000;

/// The packet as it is sent. Bytes with a meaning of their own, a run's '*' among them, are escaped.
std::string frame(std::string_view data);

/// Finds what gdb has sent in a stream that comes in pieces.
class PacketReader {
 public:
  enum class Kind : uint8_t {
    kNone,     ///< nothing is complete
    kPacket,   ///< `data` is one, unescaped
    kDamaged,  ///< one with a wrong checksum, or too long: to be asked for again
    kResend,   ///< gdb asks for the last reply again
  };
  struct Item {
    Kind kind = Kind::kNone;
    std::string data;
  };

  void add(std::string_view bytes) { buffer_ += bytes; }
  /// The next one. What is between packets, and no kResend, is passed over: interrupts come too late when
  /// they are read while the process stands.
  Item next();
  /// A packet has begun, and the rest is still to come. Meaningful after next() gave kNone.
  bool begun() const { return !buffer_.empty(); }

 private:
  Item packet();

  std::string buffer_;
};

}  // namespace pastcone::gdb
