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

const CommandText kDefine = {
    .name = "define",
    .group = "The session",
    .summary = "Make a command of your own.",
    .usage = "define NAME",
    .example = "(p2:1041) define both\n"
               ">print $arg0\n"
               ">where\n"
               ">end\n"
               "(p2:1041) both total",
    .text = "Its commands follow, one in a line, up to `end`: any there are. $arg0, $arg1 and so on stand for its "
            "arguments,\n"
            "$argc for how many there are.",
    .gdb = true,
};

const CommandText kDocument = {
    .name = "document",
    .group = "The session",
    .summary = "Say what `help` shows of a command of your own.",
    .usage = "document NAME",
    .example = "(p2:1041) document both\n"
               ">Print a value, and where all are.\n"
               ">end",
    .gdb = true,
};

const CommandText kIf = {
    .name = "if",
    .group = "The session",
    .summary = "Do commands if something holds in the process in focus.",
    .usage = "if EXPRESSION",
    .example = "(p2:1041) if total > 10\n"
               ">bt\n"
               ">else\n"
               ">continue\n"
               ">end",
    .gdb = true,
};

const CommandText kWhile = {
    .name = "while",
    .group = "The session",
    .summary = "Do commands as long as something holds in the process in focus.",
    .usage = "while EXPRESSION",
    .example = "(p2:1041) while total < 10\n"
               ">next\n"
               ">end",
    .text = "`loop_break` ends it, `loop_continue` begins it again.",
    .gdb = true,
};

}  // namespace

Session::Session(Commands& commands, Interrupt& interrupt)
    : commands_(commands), interrupt_(interrupt), interpreter_(commands, interrupt) {
  commands_.add(
      kSource, [this](std::string_view file) { return source(file); }, file_completer());
  for (const CommandText& text : {kDefine, kDocument, kIf, kWhile}) commands_.add(text);
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
  std::vector<ScriptLine> lines = script_lines(contents);
  for (size_t at = 0; at < lines.size(); ++at) {
    ScriptLine line = lines[at];
    if (line.text.empty()) continue;
    status = execute(line.text, [&]() -> std::optional<std::string> {
      return ++at < lines.size() ? std::optional(std::string(lines[at].text)) : std::nullopt;
    });
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

Status Session::execute(std::string_view line, const NextLine& more) {
  Status done = interpreter_.run(line, more);
  Status after = commands_.after();  // what a part of it has led to is not left for the next line
  return done ? after : done;
}

/// For a body: none at the end, or if Ctrl-C is typed.
NextLine Session::lines_of(LineReader& reader) {
  return [this, &reader]() -> std::optional<std::string> {
    in_block_ = true;
    Line line = reader.read();
    in_block_ = false;
    return line.kind == Line::Kind::kText ? std::optional(std::move(line.text)) : std::nullopt;
  };
}

void Session::run_steps(const Script& script) {
  for (const Script::Step& step : script.steps) {
    report(step.kind == Script::Step::Kind::kFile ? source(step.text) : execute(step.text, {}));
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
      report(execute(line.text, lines_of(reader)));
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
