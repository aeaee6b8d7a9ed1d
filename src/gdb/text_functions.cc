#include "pastcone/gdb/text_functions.h"

#include <map>

namespace pastcone::gdb {
namespace {

constexpr uint64_t kLongest = 1 << 20;

/// Read as far as it is looked at.
class Text {
 public:
  Text(const TextArgument& argument, const ReadMemory& read) : argument_(argument), read_(read) {}

  Result<int> at(uint64_t index) {
    if (argument_.literal != nullptr) {
      looked_ = std::max(looked_, index + 1);
      // The zero behind it; memcmp may look farther, at what is not known.
      if (index > argument_.literal->size()) return fail("a string is too short");
      return index == argument_.literal->size() ? 0 : static_cast<unsigned char>((*argument_.literal)[index]);
    }
    if (index >= kLongest) return fail("a string is too long");
    uint64_t address = argument_.address + index, chunk = address & ~(kChunk - 1);
    if (!has_ || chunk != chunk_) {
      has_ = read_(chunk, bytes_, kChunk);
      chunk_ = chunk;
      if (!has_) return fail("Cannot access memory at address {:#x}", address);
    }
    looked_ = std::max(looked_, index + 1);
    return bytes_[address - chunk];
  }

  void note(std::vector<std::pair<uint64_t, uint32_t>>& memory) const {
    if (argument_.literal == nullptr && looked_ > 0)
      memory.emplace_back(argument_.address, static_cast<uint32_t>(looked_));
  }

 private:
  static constexpr uint64_t kChunk = 64;  // never in two pages
  const TextArgument& argument_;
  const ReadMemory& read_;
  unsigned char bytes_[kChunk] = {};
  uint64_t chunk_ = 0, looked_ = 0;
  bool has_ = false;
};

Result<int64_t> compared(Text& a, Text& b, uint64_t most, bool to_zero) {
  for (uint64_t i = 0; i < most; ++i) {
    int left = TRY(a.at(i)), right = TRY(b.at(i));
    if (left != right) return left < right ? -1 : 1;
    if (to_zero && left == 0) break;
  }
  return 0;
}

Result<int64_t> length(Text& text, uint64_t most) {
  uint64_t size = 0;
  while (size < most && TRY(text.at(size)) != 0) ++size;
  return static_cast<int64_t>(size);
}

/// How far in; none: nowhere.
Result<std::optional<uint64_t>> position_of(Text& text, char wanted) {
  for (uint64_t i = 0;; ++i) {
    int here = TRY(text.at(i));
    if (here == static_cast<unsigned char>(wanted)) return std::optional(i);
    if (here == 0) return std::optional<uint64_t>();
  }
}

Result<std::optional<uint64_t>> position_of(Text& text, Text& wanted) {
  for (uint64_t begin = 0;; ++begin) {
    for (uint64_t i = 0;; ++i) {
      int next = TRY(wanted.at(i));
      if (next == 0) return std::optional(begin);
      int here = TRY(text.at(begin + i));
      if (here == next) continue;
      if (here == 0) return std::optional<uint64_t>();
      break;
    }
  }
}

}  // namespace

std::optional<TextFunctionForm> text_function(std::string_view name) {
  using enum TextFunction;
  static const std::map<std::string_view, TextFunctionForm> kForms = {
      {"strcmp", {kStrcmp, 2, false, true, false}},   {"strncmp", {kStrncmp, 2, true, true, false}},
      {"memcmp", {kMemcmp, 2, true, true, false}},    {"strlen", {kStrlen, 1, false, false, false}},
      {"strnlen", {kStrnlen, 1, true, false, false}}, {"strchr", {kStrchr, 1, true, false, true}},
      {"strstr", {kStrstr, 2, false, false, true}}};
  auto found = kForms.find(name);
  return found == kForms.end() ? std::nullopt : std::optional(found->second);
}

Result<int64_t> call_text_function(TextFunction function, const std::vector<TextArgument>& texts,
                                   int64_t number, const ReadMemory& read,
                                   std::vector<std::pair<uint64_t, uint32_t>>& memory) {
  Text first(texts[0], read), second(texts.back(), read);
  auto most = static_cast<uint64_t>(number);
  auto run = [&]() -> Result<int64_t> {
    std::optional<uint64_t> found;
    switch (function) {
      case TextFunction::kStrcmp:
        return compared(first, second, UINT64_MAX, true);
      case TextFunction::kStrncmp:
        return compared(first, second, most, true);
      case TextFunction::kMemcmp:
        return compared(first, second, most, false);
      case TextFunction::kStrlen:
        return length(first, UINT64_MAX);
      case TextFunction::kStrnlen:
        return length(first, most);
      case TextFunction::kStrchr:
        found = TRY(position_of(first, static_cast<char>(number)));
        break;
      case TextFunction::kStrstr:
        found = TRY(position_of(first, second));
        break;
    }
    return found ? static_cast<int64_t>(texts[0].address + *found) : 0;
  };
  Result<int64_t> result = run();
  first.note(memory);
  if (texts.size() > 1) second.note(memory);
  return result;
}

}  // namespace pastcone::gdb
