#include "pastcone/symbols/location.h"

#include <algorithm>
#include <span>
#include <string_view>

namespace pastcone::symbols {
namespace {

bool begins_with_any(std::string_view text, std::span<const std::string_view> beginnings) {
  return std::ranges::any_of(beginnings, [&](std::string_view each) { return text.starts_with(each); });
}

constexpr std::string_view kCLibraries[] = {
    "libc.so", "libc-",  "ld-linux", "ld-2",      "ld-musl", "libpthread", "librt.",  "libm.so",
    "libm-",   "libdl.", "libdl-",   "libresolv", "libnss_", "libutil.",   "libanl.", "pastcone-runtime"};
constexpr std::string_view kLanguageLibraries[] = {"libstdc++", "libc++", "libgcc_s", "libgomp"};
/// Where compilers find what comes with them: headers of libstdc++, and the sources of Rust's and Go's
/// libraries.
constexpr std::string_view kSystemSources[] = {"/usr/include/", "/usr/lib/", "/usr/local/go/", "/rustc/",
                                               "/build/glibc"};

}  // namespace

bool Location::in_c_library() const {
  return linked_in || begins_with_any(module.filename().native(), kCLibraries);
}

bool Location::in_system() const {
  return in_c_library() || begins_with_any(module.filename().native(), kLanguageLibraries) ||
         begins_with_any(file, kSystemSources);
}

std::string to_string(const Location& location) {
  if (!location.file.empty()) {
    std::string text = fmt::format("at {}:{}", Path(location.file).filename().native(), location.line);
    return location.function.empty() ? text : fmt::format("{} in {}", text, location.function);
  }
  if (location.function.empty()) return {};
  return fmt::format("in {} of {}", location.function, location.module.filename().native());
}

std::string place_text(const Location& location) {
  std::string module = location.module.filename().native();
  if (!location.file.empty()) return to_string(location).substr(std::string_view("at ").size());
  if (!location.function.empty())
    return fmt::format("{}+{:#x} in {}", location.function, location.offset, module);
  return module.empty() ? "" : fmt::format("{}+{:#x}", module, location.offset);
}

Location choose(const std::vector<Location>& calls) {
  auto first = [&](auto wanted) {
    auto found = std::ranges::find_if(calls, wanted);
    return found == calls.end() ? nullptr : &*found;
  };
  auto outside = [](const Location& each) { return !each.in_c_library(); };
  auto with_source = [](const Location& each) { return !each.file.empty(); };
  for (const Location* found :
       {first([&](const Location& each) { return with_source(each) && !each.in_system(); }),
        first([&](const Location& each) { return with_source(each) && outside(each); }),
        first([](const Location& each) { return !each.module.empty() && !each.in_system(); }),
        first([&](const Location& each) { return !each.module.empty() && outside(each); }),
        first([](const Location& each) { return each.known(); })}) {
    if (found != nullptr) return *found;
  }
  return calls.empty() ? Location() : calls.front();
}

}  // namespace pastcone::symbols
