#include "pastcone/shell/session.h"

#include <charconv>
#include <cstdio>

#include "pastcone/base/files.h"

namespace pastcone::shell {
namespace {

constexpr int kDeepest = 32;       // files in files; one that names itself must not go on for ever
constexpr int kInterrupted = 130;  // as shells say it: 128 + SIGINT

const CommandText kSource = {
    .name = "source",
    .group = "The session",
    .summary = "Do the commands of a file.",
    .usage = "source FILE",
    .example = "(p2:1041) source checks.pc",
    .text =
        "Empty lines and lines that begin with # are left out. The first command that fails ends it, and is "
        "named with\n"
        "its line. The option -x does the same at the start.",
};

const CommandText kQuit = {
    .name = "quit",
    .aliases = "q exit",
    .group = "The session",
    .summary = "End the session.",
    .usage = "quit [STATUS]",
    .example = "(p2:1041) quit",
    .text =
        "So does Ctrl-D. Nothing is left running. STATUS, from 0 to 255, is the exit status of pastcone. "
        "Without it that is 0,\n"
        "or 1 if a command failed and commands did not come from a terminal.",
};

}  // namespace

Session::Session(Commands& commands, Interrupt& interrupt) : commands_(commands), interrupt_(interrupt) {
  commands_.add(
      kSource, [this](std::string_view file) { return source(file); }, file_completer());
  commands_.add(kQuit, [this](std::string_view arguments) { return quit_command(arguments); });
}

void Session::quit(std::optional<int> status) {
  ended_ = true;
  status_ = status;
}

Status Session::quit_command(std::string_view arguments) {
  if (arguments.empty()) {
    quit();
    return {};
  }
  unsigned status = 0;
  const char* end = arguments.data() + arguments.size();
  auto [stop, error] = std::from_chars(arguments.data(), end, status);
  if (error != std::errc() || stop != end || status > 255)
    return fail("quit takes a status from 0 to 255, not \"{}\".", arguments);
  quit(static_cast<int>(status));
  return {};
}

Status Session::source(std::string_view file) {
  if (file.empty()) return fail("source requires the name of a file.");
  if (depth_ == kDeepest)
    return fail("{} is the {}th file in a file; does one of them name itself?", file, kDeepest);
  std::string contents = TRY(read_file(Path(file)));
  ++depth_;
  Status status;
  for (const ScriptLine& line : script_lines(contents)) {
    status = commands_.run(line.text);
    std::fflush(stdout);
    if (!status) status = fail("{}:{}: {}", file, line.number, status.error().message);
    if (status && interrupt_.pending()) status = fail("{}:{}: Quit", file, line.number);
    if (!status || ended_) break;
  }
  --depth_;
  return status;
}

void Session::report(const Status& status) {
  std::fflush(stdout);
  if (status) return;
  failed_ = true;
  fmt::print(stderr, "{}\n", trim(status.error().message));
  std::fflush(stderr);
}

void Session::execute(std::string_view line) { report(commands_.run(line)); }

void Session::run_steps(const Script& script) {
  for (const Script::Step& step : script.steps) {
    report(step.kind == Script::Step::Kind::kFile ? source(step.text) : commands_.run(step.text));
    interrupted_ = interrupt_.pending();
    if (ended_ || interrupted_) return;
  }
}

void Session::run_lines(LineReader& reader) {
  while (!ended_ && !interrupted_ && interrupt_.ended_by() == 0) {
    Line line = reader.read();
    if (line.kind == Line::Kind::kEnd) return;
    if (line.kind == Line::Kind::kText) {
      bool again = reader.interactive() && trim(line.text).empty();
      if (again) line.text = repeated_;
      repeated_ = commands_.repeated(line.text);
      execute(line.text);
    }
    if (!reader.interactive()) interrupted_ = interrupt_.pending();
  }
}

int Session::status_at_end(bool watched) const {
  if (status_) return *status_;
  if (interrupted_) return kInterrupted;
  return failed_ && !watched ? 1 : 0;
}

int Session::run(const Script& script, LineReader& reader) {
  run_steps(script);
  bool watched = reader.interactive() && !script.batch;
  if (watched) interrupted_ = false;
  if (!script.batch && !ended_) run_lines(reader);
  std::fflush(stdout);
  return status_at_end(watched);
}

}  // namespace pastcone::shell
