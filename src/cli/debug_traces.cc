// What `trace` of `pastcone debug` prints.
#include <algorithm>

#include "pastcone/cli/debug_predicates.h"
#include "pastcone/cli/debug_session.h"
#include "pastcone/debug/source_frame.h"

namespace pastcone::cli {

/// Whose it is, as a predicate of it would say.
Status DebugSession::find_traced(debug::TracedValue& value) const {
  if (!value.who) return {};
  debug::SimplePredicate of;
  of.who = *value.who;
  of.expression = value.expression;
  debug::Predicate given{{{{of}}}};
  debug::Predicate found =
      TRY(debug::with_processes(given, [this](const debug::Who& who) { return find_processes(who); }));
  const debug::Who& first = found.links.front().front().front().who;
  if (!world_.graph.find(first.thread))
    return fail("there is no {} in the recording; 'ps' shows all", first.thread);
  if (value.who->kind != debug::Who::Kind::kAny) value.who = first;
  return {};
}

/// Of any process of a program it is those that have made it hold, if they are among them.
std::vector<ThreadId> DebugSession::traced_threads(const debug::TracedValue& value,
                                                   const HeldState& held) const {
  if (!value.who) return {held.focus};
  if (value.who->kind != debug::Who::Kind::kAny) return {value.who->thread};
  std::vector<ThreadId> all, made;
  for (ProcessId process : find_processes(*value.who)) {
    auto by = std::ranges::find(held.threads, process, &ThreadId::process);
    if (by != held.threads.end()) made.push_back(*by);
    all.emplace_back(process, 1);
  }
  return made.empty() ? all : made;
}

/// In the frame that one would see first.
Result<std::string> DebugSession::traced_text(ThreadId thread, const std::string& expression) {
  if (engine_->now().tid(thread) == 0)
    return std::string(engine_->now().steps_done(thread) > 0 ? "(has ended)" : "(has not begun)");
  gdb::Gdb* gdb = TRY(seats_->look_at(thread));
  TRY_STATUS(debug::select_source_frame(*gdb));
  gdb::Answer answer = TRY(seats_->console(thread, "output " + expression));
  return answer.good ? answer.console : answer.error;
}

Status DebugSession::print_traced(const HeldState& held) {
  SetPredicate& set = predicates_.at(held.number);
  ++set.held;
  std::vector<std::string> shown;
  for (const debug::TracedValue& value : set.values)
    for (ThreadId thread : traced_threads(value, held))
      shown.push_back(fmt::format("{}: {} = {}", event_text(thread), value.expression,
                                  TRY(traced_text(thread, value.expression))));
  fmt::print("Trace {}: {}\n", held.number, fmt::join(shown, ", "));
  return {};
}

}  // namespace pastcone::cli
