// Runs command lines, and those that go on over several: define, document, if, while, and what has a body for
// somebody else (python, commands), each up to its `end`, as in gdb.
//
// What a user defines becomes a command like any other, and may use all of them: gdb's and ours.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pastcone/shell/commands.h"
#include "pastcone/shell/interrupt.h"

namespace pastcone::shell {

/// The next line of what is being read; none: there is no more.
using NextLine = std::function<std::optional<std::string>()>;
using Lines = std::vector<std::string>;

class Interpreter {
 public:
  /// Both must outlive it.
  Interpreter(Commands& commands, Interrupt& interrupt) : commands_(commands), interrupt_(interrupt) {}

  /// A line, with the lines that belong to it.
  Status run(std::string_view line, const NextLine& more);
  /// Several, up to the first that fails or until `enough` says so after one of them.
  Status run(const Lines& lines, const std::function<bool()>& enough = {});

  /// Whether the lines that follow belong to this one.
  static bool opens(std::string_view line);

 private:
  enum class Flow : uint8_t { kOn, kBreak, kContinue };
  struct Definition {
    std::string name, text;
    Lines body;
  };

  Result<Flow> run_range(const Lines& lines, size_t begin, size_t end, const std::function<bool()>& enough);
  Result<Flow> run_block(const Lines& lines, size_t begin, size_t end);
  Result<bool> holds(std::string_view condition) const;
  Status define(std::string_view name, Lines body);
  Status document(std::string_view name, const Lines& body);
  Status call(const Definition& definition, std::string_view arguments);

  Commands& commands_;
  Interrupt& interrupt_;
  std::list<Definition> definitions_;  ///< where they are kept does not change: texts of commands are in them
  int depth_ = 0;
};

}  // namespace pastcone::shell
