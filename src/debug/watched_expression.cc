// What gdb knows about an expression that is to be watched.
#include <cstdlib>

#include "pastcone/debug/watches.h"
#include "pastcone/gdb/compile.h"
#include "pastcone/gdb/translate.h"

namespace pastcone::debug {
namespace {

constexpr uint64_t kMostBytes = 1 << 16;

std::optional<uint64_t> number_of(gdb::Gdb& gdb, const std::string& options, const std::string& expression) {
  auto answer = gdb.run(fmt::format("-data-evaluate-expression {} {}", options, gdb::c_string(expression)));
  if (!answer || !answer->good) return {};
  return answer->results["value"].number();
}

/// "type = int *" without the beginning.
Result<std::string> type_of(gdb::Gdb& gdb, const std::string& expression) {
  gdb::Answer answer = TRY(gdb.console("whatis " + expression));
  if (!answer.good) return fail("{}", answer.error);
  std::string text = answer.console;
  if (text.starts_with("type = ")) text.erase(0, 7);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

/// What gdb has selected.
struct Selected {
  bool innermost = true;
  std::string location;  ///< its FILE:LINE, if that is known
  std::optional<WatchedExpression::Frame> frame;
};

/// The number that follows in what gdb says of a frame.
uint64_t number_behind(const std::string& text, std::string_view word) {
  size_t at = text.find(word);
  return at == std::string::npos ? 0 : std::strtoull(text.c_str() + at + word.size(), nullptr, 16);
}

Selected selected_in(gdb::Gdb& gdb, Incarnation& run, ThreadId thread) {
  Selected selected;
  auto shown = gdb.run("-stack-info-frame");
  if (!shown || !shown->good) return selected;
  const auto& frame = shown->results["frame"];
  selected.innermost = frame["level"].number().value_or(0) == 0;
  if (!frame["fullname"].text.empty())
    selected.location = fmt::format("{}:{}", frame["fullname"].text, frame["line"].text);
  // Not by the frame behind it: gdb shows none behind main.
  auto about = gdb.console("info frame");
  auto registers = run.registers(thread);
  if (!about || !about->good || !registers) return selected;
  uint64_t stack = number_behind(about->console, "frame at "), back = number_behind(about->console, "saved rip = ");
  if (stack != 0) selected.frame = WatchedExpression::Frame{thread, stack, back, *registers};
  return selected;
}

/// gdb compiles for the innermost frame, or for a line: there only what is in no frame is the same all along.
template <class Code>
Result<Code> for_selected(const Selected& selected, Result<std::vector<Code>> compiled) {
  std::vector<Code> all = TRY(std::move(compiled));
  bool uses_registers = all.front().uses_registers();
  if (uses_registers && !selected.innermost)
    return fail("it is about variables of a frame that is not the innermost one");
  if (uses_registers && !selected.frame) return fail("its frame is not known");
  return std::move(all.front());
}

/// Registers change all the time, which only single steps would show.
Status check_registers(gdb::Gdb& gdb, const std::string& text) {
  for (const gdb::Token& token : gdb::tokens_of(text)) {
    if (token.kind != gdb::Token::Kind::kName || !token.text.starts_with('$') || token.text.size() < 2) continue;
    if (!TRY(gdb.console("info registers " + token.text.substr(1))).good) continue;  // a variable of gdb's
    return fail("{} cannot be watched: {} is a register; `watch -l` watches the memory that an expression names now", text,
                token.text);
  }
  return {};
}

std::string location_of(const Selected& selected) { return selected.innermost ? "" : selected.location; }

Result<gdb::AgentExpression> compile_in(gdb::Gdb& gdb, const Selected& selected,
                                        const std::string& expression) {
  return for_selected(selected, gdb::compile_all(gdb, expression, location_of(selected)));
}

}  // namespace

Result<WatchedExpression> look_up(gdb::Gdb& gdb, Incarnation& run, ThreadId thread, const std::string& text,
                                  bool fixed) {
  WatchedExpression what;
  what.text = text;
  if (!fixed) TRY_STATUS(check_registers(gdb, text));
  std::string address = fmt::format("(unsigned long)&({})", text);
  std::string type = TRY(type_of(gdb, text));
  std::optional<uint64_t> size = number_of(gdb, "", fmt::format("(unsigned long)sizeof({})", text));
  std::optional<uint64_t> place = number_of(gdb, "", address);
  if (!size || *size == 0) return fail("Cannot watch constant value `{}'.", text);
  if (*size > kMostBytes)
    return fail("{} cannot be watched: it has {} bytes, and {} can be", text, *size, kMostBytes);
  what.size = static_cast<uint32_t>(*size);
  what.has_address = place.has_value();
  Selected selected = selected_in(gdb, run, thread);
  const std::optional<WatchedExpression::Frame>& frame = selected.frame;
  if (!place) {
    if (fixed) return fail("Attempt to take address of value not located in memory.");
    auto code = compile_in(gdb, selected, text);
    if (!code) return fail("{} cannot be watched: {}", text, code.error().message);
    if (code->reads_nothing() && !code->uses_registers())
      return fail("Cannot watch constant value `{}'.", text);
    if (code->reads_nothing()) return fail("{} cannot be watched: it is in registers", text);
    if (code->uses_registers()) what.frame = frame;
    what.code = std::move(*code);
    what.type = fmt::format("({})0", type);
    return what;
  }
  std::string pointer = TRY(type_of(gdb, fmt::format("&({})", text)));
  what.type = fmt::format("*({})0", pointer);
  what.address = *place;
  if (fixed) return what;
  // Not all that has an address can be compiled: that is where it is, then.
  if (auto code = compile_in(gdb, selected, address)) {
    if (code->uses_registers()) what.frame = frame;
    what.code = std::move(*code);
    return what;
  }
  auto registers = run.registers(thread);
  if (frame && registers && *place >= registers->rsp && *place < frame->stack) what.frame = frame;
  return what;
}

Result<gdb::Formula> compile_condition(gdb::Gdb& gdb, Incarnation& run, ThreadId thread,
                                       const std::string& text) {
  Selected selected = selected_in(gdb, run, thread);
  gdb::Formula formula = TRY(for_selected(selected, gdb::compile_formulas(gdb, text, location_of(selected))));
  if (formula.calls()) return fail("the condition of a watchpoint cannot call functions");
  return formula;
}

}  // namespace pastcone::debug
