// The lines typed in earlier sessions: a plain text file, a line each. Lines are appended as they are typed,
// so sessions at the same time keep both theirs, and one that is killed loses nothing. A history that cannot
// be read or written is none, without a word.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pastcone/base/files.h"

namespace pastcone::shell {

class HistoryFile {
 public:
  /// Lines that are loaded, and kept when the file has become long.
  static constexpr size_t kKept = 1000;

  /// An empty path: nothing is kept.
  explicit HistoryFile(Path path) : path_(std::move(path)) {}

  /// Oldest first. Shortens the file if it is twice as long as it should be.
  std::vector<std::string> load();
  void append(std::string_view line);

 private:
  Path path_;
};

/// Where the debugger's history is: debug_history in state_directory(); empty if there is no such place.
Path default_history();

}  // namespace pastcone::shell
