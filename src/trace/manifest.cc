#include "pastcone/trace/manifest.h"

#include <sys/stat.h>

#include <cerrno>
#include <ctime>
#include <nlohmann/json.hpp>

#include "pastcone/trace/file_names.h"
#include "pastcone/trace/format.h"
#include "pastcone/trace/json.h"

namespace pastcone {
namespace {

constexpr char kFormat[] = "pastcone recording";
constexpr uint64_t kMaxManifest = 8 << 20;  // a command line may have 2 MB

std::optional<Manifest::State> parse_state(std::string_view text) {
  for (auto state : {Manifest::State::kRecording, Manifest::State::kComplete, Manifest::State::kIncomplete}) {
    if (to_string(state) == text) return state;
  }
  return std::nullopt;
}

}  // namespace

std::string_view to_string(Manifest::State state) {
  switch (state) {
    case Manifest::State::kRecording:
      return "recording";
    case Manifest::State::kComplete:
      return "complete";
    case Manifest::State::kIncomplete:
      return "incomplete";
  }
  return "?";
}

std::string format_time(int64_t unix_ns) {
  int64_t ns = unix_ns % 1'000'000'000;
  time_t seconds = unix_ns / 1'000'000'000;
  if (ns < 0) ns += 1'000'000'000, --seconds;
  tm parts{};
  char text[64];
  if (gmtime_r(&seconds, &parts) == nullptr ||
      strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts) == 0) {
    return "?";
  }
  return fmt::format("{}.{:09}Z", text, ns);
}

Result<std::string> read_bounded_file(const Path& path, uint64_t limit) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return fail("cannot read {}: {}", path.native(), errno_message(errno));
  if (!S_ISREG(info.st_mode)) return fail("cannot read {}: not a regular file", path.native());
  if (static_cast<uint64_t>(info.st_size) > limit)
    return fail("cannot read {}: too large to be ours", path.native());
  return read_file(path);
}

Result<Manifest> Manifest::parse(std::string_view text) {
  nlohmann::json json = parse_json(text);
  if (!json.is_object()) return fail("its manifest.json is damaged: not a JSON object");
  if (json_string(json, "format") != kFormat) {
    return fail("its manifest.json was not written by pastcone");
  }
  auto version = json_number<uint64_t>(json, "version");
  if (!version || *version != format::kVersion) {
    return fail("it has format {}, this pastcone reads format {}; use the pastcone that recorded it ({})",
                version.value_or(0), format::kVersion, printable(json_string(json, "pastcone")));
  }
  auto state = parse_state(json_string(json, "state"));
  if (!state) return fail("its manifest.json is damaged: no state");
  Manifest manifest;
  manifest.state = *state;
  manifest.id = json_string(json, "id");
  manifest.host = json_string(json, "host");
  manifest.kernel = json_string(json, "kernel");
  manifest.machine = json_string(json, "machine");
  manifest.cpu = json_strings(json, "cpu");
  manifest.command = json_strings(json, "command");
  manifest.cwd = json_string(json, "cwd");
  manifest.pastcone = json_string(json, "pastcone");
  manifest.started_ns = json_number<int64_t>(json, "started_ns").value_or(0);
  manifest.ended_ns = json_number<int64_t>(json, "ended_ns").value_or(0);
  manifest.why = json_string(json, "why");
  manifest.exit_status = json_number<int64_t>(json, "exit_status");
  manifest.pack_bytes = json_number<uint64_t>(json, "pack_bytes");
  manifest.processes = json_number<uint64_t>(json, "processes");
  manifest.stack_limit = json_number<uint64_t>(json, "stack_limit");
  manifest.parallel = json_string(json, "threads") == "parallel";
  manifest.open_files_limit = json_number<uint64_t>(json, "open_files_limit");
  return manifest;
}

Result<Manifest> Manifest::read(const Path& directory) {
  std::string text = TRY(read_bounded_file(directory / kManifestName, kMaxManifest));
  return parse(text);
}

std::string Manifest::to_json() const {
  nlohmann::ordered_json json;
  json["format"] = kFormat;
  json["version"] = format::kVersion;
  json["pastcone"] = pastcone;
  json["id"] = id;
  json["state"] = std::string(to_string(state));
  json["why"] = why.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(why);
  json["command"] = command;
  json["cwd"] = cwd;
  json["started"] = format_time(started_ns);
  json["started_ns"] = started_ns;
  json["ended"] = ended_ns == 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(format_time(ended_ns));
  json["ended_ns"] = ended_ns == 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(ended_ns);
  json["exit_status"] = exit_status ? nlohmann::ordered_json(*exit_status) : nlohmann::ordered_json();
  if (pack_bytes) json["pack_bytes"] = *pack_bytes;
  if (processes) json["processes"] = *processes;
  if (stack_limit) json["stack_limit"] = *stack_limit;
  json["threads"] = parallel ? "parallel" : "serial";
  if (open_files_limit) json["open_files_limit"] = *open_files_limit;
  json["host"] = host;
  json["kernel"] = kernel;
  json["machine"] = machine;
  json["cpu"] = cpu;
  return dump_json(json, 2) + "\n";
}

Status Manifest::write(const Path& directory) const {
  return write_file_atomic(directory / kManifestName, to_json());
}

}  // namespace pastcone
