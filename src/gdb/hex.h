// Numbers and bytes as the remote protocol writes them: hexadecimal, most significant digit first for
// numbers, in memory's order for bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "pastcone/base/bytes.h"

namespace pastcone::gdb {

/// -1: not one.
int hex_digit(char digit);
std::string to_hex(ByteView bytes);
std::optional<Bytes> from_hex(std::string_view text);

/// A cursor over a packet. Failure is sticky: ask once, before what was read is used.
class Fields {
 public:
  explicit Fields(std::string_view text) : rest_(text) {}

  /// Steps over `literal` if it is next.
  bool skip(std::string_view literal) {
    if (!rest_.starts_with(literal)) return false;
    rest_.remove_prefix(literal.size());
    return true;
  }
  /// Fails unless `literal` is next.
  void expect(std::string_view literal) {
    if (!skip(literal)) failed_ = true;
  }
  /// A number of 1 to 16 digits; else it fails, and is 0.
  uint64_t number();
  /// A thread id, -1 is "all" and 0 is "any".
  int thread();
  /// What is in front of `end`, or all the rest; steps over `end`.
  std::string_view until(char end);
  std::string_view rest() const { return rest_; }

  bool failed() const { return failed_; }
  bool at_end() const { return !failed_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace pastcone::gdb
