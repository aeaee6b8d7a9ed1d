// pastcone ps: the processes of a recording, as a tree.
#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "pastcone/cli/end_json.h"
#include "pastcone/cli/program.h"
#include "pastcone/cli/recordings.h"
#include "pastcone/cli/text.h"
#include "pastcone/trace/json.h"
#include "pastcone/trace/processes.h"

namespace pastcone::cli {
namespace {

struct Options {
  std::string rec;
  bool json = false;
};

nlohmann::ordered_json parent_json(EventId parent) {
  return parent.valid() ? nlohmann::ordered_json(to_string(parent)) : nlohmann::ordered_json();
}

nlohmann::ordered_json to_json(const ProcessRecord& process, const std::string& host) {
  nlohmann::ordered_json json;
  json["process"] = to_string(process.id);
  json["pid"] = process.pid;
  json["host"] = host;
  json["parent"] = parent_json(process.parent);
  json["started"] = format_time(process.started_ns);
  json["started_ns"] = process.started_ns;
  json["events"] = process.events;
  json["end"] = end_json(process.end);
  json["programs"] = nlohmann::ordered_json::array();
  for (const ProgramRun& run : process.programs) {
    json["programs"].push_back({{"event", to_string(run.event)},
                                {"path", run.path},
                                {"name", run.name},
                                {"cwd", run.cwd},
                                {"arguments", run.arguments}});
  }
  json["threads"] = nlohmann::ordered_json::array();
  for (const ThreadRecord& thread : process.threads) {
    json["threads"].push_back({{"thread", to_string(thread.id)},
                               {"tid", thread.tid},
                               {"parent", parent_json(thread.parent)},
                               {"started_ns", thread.started_ns},
                               {"events", thread.events},
                               {"end", end_json(thread.end)}});
  }
  return json;
}

/// Prints processes below each other, children after their parents.
class Tree {
 public:
  Tree(const ProcessTable& processes, std::string host)
      : processes_(processes),
        host_(std::move(host)),
        table_({{"PROCESS", Table::Align::kLeft},
                {"PID", Table::Align::kRight},
                {"HOST", Table::Align::kLeft},
                {"THREADS", Table::Align::kRight},
                {"EVENTS", Table::Align::kRight},
                {"END", Table::Align::kLeft},
                {"PROGRAM", Table::Align::kLeft}}) {
    for (const auto& [id, process] : processes.processes()) {
      ProcessId parent = process.parent.process();
      // A parent was there before its child: what claims otherwise is shown as a root, so that this ends.
      bool known = parent.valid() && parent < id && processes.find(parent) != nullptr;
      children_[known ? parent : ProcessId()].push_back(id);
    }
  }

  std::string text(size_t width) {
    add_children(ProcessId(), "");
    return table_.text(width);
  }

 private:
  void add_children(ProcessId parent, const std::string& indent) {
    struct Level {
      const std::vector<ProcessId>* siblings;
      size_t next;
      std::string indent;
    };
    std::vector<Level> levels;  // not recursive: a chain of forks may be long
    if (children_.contains(parent)) levels.push_back({&children_[parent], 0, indent});
    while (!levels.empty()) {
      Level& level = levels.back();
      if (level.next == level.siblings->size()) {
        levels.pop_back();
        continue;
      }
      ProcessId id = (*level.siblings)[level.next++];
      bool last = level.next == level.siblings->size();
      bool root = levels.size() == 1;
      add(id, root ? "" : level.indent + (last ? "└ " : "├ "));
      std::string below = root ? "" : level.indent + (last ? "  " : "│ ");
      if (below.size() > kMaxIndent) below.resize(0);
      if (auto found = children_.find(id); found != children_.end())
        levels.push_back({&found->second, 0, below});
    }
  }

  void add(ProcessId id, const std::string& indent) {
    const ProcessRecord& process = *processes_.find(id);
    const ProgramRun* program = processes_.program(id);
    std::vector<std::string> arguments;
    if (program != nullptr)
      arguments = program->arguments.empty() ? std::vector{program->path} : program->arguments;
    table_.add({indent + to_string(id), std::to_string(process.pid), host_,
                count_text(process.threads.size()), count_text(process.events), to_string(process.end),
                program == nullptr ? "?" : command_text(arguments)});
  }

  static constexpr size_t kMaxIndent = 400;  ///< then the tree starts again at the left

  const ProcessTable& processes_;
  std::string host_;
  std::map<ProcessId, std::vector<ProcessId>> children_;
  Table table_;
};

Result<int> show_processes(const Options& options) {
  Recording recording = TRY(open_recording(options.rec));
  ProcessTable processes = ProcessTable::read(recording);
  const std::string& host = recording.manifest().host;
  if (options.json) {
    auto json = nlohmann::ordered_json::array();
    for (const auto& [id, process] : processes.processes()) json.push_back(to_json(process, host));
    fmt::print("{}\n", dump_json(json, 2));
  } else if (processes.processes().empty()) {
    fmt::print("no process was recorded{}\n", recording.complete() ? "" : " yet");
  } else {
    fmt::print("{}", Tree(processes, printable(host)).text(terminal_width()));
  }
  return recording.damage().empty() ? 0 : 1;
}

}  // namespace

void add_ps(Program& program) {
  auto options = std::make_shared<Options>();
  CLI::App& ps = program.add("ps", "the processes of a recording, as a tree",
                             [options] { return show_processes(*options); });
  ps.add_option("REC", options->rec, "name or directory of a recording; left out, the newest");
  ps.add_flag("--json", options->json, "for programs");
}

}  // namespace pastcone::cli
