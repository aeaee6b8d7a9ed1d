// Reads command lines: on a terminal with editing, history and completion (terminal_reader.h), else as they
// come, without a prompt and without an echo.
//
// A reader belongs to one thread.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "pastcone/base/files.h"
#include "pastcone/shell/completion.h"
#include "pastcone/shell/interrupt.h"

namespace pastcone::shell {

struct Line {
  enum class Kind {
    kText,
    kInterrupted,  // Ctrl-C: what had been typed is gone
    kEnd,          // Ctrl-D, the end of the file, or a terminal that is gone
  };
  Kind kind = Kind::kEnd;
  std::string text = {};
};

class LineReader {
 public:
  virtual ~LineReader() = default;
  /// Waits for a line. A Ctrl-C from before is forgotten.
  virtual Line read() = 0;
  /// Somebody sits there and types.
  virtual bool interactive() const = 0;
};

struct ReaderOptions {
  /// Asked before each line.
  std::function<std::string()> prompt;
  /// For Tab; gets the line up to the cursor. Must not print.
  Completer completer = {};
  /// Where lines are kept for the next session; see default_history(). Empty: nowhere.
  Path history = {};
};

/// Reads lines from `input` as they come. A prompt is shown (on stdout) if that is a terminal.
class PlainReader : public LineReader {
 public:
  PlainReader(int input, ReaderOptions options, Interrupt& interrupt);
  Line read() override;
  bool interactive() const override { return terminal_; }

 private:
  Line interrupted();

  int input_;
  ReaderOptions options_;
  Interrupt& interrupt_;
  bool terminal_;
  bool ended_ = false;
  std::string buffer_;
};

/// The reader for stdin: one that edits if stdin and stdout are a terminal that can.
std::unique_ptr<LineReader> open_line_reader(ReaderOptions options, Interrupt& interrupt);

}  // namespace pastcone::shell
