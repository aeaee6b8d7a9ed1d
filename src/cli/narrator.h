// Tells a story on stdout: text, then what a command really prints. On a terminal it waits so long that one
// can read along; Enter goes on at once. Elsewhere it does not wait.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "pastcone/base/result.h"
#include "pastcone/shell/interrupt.h"

namespace pastcone::cli {

class Narrator {
 public:
  explicit Narrator(const shell::Interrupt& interrupt);

  bool terminal() const { return terminal_; }

  /// Text of the story, wrapped where the terminal ends; an empty line comes behind it.
  void say(std::string_view text);
  /// A line as somebody would have typed it behind the prompt.
  void type(std::string_view prompt, std::string_view command);
  /// What a program or a command has printed.
  void show(std::string_view output);
  /// Waits until what was told since the last time is read.
  void let_read();

 private:
  const shell::Interrupt& interrupt_;
  bool terminal_;
  bool bold_;
  size_t told_ = 0;  ///< characters that nobody has had time to read yet
};

/// The text with its lines filled up to so many columns; 0: as it is. Lines that begin with a blank stay.
std::string filled(std::string_view text, size_t width);

/// What `act` writes to stdout, as this process's and as a file descriptor's. Nothing else may write there
/// meanwhile.
Result<std::string> capture_output(const std::function<void()>& act);

}  // namespace pastcone::cli
