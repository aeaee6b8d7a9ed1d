#include "pastcone/trace/program_image.h"

#include <algorithm>
#include <cstring>

namespace pastcone {
namespace {

/// Arguments or variables in an image: the kernel gives them 6 MB, pointers included.
constexpr uint32_t kMaxStrings = 1 << 20;

/// Takes a NUL-terminated string off the front of `strings`; false if there is none.
bool take_string(std::string_view& strings, std::string& out) {
  size_t end = strings.find('\0');
  if (end == std::string_view::npos) return false;
  out = strings.substr(0, end);
  strings.remove_prefix(end + 1);
  return true;
}

bool take_strings(std::string_view& strings, uint32_t count, std::vector<std::string>& out) {
  if (count > strings.size() || count > kMaxStrings) return false;  // each has at least its NUL
  out.resize(count);
  return std::all_of(out.begin(), out.end(),
                     [&](std::string& string) { return take_string(strings, string); });
}

}  // namespace

Result<ProgramImage> ProgramImage::parse(ByteView payload) {
  ProgramImage image;
  auto damaged = [] { return fail("an exec event is damaged: its strings do not fit its header"); };
  if (payload.size() < sizeof image.info) return damaged();
  std::memcpy(&image.info, payload.data(), sizeof image.info);
  ByteReader in(payload.subspan(sizeof image.info));
  std::string_view strings = as_text(in.bytes(image.info.strings));
  if (in.failed() || in.remaining() / 16 < image.info.auxc) return damaged();
  if (!take_string(strings, image.path) || !take_string(strings, image.name) ||
      !take_string(strings, image.cwd) || !take_strings(strings, image.info.argc, image.arguments) ||
      !take_strings(strings, image.info.envc, image.environment)) {
    return damaged();
  }
  for (uint32_t i = 0; i < image.info.auxc; ++i) {
    uint64_t type = in.u64();
    image.auxiliary.emplace_back(type, in.u64());
  }
  return image;
}

Bytes ProgramImage::to_payload() const {
  ByteWriter strings;
  auto add = [&](const std::string& string) {
    strings.bytes(ByteView(as_bytes(string).data(), string.size() + 1));
  };
  for (const std::string* string : {&path, &name, &cwd}) add(*string);
  for (const std::string& argument : arguments) add(argument);
  for (const std::string& variable : environment) add(variable);

  format::ExecInfo header = info;
  header.argc = static_cast<uint32_t>(arguments.size());
  header.envc = static_cast<uint32_t>(environment.size());
  header.auxc = static_cast<uint32_t>(auxiliary.size());
  header.strings = static_cast<uint32_t>(strings.size());
  ByteWriter out;
  out.bytes(ByteView(reinterpret_cast<const uint8_t*>(&header), sizeof header));
  out.bytes(strings.view());
  for (const auto& [type, value] : auxiliary) {
    out.u64(type);
    out.u64(value);
  }
  return out.take();
}

}  // namespace pastcone
