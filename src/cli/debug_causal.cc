// Commands of `pastcone debug` along messages, and through the places that one has been to.
#include <algorithm>

#include "pastcone/cli/debug_arguments.h"
#include "pastcone/cli/debug_session.h"
#include "pastcone/debug/descriptors.h"
#include "pastcone/graph/steps.h"
#include "pastcone/cli/text.h"
#include "pastcone/shell/history.h"

namespace pastcone::cli {
namespace {

/// As gdb numbers them.
Status show_history() {
  constexpr size_t kShown = 10;
  std::vector<std::string> lines = shell::HistoryFile(shell::default_history()).load();
  for (size_t i = lines.size() - std::min(lines.size(), kShown); i < lines.size(); ++i)
    fmt::print("{:>5}  {}\n", i + 1, lines[i]);
  return {};
}

}  // namespace

void DebugSession::bind_causal(shell::Commands& commands) {
  commands.bind("follow", without_argument("follow", [this] { return follow(); }));
  commands.bind("cause", [this](std::string_view text) { return cause(text); });
  commands.bind("cause on fd", [this](std::string_view text) { return cause_on_fd(text); });
  commands.bind("show commands", [](std::string_view) { return show_history(); });
  commands.bind("back", [this](std::string_view text) { return revisit(text, true); });
  commands.bind("forward", [this](std::string_view text) { return revisit(text, false); });
}

uint32_t DebugSession::focus_index() const {
  auto index = world_.graph.find(focus_);
  return index ? *index : 0;
}

/// Says along which message, goes there, and shows the place.
Status DebugSession::go_along(const debug::Way& way, bool back) {
  ThreadId there = world_.graph.thread_id(way.focus.thread);
  {
    auto waits = wait_for(fmt::format("going {}to {}", back ? "back " : "", place_in(way.cut, there)), way.cut);
    TRY_STATUS(engine_->go_to({way.cut, {}}));
  }
  focus_ = world_.graph.thread_id(way.focus.thread);
  visit();
  fmt::print("{}\n", debug::describe(world_.graph, way.message));
  return show_place(focus_, "");
}

Status DebugSession::follow() {
  debug::State here = engine_->here();
  debug::Way way = TRY(debug::follow(world_.graph, here.cut, focus_index()));
  if (way.parts > 1) fmt::print("received in {} parts; this is the first\n", way.parts);
  return go_along(way, way.back);
}

Status DebugSession::go_back_to_cause(debug::CauseOptions options) {
  for (const auto& [id, process] : world_.processes.processes()) {
    for (const ProgramRun& program : process.programs) {
      uint32_t index = *world_.graph.find(program.event.thread());
      auto begins = static_cast<uint32_t>(graph::leaving(program.event.index()));
      options.programs.push_back(graph::find_step(world_.graph, index, begins));
    }
  }
  return go_along(TRY(debug::cause(world_.graph, engine_->here().cut, focus_index(), options)), true);
}

Status DebugSession::cause(std::string_view text) {
  debug::CauseOptions options;
  options.last = TRY(parse_count(text, "cause 2"));
  options.whole_process = !world_.recording.manifest().parallel;
  return go_back_to_cause(options);
}

Status DebugSession::cause_on_fd(std::string_view text) {
  size_t space = std::min(text.find(' '), text.size());
  if (text.empty()) return fail("which one? for example: cause on fd 7");
  debug::CauseOptions options;
  size_t fd = TRY(parse_count(text.substr(0, space), "cause on fd 7"));
  options.last = TRY(parse_count(shell::trim(text.substr(space)), "cause on fd 7 2"));
  options.whole_process = true;
  options.channels = {TRY(debug::incoming_channel(engine_->now(), focus_.process(), fd))};
  return go_back_to_cause(options);
}

Status DebugSession::revisit(std::string_view text, bool back) {
  size_t count = TRY(parse_count(text, back ? "back 2" : "forward 2"));
  if (count == 0)
    return fail("`{0} 0` is no place; `{0}` is the next one, `{0} 2` the one behind it", back ? "back" : "forward");
  size_t most = back ? here_ : visited_.size() - 1 - here_;
  if (count > most) {
    if (most == 0) return fail("this is the {} place", back ? "first" : "last");
    return fail("there {} {} {} here", most == 1 ? "is" : "are", plural(most, "place", "places"),
                back ? "before" : "behind");
  }
  size_t to = back ? here_ - count : here_ + count;
  {
    const Visited& there = visited_[to];
    auto waits = wait_for(fmt::format("going {} to {}", back ? "back" : "forward", place_in(there.state.cut, there.focus)),
                          there.state.cut);
    TRY_STATUS(engine_->go_to(there.state));
  }
  here_ = to;
  focus_ = visited_[to].focus;
  if (visited_[to].state.is_lost()) {
    fmt::print("where exactly it was interrupted is not known: this is the last place before that is\n");
    visited_[to].state = engine_->here();
  }
  return show_place(focus_, "");
}

}  // namespace pastcone::cli
