#include "pastcone/shell/completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace pastcone::shell {
namespace {

constexpr size_t kMostShown = 200;
constexpr size_t kGap = 2;

void sort_unique(std::vector<std::string>& words) {
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
}

/// Columns on the terminal: characters of UTF-8, not bytes.
size_t width_of(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

Completion complete_last_word(std::string_view text, const std::vector<std::string>& words,
                              std::string_view also) {
  std::string separators = " \t";
  separators += also;
  size_t before = text.find_last_of(separators);
  Completion completion;
  completion.start = before == std::string_view::npos ? 0 : before + 1;
  std::string_view typed = text.substr(completion.start);
  std::copy_if(words.begin(), words.end(), std::back_inserter(completion.candidates),
               [typed](const std::string& word) { return word.starts_with(typed); });
  sort_unique(completion.candidates);
  return completion;
}

Completer word_completer(std::function<std::vector<std::string>()> words, std::string_view also) {
  return [words = std::move(words), also = std::string(also)](std::string_view text) {
    return complete_last_word(text, words(), also);
  };
}

Completer file_completer() {
  return [](std::string_view text) {
    size_t blank = text.find_last_of(" \t");
    std::string_view typed = blank == std::string_view::npos ? text : text.substr(blank + 1);
    size_t slash = typed.rfind('/');
    std::string directory(slash == std::string_view::npos ? std::string_view() : typed.substr(0, slash + 1));
    std::vector<std::string> files;
    std::error_code error;
    std::filesystem::directory_iterator entry(directory.empty() ? "." : directory, error), end;
    for (; !error && entry != end; entry.increment(error)) {
      std::string name = directory + entry->path().filename().native();
      std::error_code ignored;
      files.push_back(entry->is_directory(ignored) ? name + "/" : name);
    }
    return complete_last_word(text, files);
  };
}

std::string common_prefix(const std::vector<std::string>& candidates) {
  if (candidates.empty()) return {};
  std::string prefix = candidates.front();
  for (const std::string& candidate : candidates) {
    auto [differs, ignored] = std::mismatch(prefix.begin(), prefix.end(), candidate.begin(), candidate.end());
    prefix.erase(differs, prefix.end());
  }
  // Not half a character.
  auto whole = [](const std::string& text, const std::string& of) {
    return text.size() == of.size() || (of[text.size()] & 0xc0) != 0x80;
  };
  while (!prefix.empty() && !whole(prefix, candidates.front())) prefix.pop_back();
  return prefix;
}

std::string columns_text(const std::vector<std::string>& candidates, size_t width) {
  size_t shown = std::min(candidates.size(), kMostShown);
  if (shown == 0) return {};
  size_t widest = 0;
  for (size_t i = 0; i < shown; ++i) widest = std::max(widest, width_of(candidates[i]));
  size_t columns = std::max<size_t>(1, (width + kGap) / (widest + kGap));
  size_t rows = (shown + columns - 1) / columns;
  std::string text;
  for (size_t row = 0; row < rows; ++row) {
    for (size_t i = row; i < shown; i += rows) {  // down the columns
      text += candidates[i];
      if (i + rows < shown) text.append(widest + kGap - width_of(candidates[i]), ' ');
    }
    text += '\n';
  }
  if (shown < candidates.size()) text += fmt::format("… and {} more\n", candidates.size() - shown);
  return text;
}

}  // namespace pastcone::shell
