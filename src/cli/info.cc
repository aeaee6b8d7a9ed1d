// pastcone info: one recording in figures.
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "pastcone/causal/on_the_fly.h"
#include "pastcone/cli/graph_facts.h"
#include "pastcone/cli/program.h"
#include "pastcone/cli/recordings.h"
#include "pastcone/cli/statistics.h"
#include "pastcone/cli/text.h"
#include "pastcone/replay/indexing.h"
#include "pastcone/trace/json.h"

namespace pastcone::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string rec;
  bool json = false, races = false;
};

/// All that is shown, in either way.
struct Info {
  const Recording& recording;
  const Manifest& manifest;
  std::string state;
  int64_t duration;
  RecordingSizes sizes;
  Statistics statistics;
  uint64_t kept_files = 0, kept_bytes = 0;
  std::optional<std::vector<replay::ObjectHistory>> objects;  ///< if `show obj` has been here
  std::optional<causal::Reduction> races;                     ///< if they were asked for

  explicit Info(const Recording& opened)
      : recording(opened),
        manifest(opened.manifest()),
        state(state_text(manifest, opened.directory())),
        duration(duration_ns(manifest, opened.directory())),
        sizes(recording_sizes(opened.directory())),
        statistics(Statistics::read(opened)),
        objects(replay::known_objects(opened)) {
    for (const auto& [id, entry] : opened.files().entries()) {
      if (!entry.kept) continue;
      ++kept_files;
      kept_bytes += entry.size;
    }
  }
};

std::string name_of(const Recording& recording) {
  Path path = recording.directory();
  if (!path.has_filename()) path = path.parent_path();  // "dir/"
  return path.filename().native();
}

Json stream_json(StreamBytes bytes) {
  return {{"raw", bytes.raw}, {"packed", bytes.packed}, {"live", bytes.live}};
}

/// Places in the list of objects, those that were used most first.
std::vector<size_t> busiest(const std::vector<replay::ObjectHistory>& objects) {
  constexpr size_t kMost = 10;
  std::vector<size_t> order(objects.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, std::greater(), [&](size_t i) { return objects[i].accesses.size(); });
  order.resize(std::min(order.size(), kMost));
  return order;
}

Json objects_json(const std::vector<replay::ObjectHistory>& objects) {
  Json json = Json::array();
  for (size_t i : busiest(objects)) {
    const replay::ObjectHistory& object = objects[i];
    json.push_back({{"object", i + 1},
                    {"name", object.name.empty() ? Json() : Json(object.name)},
                    {"kind", replay::kind_name(object.kind)},
                    {"accesses", object.accesses.size()},
                    {"hand_overs", object.hand_overs()},
                    {"threads", object.threads()}});
  }
  return {{"count", objects.size()}, {"busiest", json}};
}

void print_objects(const std::vector<replay::ObjectHistory>& objects) {
  if (objects.empty()) return;
  Table table({{"ACCESSES", Table::Align::kRight},
               {"HAND-OVERS", Table::Align::kRight},
               {"THREADS", Table::Align::kRight},
               {"OBJECT", Table::Align::kLeft}});
  for (size_t i : busiest(objects)) {
    const replay::ObjectHistory& object = objects[i];
    table.add({count_text(object.accesses.size()), count_text(object.hand_overs()),
               count_text(object.threads()),
               fmt::format("{} {}{}", i + 1, replay::kind_name(object.kind),
                           object.name.empty() ? "" : " " + printable(object.name))});
  }
  fmt::print("\n{}, the busiest:\n{}", plural(objects.size(), "object", "objects"),
             table.text(terminal_width()));
}

Json races_json(const causal::Reduction& races) {
  return {{"receives", races.receives},
          {"raced", races.raced},
          {"traced", races.exact},
          {"traced_on_the_fly", races.on_the_fly}};
}

std::string races_text(const causal::Reduction& races) {
  return fmt::format("{} of {} could have taken another message; to keep in order: {} (told on the fly: {})",
                     count_text(races.raced), plural(races.receives, "receive", "receives"),
                     count_text(races.exact), count_text(races.on_the_fly));
}

