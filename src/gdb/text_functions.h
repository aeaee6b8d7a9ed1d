// Functions of libc about strings, evaluated here: what they would read is read, and no more, so that only
// that has to be watched.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pastcone/gdb/agent.h"

namespace pastcone::gdb {

enum class TextFunction : uint8_t { kStrcmp, kStrncmp, kMemcmp, kStrlen, kStrnlen, kStrchr, kStrstr };

struct TextFunctionForm {
  TextFunction function;
  size_t texts;    ///< its first arguments
  bool number;     ///< and one more
  bool sign_only;  ///< how large the result is differs from machine to machine
  bool pointer;    ///< the result is a place in the first one
};
std::optional<TextFunctionForm> text_function(std::string_view name);

/// A string: in the program's memory, or a literal.
struct TextArgument {
  uint64_t address = 0;
  const std::string* literal = nullptr;
};

/// Error: memory that is not there. What was read is added to `memory`.
Result<int64_t> call_text_function(TextFunction function, const std::vector<TextArgument>& texts,
                                   int64_t number, const ReadMemory& read,
                                   std::vector<std::pair<uint64_t, uint32_t>>& memory);

}  // namespace pastcone::gdb
