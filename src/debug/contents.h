// Bytes for people to read: as text if they are, else in hexadecimal.
#pragma once

#include <string>
#include <string_view>

namespace pastcone::debug {

/// Printable characters, in UTF-8, and ends of lines.
bool is_text(std::string_view bytes);
/// Lines that begin with two blanks.
std::string contents_text(std::string_view bytes);

}  // namespace pastcone::debug
