// A session: does the commands of a script, then those of a reader, until there are no more or one says
// `quit`.
//
// A command that fails is one line on stderr, as in gdb, and the session goes on with the next. Only in a
// file the rest is left out. stdout is flushed before that line and after each command, so both may go into
// one pipe.
//
// Ctrl-C ends the command that runs, if it looks at the Interrupt, and what is left of files and -ex. Then a
// person gets the prompt; without one the session is over, with status 130.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "pastcone/shell/commands.h"
#include "pastcone/shell/interpreter.h"
#include "pastcone/shell/interrupt.h"
#include "pastcone/shell/line_reader.h"
#include "pastcone/shell/script.h"

namespace pastcone::shell {

class Session {
 public:
  /// Adds the commands `source` and `quit`. Both must outlive the session.
  Session(Commands& commands, Interrupt& interrupt);

  /// All of it. The exit status: what `quit N` said; else 1 if a command failed and nobody sat there to see
  /// it; else 0.
  int run(const Script& script, LineReader& reader);

  /// The session ends when the present command is done. Without a status: as if there were no more commands.
  void quit(std::optional<int> status = std::nullopt);

  /// Does the lines of somebody, as if they stood in a file.
  Status run(const Lines& lines, const std::function<bool()>& enough = {}) { return interpreter_.run(lines, enough); }
  /// A command goes on over several lines, and more of them are read.
  bool in_block() const { return in_block_; }

 private:
  Status quit_command(std::string_view arguments);
  /// The commands of a file, up to the first that fails.
  Status source(std::string_view file);
  void run_steps(const Script& script);
  void run_lines(LineReader& reader);
  /// Runs one, with the lines that belong to it, and what is to be done after it.
  Status execute(std::string_view line, const NextLine& more);
  NextLine lines_of(LineReader& reader);
  void report(const Status& status);
  int status_at_end(bool watched) const;

  Commands& commands_;
  Interrupt& interrupt_;
  Interpreter interpreter_;
  bool in_block_ = false;
  bool ended_ = false;
  bool failed_ = false;
  bool interrupted_ = false;  // what is not interactive
  std::optional<int> status_;
  int depth_ = 0;         // of files in files
  std::string repeated_;  // what an empty line stands for
};

}  // namespace pastcone::shell
