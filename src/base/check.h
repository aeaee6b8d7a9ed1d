// CHECK: what only a bug in pastcone can break. On in release, because a debugger that goes on with a wrong
// picture is worse than one that stops.
//
//   CHECK(offset <= size);
//   CHECK(cut.contains(event), "cone of {} leaves out {}", target, event);
//
// Not for what the outside can cause (a torn file, a missing program): that is a Result, see result.h. Not
// for src/runtime, which never takes the user's program down.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

namespace pastcone {

/// Prints one line to stderr, "FILE:LINE: CHECK(CONDITION) failed: MESSAGE", and aborts. Allocates nothing
/// itself.
[[noreturn]] void check_failed(const char* file, int line, const char* condition, std::string_view message);

template <typename... Args>
std::string check_message(fmt::format_string<Args...> format, Args&&... args) {
  return fmt::format(format, std::forward<Args>(args)...);
}
inline std::string check_message() { return {}; }

}  // namespace pastcone

/// Aborts with a message if CONDITION is false. The message is a format string and its arguments, all
/// optional; they are evaluated only on failure.
#define CHECK(condition, ...)                                                                           \
  do {                                                                                                  \
    if (!(condition)) [[unlikely]] {                                                                    \
      ::pastcone::check_failed(__FILE__, __LINE__, #condition, ::pastcone::check_message(__VA_ARGS__)); \
    }                                                                                                   \
  } while (0)
