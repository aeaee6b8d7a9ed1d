// A session of `pastcone debug`: the run, whom one looks at, what was set, where one has been. What the commands do
// is in debug_running.cc, debug_stopping.cc, debug_state.cc and debug_causal.cc, as their texts are.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pastcone/cli/debug_predicates.h"
#include "pastcone/cli/waiting_line.h"
#include "pastcone/debug/breakpoints.h"
#include "pastcone/debug/ends.h"
#include "pastcone/debug/engine.h"
#include "pastcone/debug/images.h"
#include "pastcone/debug/navigate.h"
#include "pastcone/debug/probe.h"
#include "pastcone/debug/seats.h"
#include "pastcone/debug/watches.h"
#include "pastcone/debug/whereabouts.h"
#include "pastcone/debug/world.h"
#include "pastcone/replay/object_index.h"
#include "pastcone/shell/commands.h"
#include "pastcone/shell/interrupt.h"
#include "pastcone/shell/session.h"

namespace pastcone::cli {

class DebugSession {
 public:
  static Result<std::unique_ptr<DebugSession>> begin(const Recording& recording, const causal::Graph& graph,
                                                     shell::Interrupt& interrupt);

  /// "(p2:1041) ".
  std::string prompt() const;

  void bind(shell::Commands& commands);

  /// What `commands` of breakpoints say, after one that has stopped there.
  Status do_actions(shell::Session& session);

 private:
  DebugSession(debug::World world, shell::Interrupt& interrupt) : world_(std::move(world)), interrupt_(interrupt) {}
  void bind_running(shell::Commands& commands);
  void bind_stopping(shell::Commands& commands);
  void bind_points(shell::Commands& commands);
  void bind_threads(shell::Commands& commands);
  void bind_state(shell::Commands& commands);
  void bind_causal(shell::Commands& commands);
  void bind_predicates(shell::Commands& commands);
  void bind_blocks(shell::Commands& commands);

  // debug_blocks.cc
  Status set_actions(std::string_view numbers, const shell::Lines& body);
  Result<bool> holds(std::string_view condition);

  // debug_session.cc
  /// "p2:1041", as it is there.
  std::string place_in(const causal::Cut& cut, ThreadId thread) const;
  uint64_t events_in(const causal::Cut& cut) const;
  /// As long as it lives one waits for that, and on a terminal sees how far it is.
  WaitingLine::Scope wait_for(std::string what, const causal::Cut& to);
  WaitingLine::Scope wait_for(std::string what);
  Status to_first_program();
  /// Ctrl-C has been heard: only another one interrupts what follows.
  void hear();
  void show_remark();
  /// Of breakpoints that could not be set.
  void show_remarks();
  /// It stands in an event, and the command looks as if it called a function.
  bool calls_in_event(std::string_view line);
  bool stands_in_event(ThreadId thread);
  Status hand_to_gdb(std::string_view line, const shell::Lines& body = {});
  Result<std::string> ask_gdb(const std::string& command);
  Status set_focus(ThreadId thread);
  /// Whoever is meant; empty: who is in focus.
  Result<ThreadId> parse_thread(std::string_view text) const;
  Result<ProcessId> parse_process(std::string_view text) const;
  /// One stands here now, and can come back.
  void visit();
  /// "p2:1041", "p2:1041, into event 1042": where the thread is.
  std::string event_text(ThreadId thread) const;
  std::string process_end(ProcessId process) const;

  // debug_causal.cc
  Status follow();
  Status cause(std::string_view text);
  Status cause_on_fd(std::string_view text);
  Status go_back_to_cause(debug::CauseOptions options);
  Status go_along(const debug::Way& way, bool back);
  Status revisit(std::string_view text, bool back);
  uint32_t focus_index() const;

  // debug_demand.cc
  Status run_to(std::string_view text);
  Result<debug::Goal> goal_of(const debug::DemandPoint& point);
  Result<debug::Goal> goal_of_access(debug::ObjectAccess which);
  /// Of all objects, with the places of their accesses; known after a replay of its own.
  Result<const std::vector<replay::ObjectHistory>*> histories();

