// Reading fields out of JSON of unknown origin, and writing it, without exceptions. Text in our JSON is
// UTF-8; bytes that are not (paths, arguments) are shown with U+FFFD.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pastcone {

/// Discarded (is_discarded()) if it is no JSON. Nothing below the third level is kept: we have nothing there,
/// and it could take many times the room of its text.
nlohmann::json parse_json(std::string_view text);

/// A field's text; empty if it is missing or not a string.
std::string json_string(const nlohmann::json& object, const char* key);

/// An array of strings; what is not a string in it is left out.
std::vector<std::string> json_strings(const nlohmann::json& object, const char* key);

/// An integer that fits T, or none.
template <std::integral T>
std::optional<T> json_number(const nlohmann::json& object, const char* key) {
  auto field = object.find(key);
  if (field == object.end() || !field->is_number_integer()) return std::nullopt;
  if (field->is_number_unsigned()) {
    auto value = field->template get<uint64_t>();
    if (value > static_cast<uint64_t>(std::numeric_limits<T>::max())) return std::nullopt;
    return static_cast<T>(value);
  }
  auto value = field->template get<int64_t>();  // negative
  if constexpr (std::is_signed_v<T>) {
    if (value >= std::numeric_limits<T>::min() && value <= std::numeric_limits<T>::max())
      return static_cast<T>(value);
  }
  return std::nullopt;
}

/// One line, or `indent` > 0: several.
std::string dump_json(const nlohmann::ordered_json& json, int indent = -1);

/// Text for one line of a terminal: control characters and stray bytes as \xNN.
std::string printable(std::string_view text);

/// Whether it is UTF-8 throughout.
bool is_utf8(std::string_view text);

}  // namespace pastcone
