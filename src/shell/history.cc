#include "pastcone/shell/history.h"

#include <fcntl.h>

#include <utility>

namespace pastcone::shell {

std::vector<std::string> HistoryFile::load() {
  std::vector<std::string> lines;
  if (path_.empty()) return lines;
  Result<std::string> text = read_file(path_);
  if (!text) return lines;
  for (size_t at = 0; at < text->size();) {
    size_t end = std::min(text->find('\n', at), text->size());
    if (end > at) lines.push_back(text->substr(at, end - at));
    at = end + 1;
  }
  if (lines.size() <= kKept) return lines;
  bool shorten = lines.size() > 2 * kKept;
  lines.erase(lines.begin(), lines.end() - kKept);
  if (shorten) {
    std::string kept;
    for (const std::string& line : lines) kept += line + "\n";
    (void)write_file_atomic(path_, kept);
  }
  return lines;
}

void HistoryFile::append(std::string_view line) {
  if (path_.empty() || !make_directories(path_.parent_path())) return;
  Result<UniqueFd> file = open_file(path_, O_WRONLY | O_CREAT | O_APPEND);
  if (!file) return;
  std::string text = std::string(line) + "\n";  // in one write, so that lines of two sessions do not mix
  (void)write_all(file->get(), as_bytes(text), path_);
}

Path default_history() {
  Result<Path> directory = state_directory();
  return directory ? *directory / "debug_history" : Path();
}

}  // namespace pastcone::shell
