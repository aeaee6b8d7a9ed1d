// Commands of `pastcone debug` that have a body: what is done at a breakpoint, python; and conditions.
#include "pastcone/cli/debug_session.h"

namespace pastcone::cli {

void DebugSession::bind_blocks(shell::Commands& commands) {
  commands.bind_block("commands", [this](std::string_view numbers, const shell::Lines& body) {
    return set_actions(numbers, body);
  });
  commands.bind_block(
      "python", [this](std::string_view, const shell::Lines& body) { return hand_to_gdb("python", body); });
  commands.set_evaluator([this](std::string_view condition) { return holds(condition); });
}

Status DebugSession::set_actions(std::string_view numbers, const shell::Lines& body) {
  std::string last = std::to_string(breakpoints_->last_number());
  if (numbers.empty() && breakpoints_->all().empty()) return fail("No breakpoints specified.");
  return change(numbers.empty() ? std::string_view(last) : numbers, [&](int number) -> Status {
    debug::Breakpoint* point = TRY(breakpoints_->find(number));
    point->actions.clear();
    for (const std::string& line : body) point->actions.emplace_back(shell::trim(line));
    return {};
  });
}

/// What was to be done where the last command has stopped. A command in it that goes on is the last one.
Status DebugSession::do_actions(shell::Session& session) {
  if (std::exchange(acting_, true)) return {};  // it is one of them that has led here: its turn comes below
  Status done;
  while (done && !actions_.empty()) {
    shell::Lines lines = std::exchange(actions_, {});
    uint64_t motions = engine_->motions();
    done = session.run(lines, [&] { return motions != engine_->motions(); });
  }
  acting_ = false;
  return done;
}

Result<bool> DebugSession::holds(std::string_view condition) {
  gdb::Gdb* gdb = TRY(seats_->look_at(focus_));
  gdb::Answer answer =
      TRY(gdb->run("-data-evaluate-expression " + gdb::c_string(fmt::format("({}) != 0", condition))));
  if (!answer.good) return fail("{}", answer.error);
  const std::string& value = answer.results["value"].text;
  return value != "0" && value != "false";
}

}  // namespace pastcone::cli