Json to_json(const Info& info) {
  const Manifest& manifest = info.manifest;
  const Statistics& statistics = info.statistics;
  Json json;
  json["name"] = name_of(info.recording);
  json["path"] = info.recording.directory().native();
  json["id"] = manifest.id;
  json["state"] = info.state;
  json["why"] = manifest.why;
  json["command"] = manifest.command;
  json["cwd"] = manifest.cwd;
  json["started"] = format_time(manifest.started_ns);
  json["started_ns"] = manifest.started_ns;
  json["duration_ns"] = info.duration;
  json["exit_status"] = manifest.exit_status ? Json(*manifest.exit_status) : Json();
  json["host"] = manifest.host;
  json["kernel"] = manifest.kernel;
  json["machine"] = manifest.machine;
  json["pastcone"] = manifest.pastcone;
  json["bytes"] = {{"total", info.sizes.total()},
                   {"pack", info.sizes.pack},
                   {"live", info.sizes.live},
                   {"files", info.sizes.files}};
  json["processes"] = statistics.processes;
  json["threads"] = statistics.threads;
  json["events"] = statistics.events;
  json["kinds"] = Json::object();
  for (const KindCount& count : statistics.kinds) json["kinds"][count.kind] = count.events;
  json["streams"] = {{"events", stream_json(info.recording.stream_bytes(format::Stream::kEvents))},
                     {"data", stream_json(info.recording.stream_bytes(format::Stream::kData))},
                     {"locks", stream_json(info.recording.stream_bytes(format::Stream::kLocks))}};
  json["channels"] = {
      {"count", statistics.channels}, {"sent", statistics.sent}, {"received", statistics.received}};
  json["output_writes"] = statistics.output;
  json["files"] = {{"known", info.recording.files().entries().size()},
                   {"kept", info.kept_files},
                   {"kept_bytes", info.kept_bytes}};
  json["objects"] = info.objects ? objects_json(*info.objects) : Json();
  json["races"] = info.races ? races_json(*info.races) : Json();
  json["damage"] = info.recording.damage();
  for (const std::string& damage : statistics.damage) json["damage"].push_back(damage);
  return json;
}

void print_stream(const char* name, StreamBytes bytes, uint64_t events) {
  std::string text = size_text(bytes.raw);
  if (bytes.packed > 0) text += fmt::format(", packed {}", size_text(bytes.packed));
  if (bytes.live > 0) text += fmt::format(", {} not packed yet", size_text(bytes.live));
  if (events > 0 && bytes.live == 0) {
    text += fmt::format("; {:.2f} bytes an event",
                        static_cast<double>(bytes.packed) / static_cast<double>(events));
  }
  fmt::print("{:<11} {}\n", name, text);
}

void print(const Info& info) {
  const Manifest& manifest = info.manifest;
  const Statistics& statistics = info.statistics;
  auto row = [](const char* name, const std::string& text) { fmt::print("{:<11} {}\n", name, text); };
  row("recording", fmt::format("{}  ({})", printable(name_of(info.recording)),
                               printable(info.recording.directory().native())));
  row("command", command_text(manifest.command));
  row("in", printable(manifest.cwd));
  row("when", fmt::format("{}, for {}", local_time_text(manifest.started_ns), duration_text(info.duration)));
  row("host", printable(fmt::format("{}, {}, {}", manifest.host, manifest.kernel, manifest.machine)));
  std::string state = info.state;
  if (!manifest.why.empty()) state += ": " + printable(manifest.why);
  if (manifest.exit_status) state += fmt::format(", exit {}", *manifest.exit_status);
  row("state", state);
  row("size",
      fmt::format("{}: trace {}, live {}, files {}", size_text(info.sizes.total()),
                  size_text(info.sizes.pack), size_text(info.sizes.live), size_text(info.sizes.files)));
  row("processes", fmt::format("{}, {}", count_text(statistics.processes),
                               plural(statistics.threads, "thread", "threads")));
  row("channels", fmt::format("{}: {} sent, {} received, not stored", count_text(statistics.channels),
                              size_text(statistics.sent), size_text(statistics.received)));
  if (info.races) row("races", races_text(*info.races));
  row("files", fmt::format("{}, {} kept ({})", count_text(info.recording.files().entries().size()),
                           count_text(info.kept_files), size_text(info.kept_bytes)));
  print_stream("events", info.recording.stream_bytes(format::Stream::kEvents), statistics.events);
  print_stream("data", info.recording.stream_bytes(format::Stream::kData), 0);
  if (info.recording.manifest().parallel) {
    print_stream("locks", info.recording.stream_bytes(format::Stream::kLocks), 0);
    if (!info.objects) row("objects", "not looked at yet; pastcone show obj does");
  }
  fmt::print("\n{:>14}  events\n", count_text(statistics.events));
  for (const KindCount& count : statistics.kinds)
    fmt::print("{:>14}  {}\n", count_text(count.events), count.kind);
  if (info.objects) print_objects(*info.objects);
}

Result<int> show_info(const Options& options) {
  Recording recording = TRY(open_recording(options.rec));
  Info info(recording);
  if (options.races) {
    graph::OpenedGraph opened = TRY(open_whole_graph(recording));
    info.races = causal::reduction(opened.graph, causal::Races::find(opened.graph));
  }
  if (options.json) {
    fmt::print("{}\n", dump_json(to_json(info), 2));
  } else {
    print(info);
  }
  bool sound = recording.damage().empty() && info.statistics.damage.empty();
  if (recording.damage().empty() && !sound) print_error(info.statistics.damage.front());
  return sound ? 0 : 1;
}

}  // namespace

void add_info(Program& program) {
  auto options = std::make_shared<Options>();
  CLI::App& info = program.add("info", "a recording in figures", [options] { return show_info(*options); });
  info.add_option("REC", options->rec, "name or directory of a recording; left out, the newest");
  info.add_flag("--races", options->races,
                "how many receives could have taken another message; takes longer");
  info.add_flag("--json", options->json, "for programs");
}

}  // namespace pastcone::cli
