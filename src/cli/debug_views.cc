// Commands of `pastcone debug` that show what the recording knows: ps, events, cut. And what Tab offers.
#include <algorithm>
#include <charconv>
#include <set>

#include "pastcone/cli/debug_session.h"
#include "pastcone/cli/event_text.h"
#include "pastcone/cli/graph_text.h"
#include "pastcone/cli/text.h"
#include "pastcone/graph/names.h"
#include "pastcone/graph/steps.h"
#include "pastcone/trace/event_reader.h"

namespace pastcone::cli {
namespace {

constexpr uint64_t kEventsShown = 10;

/// "p3", "p3.2" or "p3:7", and then a number.
struct EventsAsked {
  std::optional<EventId> event;
  std::optional<ThreadId> thread;
  uint64_t count = kEventsShown;
};

Result<EventsAsked> parse_events(std::string_view text) {
  EventsAsked asked;
  for (std::string_view word : shell::words_of(text)) {
    if (word.starts_with('p')) {
      if (word.find(':') != std::string_view::npos) {
        asked.event = TRY(EventId::parse(word));
        asked.thread = asked.event->thread();
      } else {
        asked.thread = TRY(ThreadId::parse(word));
      }
      continue;
    }
    auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), asked.count);
    if (error != std::errc() || rest != word.data() + word.size() || asked.count == 0)
      return fail("'{}' is no event and no number; try: events p2:10 5", word);
  }
  return asked;
}

}  // namespace

Status DebugSession::show_processes() {
  Table table({{"", Table::Align::kLeft},
               {"PROCESS", Table::Align::kLeft},
               {"PID", Table::Align::kRight},
               {"NOW", Table::Align::kLeft},
               {"EVENTS", Table::Align::kRight},
               {"END", Table::Align::kLeft},
               {"PROGRAM", Table::Align::kLeft}});
  for (const auto& [process, record] : world_.processes.processes()) {
    for (const ThreadRecord& thread : record.threads) {
      bool first = thread.id.number() == 1, begun = engine_->now().steps_done(thread.id) > 0;
      bool there = engine_->now().tid(thread.id) != 0;
      const ProgramRun* program = first ? world_.processes.program(process) : nullptr;
      table.add({thread.id == focus_ ? "*" : "", to_string(thread.id), std::to_string(first ? record.pid : thread.tid),
                 there ? event_text(thread.id) : begun ? "ended" : "not begun", count_text(thread.events),
                 pastcone::to_string(first ? record.end : thread.end),
                 program == nullptr ? "" : command_text(program->arguments.empty() ? std::vector{program->path} : program->arguments)});
    }
  }
  fmt::print("{}", table.text(terminal_width()));
  return {};
}

Status DebugSession::show_events(std::string_view text) {
  EventsAsked asked = TRY(parse_events(text));
  ThreadId thread = TRY(parse_thread(asked.thread ? to_string(*asked.thread) : ""));
  uint64_t last = graph::last_event(world_.graph, *world_.graph.find(thread));
  uint64_t now = engine_->now().events_done(thread);
  if (asked.event && asked.event->index() > last)
    return fail("there is no {}: the last event of {} is {}", *asked.event, thread, EventId(thread, last));
  uint64_t before = asked.count / 2;
  uint64_t from = asked.event ? std::max<uint64_t>(asked.event->index(), 1) : now > before ? now - before : 1;
  EventText texts(world_.recording.files());
  EventReader reader(world_.recording, thread);
  fmt::memory_buffer line;
  while (const Event* event = TRY(reader.next())) {
    uint64_t index = event->item.event;
    if (index >= from + asked.count) break;
    if (index < from) continue;
    line.clear();
    texts.line(thread, *event, reader, line);
    fmt::print("{} {}", index == now ? "*" : " ", std::string_view(line.data(), line.size()));
  }
  return {};
}

Status DebugSession::show_cut() {
  std::string command;
  causal::Cut here = engine_->here().cut;
  for (const replay::Standing& standing : engine_->now().live().standing()) {
    // Who waits there for others has entered it, whether or not it may go further.
    auto index = world_.graph.find(standing.last.thread());
    bool entered = standing.entered || (index && standing.last.index() != 0 &&
                                        graph::is_entering(world_.graph, {*index, here[*index]}));
    fmt::print("{}\n", place_text({standing.last, entered, standing.ended, standing.point}));
    if (standing.last.index() != 0) command += " " + to_string(standing.last);
  }
  if (!command.empty()) fmt::print("pastcone cut{}\n", command);
  return {};
}

std::vector<std::string> DebugSession::program_names() const {
  std::set<std::string> names;
  for (const auto& [process, record] : world_.processes.processes())
    for (const ProgramRun& program : record.programs) {
      names.insert(Path(program.path).filename().native());
      if (!program.arguments.empty()) names.insert(Path(program.arguments.front()).filename().native());
    }
  return {names.begin(), names.end()};
}

std::vector<std::string> DebugSession::process_names() const {
  std::vector<std::string> names;
  for (const auto& [process, record] : world_.processes.processes()) names.push_back(to_string(process));
  return names;
}

std::vector<std::string> DebugSession::thread_names() const {
  std::vector<std::string> names;
  for (const auto& [thread, streams] : world_.recording.threads()) names.push_back(to_string(thread));
  return names;
}

/// Threads, and behind one that is written out its events; of very many those around the present one.
shell::Completion DebugSession::complete_event(std::string_view text) const {
  if (!engine_->has_run()) return {};
  constexpr uint64_t kOffered = 200;
  size_t start = text.find_last_of(' ');
  start = start == std::string_view::npos ? 0 : start + 1;
  std::string_view word = text.substr(start);
  size_t colon = word.find(':');
  if (colon == std::string_view::npos) {
    shell::Completion threads = shell::complete_last_word(text, thread_names());
    for (std::string& each : threads.candidates) each += ":";
    return threads;
  }
  auto thread = ThreadId::parse(word.substr(0, colon));
  auto index = thread ? world_.graph.find(*thread) : tl::unexpected<Error>(thread.error());
  if (!index) return {};
  uint64_t last = graph::last_event(world_.graph, *index);
  uint64_t now = engine_->now().events_done(*thread);
  std::vector<std::string> names;
  for (uint64_t event = 1; event <= last && names.size() < kOffered; ++event) {
    std::string name = to_string(EventId(*thread, event));
    bool near = last <= kOffered || (event + kOffered / 4 >= now && event <= now + kOffered / 4) || event + 4 > last;
    if ((near || word.size() > colon + 1) && name.starts_with(word)) names.push_back(std::move(name));
  }
  return {start, names};
}

}  // namespace pastcone::cli
