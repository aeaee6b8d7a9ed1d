// Commands of `pastcone debug` that show things: which there are. What they do is in files of their own.
#include "pastcone/cli/debug_arguments.h"
#include "pastcone/cli/debug_completion.h"
#include "pastcone/cli/debug_session.h"

namespace pastcone::cli {

void DebugSession::bind_state(shell::Commands& commands) {
  auto threads = shell::word_completer([this] { return thread_names(); });
  auto events = [this](std::string_view text) { return complete_event(text); };
  commands.bind(
      "focus",
      [this](std::string_view text) -> Status {
        ThreadId thread = TRY(parse_thread(text));
        focus_ = thread;
        visit();
        if (engine_->now().tid(thread) == 0) return show_place(thread, "");
        fmt::print("[Switching to {}]\n", thread);
        return show_place(thread, "");
      },
      threads);
  commands.bind("where", without_argument("where", [this] { return where(); }));
  commands.bind("ps", without_argument("ps", [this] { return show_processes(); }));
  commands.bind("events", [this](std::string_view text) { return show_events(text); }, events);
  commands.bind("cut", without_argument("cut", [this] { return show_cut(); }));
  commands.bind("show obj", [this](std::string_view text) { return show_objects(text); },
                shell::word_completer([this] {
                  std::vector<std::string> names = object_names(world_.recording);
                  names.emplace_back("all");
                  return names;
                }));
  commands.bind("show proc", [this](std::string_view text) { return show_states(text); },
                shell::word_completer([this] { return process_names(); }));
  commands.bind("show message", [this](std::string_view text) { return show_message(text); }, events);
  commands.bind("show messages in-transit", without_argument("show messages in-transit", [this] { return show_in_transit(); }));
}

}  // namespace pastcone::cli
