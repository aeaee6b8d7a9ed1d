// What Tab offers.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace pastcone::shell {

/// What could stand instead of text[start, end), where `text` ends at the cursor.
struct Completion {
  size_t start = 0;
  std::vector<std::string> candidates;
};

/// `text` is what stands before the cursor: of the line, or of a command's arguments.
using Completer = std::function<Completion(std::string_view text)>;

/// Those of `words` that begin as the last word of `text` does; sorted, each once. Words are separated by
/// blanks and by `also`, for arguments like `p1:x`.
Completion complete_last_word(std::string_view text, const std::vector<std::string>& words,
                              std::string_view also = "");

/// A completer for arguments that are such words, asked for anew each time.
Completer word_completer(std::function<std::vector<std::string>()> words, std::string_view also = "");

/// A completer for the name of a file, as the last word.
Completer file_completer();

/// What all candidates begin with.
std::string common_prefix(const std::vector<std::string>& candidates);

/// The candidates in columns, as `ls` shows them, for a terminal of that width; of very many only the first
/// ones and how many more there are.
std::string columns_text(const std::vector<std::string>& candidates, size_t width);

}  // namespace pastcone::shell
