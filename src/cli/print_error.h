// The one way in which errors are shown.
#pragma once

#include <string_view>

namespace pastcone::cli {

/// Prints "pastcone: MESSAGE" on stderr, after what is on stdout already.
void print_error(std::string_view message);

}  // namespace pastcone::cli
