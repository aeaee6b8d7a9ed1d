// Commands that gdb has and the debugger has not.
#pragma once

#include <optional>
#include <string_view>

namespace pastcone::cli {

/// Why a line is not handed to gdb, and what there is instead; none: it is.
std::optional<std::string_view> why_refused(std::string_view line);

}  // namespace pastcone::cli
