// One idiom for what the outside can cause: Result<T>, a value or an Error that is a sentence for the user.
//
//   Result<Recording> open(...);
//   auto r = TRY(open(path));           // passes the error on
//   return fail("no recording in {}: {}", dir, reason);
#pragma once

#include <fmt/format.h>

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace pastcone {

/// What went wrong, in one line: what, why, what to try.
struct Error {
  std::string message;
};

template <typename T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

template <typename... Args>
tl::unexpected<Error> fail(fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<Error>(Error{fmt::format(format, std::forward<Args>(args)...)});
}

}  // namespace pastcone

/// Evaluates to the value of a Result<T>, or returns its error from the enclosing function.
#define TRY(expression)                                                                \
  __extension__({                                                                      \
    auto try_result_ = (expression);                                                   \
    if (!try_result_) return tl::unexpected<::pastcone::Error>(std::move(try_result_).error()); \
    std::move(try_result_).value();                                                    \
  })
/// The same for a Status.
#define TRY_STATUS(expression)                                                         \
  do {                                                                                 \
    auto try_result_ = (expression);                                                   \
    if (!try_result_) return tl::unexpected<::pastcone::Error>(std::move(try_result_).error()); \
  } while (0)
