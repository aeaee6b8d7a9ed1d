#include "pastcone/symbols/location.h"

#include <string_view>

namespace pastcone::symbols {

bool Location::in_c_library() const {
  std::string name = module.filename().native();
  for (std::string_view start : {"libc.so", "libc-", "ld-linux", "ld-2", "ld-musl", "libpthread", "librt."}) {
    if (name.starts_with(start)) return true;
  }
  return false;
}

std::string to_string(const Location& location) {
  if (!location.file.empty()) {
    std::string text = fmt::format("at {}:{}", Path(location.file).filename().native(), location.line);
    return location.function.empty() ? text : fmt::format("{} in {}", text, location.function);
  }
  if (location.function.empty()) return {};
  return fmt::format("in {} of {}", location.function, location.module.filename().native());
}

}  // namespace pastcone::symbols
