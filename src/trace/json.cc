#include "pastcone/trace/json.h"

#include <fmt/format.h>

#include <cstddef>
#include <iterator>

namespace pastcone {
namespace {

/// Bytes of the UTF-8 character at the start of `text`, 0 if there is none.
size_t utf8_length(std::string_view text) {
  auto at = [text](size_t i) { return static_cast<unsigned char>(text[i]); };
  size_t length = at(0) < 0x80   ? 1
                  : at(0) < 0xc2 ? 0
                  : at(0) < 0xe0 ? 2
                  : at(0) < 0xf0 ? 3
                  : at(0) < 0xf5 ? 4
                                 : 0;
  if (length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((at(i) & 0xc0) != 0x80) return 0;
  }
  if (length < 3) return length;
  bool overlong = (at(0) == 0xe0 && at(1) < 0xa0) || (at(0) == 0xf0 && at(1) < 0x90);
  bool beyond = (at(0) == 0xed && at(1) > 0x9f) || (at(0) == 0xf4 && at(1) > 0x8f);
  return overlong || beyond ? 0 : length;
}

}  // namespace

nlohmann::json parse_json(std::string_view text) {
  auto shallow = [](int depth, nlohmann::json::parse_event_t, nlohmann::json&) { return depth <= 2; };
  return nlohmann::json::parse(text, shallow, false);
}

std::string json_string(const nlohmann::json& object, const char* key) {
  auto field = object.find(key);
  return field != object.end() && field->is_string() ? field->get<std::string>() : std::string();
}

std::vector<std::string> json_strings(const nlohmann::json& object, const char* key) {
  std::vector<std::string> strings;
  auto field = object.find(key);
  if (field == object.end() || !field->is_array()) return strings;
  for (const auto& element : *field) {
    if (element.is_string()) strings.push_back(element.get<std::string>());
  }
  return strings;
}

std::string dump_json(const nlohmann::ordered_json& json, int indent) {
  return json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    size_t length = utf8_length(text);
    auto first = static_cast<unsigned char>(text[0]);
    bool control = first < 0x20 || first == 0x7f ||
                   (first == 0xc2 && length == 2 && static_cast<unsigned char>(text[1]) < 0xa0);
    if (length == 0 || control) {
      length = length == 0 ? 1 : length;
      for (char byte : text.substr(0, length)) {
        fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(byte));
      }
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return out;
}

}  // namespace pastcone
