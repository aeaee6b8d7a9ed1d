// Lines typed on a terminal, edited by libedit: emacs keys, or what the user's ~/.editrc says.
//
// We read the characters ourselves, because Ctrl-C, a resized window and Ctrl-Z come while libedit waits in
// read(2).
#pragma once

#include <histedit.h>

#include <string>

#include "pastcone/shell/history.h"
#include "pastcone/shell/line_reader.h"
#include "pastcone/shell/prompt_signals.h"

namespace pastcone::shell {

class TerminalReader : public LineReader {
 public:
  /// stdin and stdout must be terminals. One at a time.
  TerminalReader(ReaderOptions options, Interrupt& interrupt);
  ~TerminalReader() override;
  Line read() override;
  bool interactive() const override { return true; }

 private:
  static TerminalReader& of(EditLine* editor);
  void bind_keys();
  void remember(const std::string& line);

  /// What libedit calls: 1 for a character, 0 at the end, -1 if there is none for another reason.
  int next_character(wchar_t& character);
  /// False if reading is over.
  bool on_signal(int signal);
  /// Prints prompt and line again, in the row where the cursor is.
  void show_again();
  unsigned char complete();

  ReaderOptions options_;
  Interrupt& interrupt_;
  HistoryFile history_file_;
  EditLine* editor_;
  History* history_;
  std::string prompt_;
  PromptSignals* signals_ = nullptr;  // while reading
  bool interrupted_ = false;
  int ended_by_ = 0;  // the signal
};

}  // namespace pastcone::shell