  // debug_running.cc
  Result<debug::Rest> run_on(const std::function<Result<debug::Rest>()>& how);
  Result<gdb::Answer> run_in_gdb(const std::string& command, const shell::Lines& body = {});
  Status go_to(const debug::State& state, std::optional<ThreadId> focus);
  Status advance(std::string_view arguments);
  Status advance_all();
  Status resume_in_gdb(const std::string& command);
  /// How many a count means.
  Result<int64_t> ask_for_steps(std::string_view count);
  Status resume_by_lines(const std::string& name, std::string_view arguments);
  enum class Left : uint8_t { kNothing, kCall, kLine, kStopped };  ///< kLine: and its line; kStopped: elsewhere
  Result<Left> leave_call();
  Result<bool> leave_vfork();
  Status restart();
  /// What a motion has led to, in words, and the focus goes to whoever was stopped.
  Status report(const Result<debug::Rest>& rest, ThreadId moved);
  Status show_untested(const std::string& condition, ThreadId thread);
  Status show_function_of(const debug::Breakpoint& breakpoint, ThreadId thread);
  Status show_stop(const debug::Rest::Stopped& stop);
  bool take_actions(const std::vector<int>& numbers);
  /// `innermost`: of the frames it is in; else that of the innermost whose source can be read.
  Status show_place(ThreadId thread, const std::string& before, bool innermost = false);
  Status show_displays(ThreadId thread);
  Status killed_by_somebody(ProcessId process) const;
  bool is_in_program(ThreadId thread);
  /// A motion that gdb has asked for, and that has ended where gdb wanted it to.
  bool is_gdbs_own(const debug::Inferior& inferior) const;

  // debug_stopping.cc
  Status set_break(std::string_view text, bool temporary);
  Status set_break_all(std::string_view text, bool temporary);
  /// A number alone is a line of the file that one is in.
  Status settle(std::string& location, ThreadId thread);
  Status set_pending(std::string_view text);
  Status set_message_break(std::string_view text, bool receive, bool temporary);
  Status add_break(debug::Breakpoint breakpoint);
  /// All that can be done is done; the first error is told. No numbers: all there are.
  Status change(std::string_view numbers, const std::function<Status(int)>& how);
  Status remove_points(std::string_view text);
  Status enable_points(std::string_view text, bool enabled);
  Result<std::vector<int>> numbers_in(std::string_view text);
  Status list_breakpoints(std::string_view numbers);
  Status list_watchpoints();
  Status list_points(const std::vector<int>& numbers, bool only_watches);

  // debug_places.cc
  void bind_places(shell::Commands& commands);
  Status clear(std::string_view location);
  Status set_breaks_like(std::string_view pattern);
  Status set_catch(std::string_view what, bool temporary);

  // debug_points.cc
  Status set_watch(const std::string& command, std::string_view text);
  Result<debug::Breakpoint*> take_point(std::string_view& text);
  Status set_condition(std::string_view text);
  Status set_ignore(std::string_view text);
  Status pass_over(std::string_view count);
  Status select_thread(std::string_view text);
  Result<uint32_t> thread_numbered(ProcessId process, int64_t number) const;
  Status apply_to_threads(std::string_view text);
  static std::string with_thread_numbers(const std::string& printed);
  Status select_frame(const std::string& command, std::string_view text);
  Status remove_point(int number);
  Status enable_point(int number, bool enabled);
  /// They have stopped somebody: those that do so only once are gone then, or disabled.
  void spend(const std::vector<int>& numbers);
  std::string hit_title(int number) const;
  Result<std::optional<gdb::Formula>> compile_condition(const std::string& condition);
  /// "Hardware watchpoint 2: total\n\nOld value = …"; empty: the thread was not stopped by one.
  /// `numbers`: of those that have stopped it.
  std::string watch_text(ThreadId thread, std::vector<int>& numbers);
  std::string value_text(gdb::Gdb& gdb, const debug::WatchedExpression& what, const std::optional<debug::ValueBytes>& value);

