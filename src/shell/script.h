// Commands from the command line and from files, as gdb takes them: -ex CMD and -x FILE, as often as wanted,
// done in the order given;
// --batch to end after them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pastcone/base/result.h"

namespace pastcone::shell {

struct Script {
  struct Step {
    enum class Kind { kCommand, kFile };
    Kind kind;
    std::string text;  // the command; the file's name
  };
  std::vector<Step> steps;
  bool batch = false;
};

/// What a `--help` says about these options.
extern const char* const kScriptOptionsHelp;

/// Takes these options out of a command line and gives the rest. Needed because option parsers sort options
/// by name and so lose the order, and because `-ex` is one option of two letters. Nothing behind `--` is
/// taken.
Result<std::vector<std::string>> take_script_options(const std::vector<std::string>& arguments,
                                                     Script& script);

/// A command and the line it stands in, counted from 1.
struct ScriptLine {
  size_t number;
  std::string_view text;
};

/// The lines of a file, without blanks behind them. Those before commands are no matter, but for python.
std::vector<ScriptLine> script_lines(std::string_view contents);

}  // namespace pastcone::shell
