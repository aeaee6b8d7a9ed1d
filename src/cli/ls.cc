// pastcone ls: the recordings in the data directory, newest first.
#include <memory>
#include <nlohmann/json.hpp>

#include "pastcone/cli/program.h"
#include "pastcone/cli/recordings.h"
#include "pastcone/cli/text.h"
#include "pastcone/trace/json.h"

namespace pastcone::cli {
namespace {

/// How many processes: the manifest says it at the end; before that, what can be seen.
std::optional<uint64_t> process_count(const FoundRecording& found) {
  if (found.manifest->processes) return found.manifest->processes;
  auto recording = Recording::open(found.path, Check::kAsRead);
  if (!recording) return std::nullopt;
  return recording->process_count();
}

nlohmann::ordered_json to_json(const FoundRecording& found) {
  nlohmann::ordered_json json;
  json["name"] = found.name;
  json["path"] = found.path.native();
  json["bytes"] = recording_sizes(found.path).total();
  if (!found.manifest) {
    json["state"] = "unreadable";
    json["why"] = found.manifest.error().message;
    return json;
  }
  const Manifest& manifest = *found.manifest;
  json["state"] = state_text(manifest, found.path);
  json["why"] = manifest.why;
  json["started"] = format_time(manifest.started_ns);
  json["started_ns"] = manifest.started_ns;
  json["duration_ns"] = duration_ns(manifest, found.path);
  auto processes = process_count(found);
  json["processes"] = processes ? nlohmann::ordered_json(*processes) : nlohmann::ordered_json();
  json["exit_status"] =
      manifest.exit_status ? nlohmann::ordered_json(*manifest.exit_status) : nlohmann::ordered_json();
  json["host"] = manifest.host;
  json["command"] = manifest.command;
  return json;
}

void add_row(Table& table, const FoundRecording& found) {
  std::string size = size_text(recording_sizes(found.path).total());
  if (!found.manifest) {
    table.add(
        {printable(found.name), "", "unreadable", "", "", size, printable(found.manifest.error().message)});
    return;
  }
  const Manifest& manifest = *found.manifest;
  auto processes = process_count(found);
  table.add({printable(found.name), local_time_text(manifest.started_ns), state_text(manifest, found.path),
             duration_text(duration_ns(manifest, found.path)), processes ? count_text(*processes) : "?", size,
             command_text(manifest.command)});
}

Result<int> list(bool as_json) {
  std::vector<FoundRecording> found = TRY(find_recordings());
  if (as_json) {
    auto json = nlohmann::ordered_json::array();
    for (const FoundRecording& recording : found) json.push_back(to_json(recording));
    fmt::print("{}\n", dump_json(json, 2));
    return 0;
  }
  if (found.empty()) {
    Path directory = TRY(data_directory());
    fmt::print("no recordings in {}; make one: `pastcone record -- COMMAND`\n", directory.native());
    return 0;
  }
  using enum Table::Align;
  Table table({{"NAME", kLeft},
               {"WHEN", kLeft},
               {"STATE", kLeft},
               {"TIME", kRight},
               {"PROCESSES", kRight},
               {"SIZE", kRight},
               {"COMMAND", kLeft}});
  for (const FoundRecording& recording : found) add_row(table, recording);
  fmt::print("{}", table.text(terminal_width()));
  return 0;
}

}  // namespace

void add_ls(Program& program) {
  auto json = std::make_shared<bool>(false);
  CLI::App& ls = program.add("ls", "what was recorded, newest first", [json] { return list(*json); });
  ls.add_flag("--json", *json, "for programs");
}

}  // namespace pastcone::cli