  // debug_predicates.cc
  Status add_predicate(const debug::Predicate& given, std::vector<debug::TracedValue> values);
  std::vector<ProcessId> find_processes(const debug::Who& who) const;
  Status check(const debug::Part& part) const;
  Status list_predicates() const;
  bool remove_predicate(int number);
  template <typename Ask>
  auto probed(std::vector<debug::Part>& parts, debug::Telling& telling, const debug::State& origin,
              const std::function<Status(debug::Part&)>& share, Ask ask) -> std::invoke_result_t<Ask, debug::Probe&>;
  Status share_alike(SetPredicate& set, debug::Part& part);
  Status find_past(SetPredicate& set);
  debug::State before_links(const SetPredicate& set, debug::State from) const;
  debug::State nothing() const;
  static bool is_known(const SetPredicate& set, const debug::State& state);
  static bool is_behind_known(const SetPredicate& set, const debug::State& state);
  Result<std::optional<std::vector<debug::Found>>> find_next(const SetPredicate& set, const debug::Probe& probe,
                                                             debug::Search& search,
                                                             const std::vector<debug::Reached>& reached,
                                                             const debug::State& origin) const;
  static Result<std::optional<std::vector<debug::Found>>> find_behind(const SetPredicate& set, const debug::Probe& probe,
                                                                      debug::Search& search,
                                                                      const std::vector<debug::Reached>& reached,
                                                                      const debug::State& state);
  Result<std::vector<HeldState>> find_held(int number, const debug::State& origin, size_t most, std::string& never);
  Result<std::vector<HeldState>> find_held(int number, debug::Probe& probe, const debug::State& origin, size_t most,
                                           std::string& never);
  Status advance_to_predicates();
  bool seeks_predicates() const;
  Status return_to(const debug::State& state);
  Result<std::vector<std::string>> count_one_by_one(const std::vector<debug::Part>& parts, const debug::State& origin);
  Result<size_t> count_unstopped(const std::vector<HeldState>& traces, const debug::State& origin);
  Status keep_unstopped(std::vector<HeldState>& traces, const debug::State& origin,
                        const std::optional<HeldState>& target);
  Status drop_behind_stop(std::vector<HeldState>& traces, const debug::State& origin,
                          const std::optional<HeldState>& target);
  Result<debug::Rest> run_to_held(const std::optional<HeldState>& target);
  std::optional<HeldState> choose_stop(const std::vector<HeldState>& stops) const;
  Status stop_at(const HeldState& target, const std::vector<HeldState>& stops);
  std::string held_text(const HeldState& held) const;
  Status run_to_state(std::string_view text);

  // debug_traces.cc
  Status find_traced(debug::TracedValue& value) const;
  std::vector<ThreadId> traced_threads(const debug::TracedValue& value, const HeldState& held) const;
  Result<std::string> traced_text(ThreadId thread, const std::string& expression);
  Status print_traced(const HeldState& held);

  // debug_messages.cc
  Status show_message(std::string_view text);
  Status show_in_transit();
  Result<std::string> contents(EventId event, const causal::Transfer& transfer, bool outside, uint64_t most);

  // debug_objects.cc
  Status show_objects(std::string_view text);
  Status show_states(std::string_view text);
  bool is_done(const replay::Access& access, const causal::Cut& cut) const;
  std::set<ThreadId> held_up(const causal::Cut& cut) const;
  std::string state_word(ThreadId thread, const causal::Cut& cut, const std::set<ThreadId>& waiting) const;

  // debug_views.cc
  Status show_processes();
  Status show_events(std::string_view text);
  Status show_cut();
  std::vector<std::string> process_names() const;
  std::vector<std::string> program_names() const;
  std::vector<std::string> thread_names() const;
  shell::Completion complete_event(std::string_view text) const;

  // debug_waits.cc
  Status where();
  std::string wait_text(const debug::State& here, ThreadId thread) const;
  size_t not_begun_from(ProcessId process) const;

  debug::World world_;
  shell::Interrupt& interrupt_;
  uint64_t heard_ = 0;  ///< of the interrupts
  WaitingLine waiting_;
  std::unique_ptr<debug::Engine> engine_;
  std::unique_ptr<debug::Seats> seats_, askers_;  ///< the user's; those that find out what things are called
  std::unique_ptr<debug::Images> images_;
  std::unique_ptr<debug::Breakpoints> breakpoints_;
  std::unique_ptr<debug::Watches> watches_;
  std::unique_ptr<debug::Whereabouts> whereabouts_;
  std::unique_ptr<debug::Ends> ends_;
  std::map<int, SetPredicate> predicates_;
  int primary_ = 0;
  std::vector<HeldState> states_;  ///< of the predicate that was stopped at last
  debug::TermCodes codes_;
  ThreadId focus_{ProcessId(1), 1};
  struct Visited {
    debug::State state;
    ThreadId focus;
  };
  /// What was last run to.
  struct Demanded {
    causal::Cut cut;
    std::vector<causal::Node> targets;
    std::optional<debug::ObjectAccess> access;  ///< if it was one
  };
  std::optional<Demanded> demanded_;
  std::set<ThreadId> stopped_;  ///< at breakpoints, in the last motion
  std::optional<std::vector<replay::ObjectHistory>> histories_;
  std::vector<Visited> visited_;
  size_t here_ = 0;  ///< in visited_
  bool warned_ = false;
  bool pending_ = false;     ///< breakpoints are set even if nothing has their location
  bool acting_ = false;      ///< actions are being done
  shell::Lines actions_;  ///< of the breakpoint that was stopped at, not done yet
};

}  // namespace pastcone::cli
