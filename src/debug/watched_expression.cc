// What gdb knows about an expression that is to be watched.
#include "pastcone/debug/watches.h"
#include "pastcone/gdb/compile.h"

namespace pastcone::debug {
namespace {

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

/// The selected frame, if the expression is about something in it.
std::optional<WatchedExpression::Frame> frame_of(gdb::Gdb& gdb, Incarnation& run, ThreadId thread) {
  auto selected = gdb.run("-stack-info-frame");
  auto registers = run.registers(thread);
  if (!selected || !selected->good || !registers) return {};
  auto level = selected->results["frame"]["level"].number();
  auto current = gdb.run("-thread-info");
  if (!level || !current || !current->good) return {};
  std::string caller =
      fmt::format("--thread {} --frame {}", current->results["current-thread-id"].text, *level + 1);
  auto stack = number_of(gdb, caller, "(unsigned long)$sp"),
       back = number_of(gdb, caller, "(unsigned long)$pc");
  if (!stack || !back) return {};
  return WatchedExpression::Frame{thread, *stack, *back, *registers};
}

}  // namespace

Result<WatchedExpression> look_up(gdb::Gdb& gdb, Incarnation& run, ThreadId thread, const std::string& text,
                                  bool fixed) {
  WatchedExpression what;
  what.text = text;
  std::string address = fmt::format("(unsigned long)&({})", text);
  std::string type = TRY(type_of(gdb, text));
  std::optional<uint64_t> size = number_of(gdb, "", fmt::format("(unsigned long)sizeof({})", text));
  std::optional<uint64_t> place = number_of(gdb, "", address);
  if (!size || *size == 0) return fail("Cannot watch constant value `{}'.", text);
  if (*size > kMostWords * 8)
    return fail("{} cannot be watched: it has {} bytes, and there are {} debug registers of 8", text, *size,
                kMostWords);
  what.size = static_cast<uint32_t>(*size);
  what.has_address = place.has_value();
  std::optional<WatchedExpression::Frame> frame = fixed ? std::nullopt : frame_of(gdb, run, thread);
  if (!place) {
    if (fixed) return fail("Attempt to take address of value not located in memory.");
    auto code = gdb::compile(gdb, text);
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
  // gdb compiles for the innermost frame only, and not all that has an address: that is where it is, then.
  if (auto code = gdb::compile(gdb, address)) {
    if (code->uses_registers()) what.frame = frame;
    what.code = std::move(*code);
    return what;
  }
  auto registers = run.registers(thread);
  if (frame && registers && *place >= registers->rsp && *place < frame->stack) what.frame = frame;
  return what;
}

}  // namespace pastcone::debug
