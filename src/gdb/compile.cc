#include "pastcone/gdb/compile.h"

#include <algorithm>

#include "pastcone/gdb/translate.h"

namespace pastcone::gdb {
namespace {

/// gdb's instructions without their places: "const8 0;end;".
std::string instructions(const std::string& maint_output) {
  std::string out;
  size_t at = 0;
  while (at < maint_output.size()) {
    size_t end = std::min(maint_output.find('\n', at), maint_output.size());
    std::string line = maint_output.substr(at, end - at);
    at = end + 1;
    size_t digits = std::min(line.find_first_not_of(' '), line.size());
    size_t name = line.find("  ", digits);
    if (digits == line.size() || name == std::string::npos || line[digits] < '0' || line[digits] > '9')
      continue;
    out += line.substr(name + 2) + ';';
  }
  return out;
}

std::string command(const std::string& expression, const std::string& location) {
  std::string at = location.empty() ? "" : fmt::format("-at {}, ", location);
  return fmt::format("maint agent-eval {}{}", at, expression);
}

/// gdb's words in one line, or ours where gdb's mean nothing to a user.
std::string reason(const Answer& answer, const std::string& location) {
  std::string text = answer.error.substr(0, answer.error.find('\n'));
  if (text == "No registers." && location.empty()) return "No process: say where (a function, or FILE:LINE).";
  if (text == "Command aborted.") return "gdb cannot compile a value of this size.";
  return text;
}

}  // namespace

Result<std::vector<AgentExpression>> compile_all(Gdb& gdb, const std::string& expression,
                                                 const std::string& location) {
  TryCompile compiles = [&](const std::string& piece) -> Result<std::string> {
    Answer answer = TRY(gdb.console(command(piece, location)));
    return answer.good ? instructions(answer.console) : "";
  };
  FindUntyped find_untyped = [&](const std::string& name) -> Result<std::optional<uint64_t>> {
    Answer answer = TRY(gdb.run("-data-evaluate-expression " + c_string("(unsigned long)&'" + name + "'")));
    return answer.good ? answer.results["value"].number() : std::nullopt;
  };
  Answer as_it_is = TRY(gdb.console(command(expression, location)));
  // What names nothing, or no place, is said of what the user wrote.
  bool hopeless =
      !as_it_is.good && (as_it_is.error.starts_with("No ") || as_it_is.error.starts_with("Function "));
  if (hopeless) return fail("{}", reason(as_it_is, location));
  std::string translated = TRY(translate(expression, compiles, find_untyped));
  Answer answer = translated == expression ? as_it_is : TRY(gdb.console(command(translated, location)));
  if (!answer.good) return fail("{}", reason(answer, location));
  return AgentExpression::parse_all(answer.console);
}

Result<AgentExpression> compile(Gdb& gdb, const std::string& expression, const std::string& location) {
  auto all = TRY(compile_all(gdb, expression, location));
  if (all.size() > 1) return fail("{} means {} places", location, all.size());
  return std::move(all.front());
}

}  // namespace pastcone::gdb
