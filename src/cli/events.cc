// pastcone events: what the threads of a recording did, one line an event.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "pastcone/cli/event_text.h"
#include "pastcone/cli/kind_filter.h"
#include "pastcone/cli/program.h"
#include "pastcone/cli/recordings.h"
#include "pastcone/cli/selection.h"
#include "pastcone/cli/where.h"
#include "pastcone/trace/event_reader.h"
#include "pastcone/trace/json.h"

namespace pastcone::cli {
namespace {

struct Options {
  std::vector<std::string> what;  ///< [REC] [pN | pN.T]…
  uint64_t from = 1;
  uint64_t to = UINT64_MAX;
  std::vector<std::string> kinds;
  bool json = false, where = false;
};

/// Prints through a buffer: there may be many millions of lines.
class Output {
 public:
  ~Output() { flush(); }
  fmt::memory_buffer& buffer() {
    if (buffer_.size() > 60'000) flush();
    return buffer_;
  }
  void flush() {
    std::fwrite(buffer_.data(), 1, buffer_.size(), stdout);
    buffer_.clear();
  }
  bool failed() const { return std::ferror(stdout) != 0; }

 private:
  fmt::memory_buffer buffer_;
};

/// False if the thread is damaged: what is before that was printed.
bool print_thread(const Recording& recording, ThreadId thread, const Options& options,
                  const KindFilter& kinds, const Where& where, Output& output) {
  EventText text(recording.files());
  EventReader reader(recording, thread);
  while (!output.failed()) {
    auto next = reader.next();
    if (!next) {
      output.flush();
      print_error(next.error().message);
      return false;
    }
    const Event* event = *next;
    if (event == nullptr || event->item.event > options.to) return true;
    if (event->item.event < options.from || !kinds.matches(event->item)) continue;
    EventId id(thread, event->item.event);
    fmt::memory_buffer& buffer = output.buffer();
    if (options.json) {
      auto json = text.json(thread, *event, reader);
      if (where) json["location"] = where.json(id);
      fmt::format_to(std::back_inserter(buffer), "{}\n", dump_json(json));
    } else {
      text.line(thread, *event, reader, buffer);
      if (const std::string& place = where.text(id); !place.empty()) {
        buffer.resize(buffer.size() - 1);  // the end of the line
        fmt::format_to(std::back_inserter(buffer), "  at {}\n", place);
      }
    }
  }
  return true;
}

Result<int> show_events(const Options& options) {
  KindFilter kinds = TRY(KindFilter::parse(options.kinds));
  auto [rec, selection] = TRY(parse_selection(options.what));
  Recording recording = TRY(open_recording(rec));
  TRY_STATUS(selection.check(recording));
  Where where = options.where ? Where::find(recording) : Where();
  Output output;
  bool sound = recording.damage().empty();
  for (const auto& [thread, streams] : recording.threads()) {
    if (selection.contains(thread))
      sound = print_thread(recording, thread, options, kinds, where, output) && sound;
  }
  return sound ? 0 : 1;
}

}  // namespace

void add_events(Program& program) {
  auto options = std::make_shared<Options>();
  CLI::App& events = program.add("events", "what its threads did, one line an event",
                                 [options] { return show_events(*options); });
  events.add_option(
      "WHAT", options->what,
      "[REC] [pN | pN.T]…: a recording (left out, the newest), and the processes or threads (left out, all)");
  events.add_option("--from", options->from, "the first event of each thread to show");
  events.add_option("--to", options->to, "the last one");
  events
      .add_option("--kind", options->kinds,
                  "only these: a call's name, start, exec, exit_group, signal … or send, receive, file, "
                  "create, clock")
      ->allow_extra_args(false);
  events.add_flag("--where", options->where, "and where in the program that is, which may take a replay");
  events.add_flag("--json", options->json, "for programs: one JSON object a line");
}

}  // namespace pastcone::cli
