// pastcone debug: the debugger.
#include <fcntl.h>
#include <unistd.h>

#include <memory>

#include "pastcone/base/own_directories.h"
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

constexpr int kInterrupted = 130;  // as shells say it

/// Those that are closed would be the next files that are opened, and be written to.
void open_standard_descriptors() {
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(fd, F_GETFD) < 0) (void)!open("/dev/null", O_RDWR);  // the lowest that is free
}

Result<int> debug_recording(const Options& options) {
  open_standard_descriptors();
  Path path = TRY(resolve_recording(options.rec));
  Recording recording = TRY(Recording::open(path));
  if (const auto& damage = recording.damage(); !damage.empty())
    return fail("cannot debug {}: it is damaged: {}", recording.directory().native(), damage.front());
  Path cache = TRY(cache_directory());
  TRY_STATUS(make_cache_directories(cache));  // nothing of what follows works without
  graph::OpenedGraph opened = TRY(open_whole_graph(recording));
  shell::Interrupt interrupt;
  Result<std::unique_ptr<DebugSession>> begun = DebugSession::begin(recording, opened.graph, interrupt);
  if (!begun && interrupt.pending()) return kInterrupted;
  std::unique_ptr<DebugSession> session = TRY(std::move(begun));
  shell::Commands commands;
  session->bind(commands);
  shell::Session loop(commands, interrupt);
  commands.set_after([&] { return session->do_actions(loop); });
  shell::ReaderOptions how;
  how.prompt = [&] { return loop.in_block() ? ">" : session->prompt(); };
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
