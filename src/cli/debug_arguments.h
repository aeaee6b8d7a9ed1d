// Arguments of commands about breakpoints, as gdb reads them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pastcone/base/result.h"

namespace pastcone::cli {

/// LOCATION [thread N] [if CONDITION]
struct PointPlace {
  std::string location, thread, condition;
};
PointPlace split_place(std::string_view text);

/// Takes a word off the front if it is the given one, perhaps shortened; what is left has no blanks around
/// it.
bool take_word(std::string_view& text, std::string_view word);
/// Takes a number off the front; what is left has no blanks around it.
std::optional<int64_t> take_number(std::string_view& text);

/// What stands behind a `$` is a number of gdb's; an error if it is none.
using NumberOf = std::function<Result<int>(std::string_view variable)>;
/// 3 5-7 $bpnum
Result<std::vector<int>> parse_numbers(std::string_view text, const NumberOf& number_of);

/// How many, or the how manieth; 1 if it is left out. `example` is the command as it should have been.
Result<size_t> parse_count(std::string_view text, std::string_view example);

/// What a command does that takes no argument; one that is given is refused.
std::function<Status(std::string_view)> without_argument(std::string command, std::function<Status()> action);

}  // namespace pastcone::cli
