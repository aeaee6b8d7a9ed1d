// pastcone export: a recording for tools that people already use.
#include <cerrno>
#include <cstdio>
#include <memory>

#include "pastcone/cli/graph_facts.h"
#include "pastcone/cli/program.h"
#include "pastcone/cli/recordings.h"
#include "pastcone/cli/selection.h"
#include "pastcone/cli/where.h"
#include "pastcone/exports/dot.h"
#include "pastcone/exports/p3.h"
#include "pastcone/exports/perfetto.h"
#include "pastcone/exports/shiviz.h"
#include "pastcone/graph/open_graph.h"

namespace pastcone::cli {
namespace {

struct Options {
  std::vector<std::string> what;  ///< [REC] [pN | pN.T]…
  std::string format, file;
  bool linked = false, on_the_fly = false, where = false;
};

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

Status write(const exports::Subject& subject, const Options& options, std::FILE* file) {
  exports::Out out(file);
  if (options.format == "perfetto") return exports::write_perfetto(subject, out);
  if (options.format == "shiviz") return exports::write_shiviz(subject, out);
  if (options.format == "p3") return exports::write_p3(subject, options.on_the_fly, out);
  return exports::write_dot(subject, options.linked, out);
}

/// A file that could not be finished is not left behind.
Status write_file(const exports::Subject& subject, const Options& options) {
  File file(std::fopen(options.file.c_str(), "we"));
  if (file == nullptr) return fail("cannot write {}: {}", options.file, errno_message(errno));
  Status status = write(subject, options, file.get());
  if (std::fclose(file.release()) != 0 && status)
    status = fail("cannot write {}: {}", options.file, errno_message(errno));
  if (!status) std::remove(options.file.c_str());
  return status;
}

const char* advice(const std::string& format) {
  if (format == "perfetto") return "open it at https://ui.perfetto.dev";
  if (format == "shiviz") return "open it at https://bestchai.bitbucket.io/shiviz";
  if (format == "p3") return "the messages that race, tabs between columns";
  return "draw it by: dot -Tsvg -O";
}

Result<int> export_recording(const Options& options) {
  auto [rec, selection] = TRY(parse_selection(options.what));
  Recording recording = TRY(open_recording(rec));
  TRY_STATUS(selection.check(recording));
  graph::OpenedGraph opened = TRY(open_whole_graph(recording, options.where));
  const causal::Graph& graph = opened.graph;
  Where where = options.where ? Where::find(recording) : Where();
  exports::Subject subject{recording, graph, {}};
  if (where) subject.where = [&](EventId event) -> const std::string& { return where.text(event); };
  for (uint32_t thread = 0; thread < graph.real_threads; ++thread) {
    subject.wanted.push_back(selection.contains(graph.thread_id(thread)));
  }
  if (options.file.empty()) {
    TRY_STATUS(write(subject, options, stdout));
    return 0;
  }
  TRY_STATUS(write_file(subject, options));
  fmt::print("{}: {}{}{}\n", options.file, advice(options.format), options.format == "dot" ? " " : "",
             options.format == "dot" ? options.file : "");
  return 0;
}

}  // namespace

void add_export(Program& program) {
  auto options = std::make_shared<Options>();
  CLI::App& command =
      program.add("export", "a recording for other tools: Perfetto, ShiViz, graphviz, racing messages",
                  [options] { return export_recording(*options); });
  command.add_option(
      "WHAT", options->what,
      "[REC] [pN | pN.T]…: a recording (left out, the newest), and the processes or threads (left out, all)");
  command
      .add_option("--format", options->format,
                  "perfetto, shiviz, dot, or p3: what tracing only messages that race would keep")
      ->required()
      ->check(CLI::IsMember({"perfetto", "shiviz", "dot", "p3"}));
  command.add_option("-o", options->file, "the file to write; left out, stdout");
  command.add_flag("--linked", options->linked, "dot: only events that have an arrow");
  command.add_flag("--where", options->where,
                   "perfetto, shiviz, dot: and where in the program events are, which may take a replay");
  command.add_flag("--on-the-fly", options->on_the_fly,
                   "p3: by the test that a process can do as it runs, which finds more than those that race");
  command.footer(
      "p3 has a line for each record, tabs between columns: file (TF and a receiver's number, CTF and a "
      "sender's),\n"
      "SPN SESN (sender, number of the send), RPN RESN (receiver, number of the receive; RPN -1: nobody "
      "received\n"
      "it), send, receive (which events these are). Threads are numbered from 0 in the order of `pastcone "
      "ps`,\n"
      "sends and receives from 1 in each thread.");
}

}  // namespace pastcone::cli
