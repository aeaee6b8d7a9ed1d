// pastcone debug: the debugger.
#include <memory>

#include "pastcone/cli/debug_session.h"
#include "pastcone/cli/graph_facts.h"
#include "pastcone/cli/program.h"
#include "pastcone/cli/recordings.h"
#include "pastcone/shell/history.h"
#include "pastcone/shell/line_reader.h"
#include "pastcone/shell/script.h"
#include "pastcone/shell/session.h"

namespace pastcone::cli {
namespace {

struct Options {
  std::string rec;
  shell::Script script;
};

Result<int> debug_recording(const Options& options) {
  Recording recording = TRY(open_recording(options.rec));
  graph::OpenedGraph opened = TRY(open_whole_graph(recording));
  shell::Interrupt interrupt;
  std::unique_ptr<DebugSession> session = TRY(DebugSession::begin(recording, opened.graph, interrupt));
  shell::Commands commands;
  session->bind(commands);
  shell::Session loop(commands, interrupt);
  shell::ReaderOptions how;
  how.prompt = [&] { return session->prompt(); };
  how.completer = [&](std::string_view line) { return commands.complete(line); };
  how.history = shell::default_history();
  std::unique_ptr<shell::LineReader> reader = shell::open_line_reader(how, interrupt);
  return loop.run(options.script, *reader);
}

}  // namespace

void add_debug(Program& program) {
  auto options = std::make_shared<Options>();
  CLI::App& debug = program.add("debug", "looks at a recorded run in the debugger",
                                [options] { return debug_recording(*options); });
  debug.add_option("REC", options->rec, "a recording: its name or directory; the newest if left out");
  program.take_script(debug, options->script);
}

}  // namespace pastcone::cli
