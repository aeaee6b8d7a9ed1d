#include "pastcone/cli/debug_arguments.h"

#include <algorithm>
#include <charconv>

#include "pastcone/shell/commands.h"

namespace pastcone::cli {
namespace {

constexpr std::string_view kBlanks = " \t";

/// Where the word begins that says that a condition follows: "work if n", "work if(n)", "if n".
size_t find_if(std::string_view text) {
  for (size_t at = text.find("if"); at != std::string_view::npos; at = text.find("if", at + 1)) {
    bool begins = at == 0 || kBlanks.find(text[at - 1]) != std::string_view::npos;
    bool ends =
        at + 2 < text.size() && (text[at + 2] == '(' || kBlanks.find(text[at + 2]) != std::string_view::npos);
    if (begins && ends) return at;
  }
  return std::string_view::npos;
}

Result<int> parse_number(std::string_view text, const NumberOf& number_of) {
  if (text.starts_with('$')) return number_of(text);
  int number = 0;
  const char* end = text.data() + text.size();
  auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr == text.data())
    return fail("Bad breakpoint argument: '{}'", text);
  if (parsed.ptr != end && *parsed.ptr == '.')
    return fail("the places of a breakpoint have no numbers of their own here; say {} for all of them",
                number);
  if (parsed.ptr != end) return fail("Bad breakpoint argument: '{}'", text);
  return number;
}

}  // namespace

PointPlace split_place(std::string_view text) {
  PointPlace place;
  size_t at = find_if(text);
  if (at != std::string_view::npos) place.condition = std::string(shell::trim(text.substr(at + 2)));
  std::string_view front = shell::trim(text.substr(0, at));
  size_t word = front.rfind("thread ");
  bool begins = word == 0 ||
                (word != std::string_view::npos && kBlanks.find(front[word - 1]) != std::string_view::npos);
  if (begins) {
    place.thread = std::string(shell::trim(front.substr(word + 7)));
    front = shell::trim(front.substr(0, word));
  }
  place.location = std::string(front);
  return place;
}

std::optional<int64_t> take_number(std::string_view& text) {
  int64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  bool whole = end == text.data() + text.size() || *end == ' ' || *end == '\t';
  if (error != std::errc() || !whole) return {};
  text = shell::trim(text.substr(static_cast<size_t>(end - text.data())));
  return number;
}

bool take_word(std::string_view& text, std::string_view word) {
  constexpr size_t kLeastLetters = 3;
  size_t end = std::min(text.find_first_of(kBlanks), text.size());
  if (end < kLeastLetters || !word.starts_with(text.substr(0, end))) return false;
  text = shell::trim(text.substr(end));
  return true;
}

Result<std::vector<int>> parse_numbers(std::string_view text, const NumberOf& number_of) {
  std::vector<int> numbers;
  for (std::string_view word : shell::words_of(text)) {
    size_t dash = word.find('-', 1);
    int first = TRY(parse_number(word.substr(0, dash), number_of));
    int last = dash == std::string_view::npos ? first : TRY(parse_number(word.substr(dash + 1), number_of));
    constexpr int kMost = 10'000;
    if (first < 0) return fail("negative value");
    if (last < first) return fail("inverted range");
    if (last - first > kMost) return fail("Bad breakpoint argument: '{}'", word);
    for (int number = first; number <= last; ++number) numbers.push_back(number);
  }
  return numbers;
}

Result<size_t> parse_count(std::string_view text, std::string_view example) {
  size_t count = 1;
  const char* end = text.data() + text.size();
  if (text.empty()) return count;
  if (auto [rest, error] = std::from_chars(text.data(), end, count); error != std::errc() || rest != end)
    return fail("'{}' is no number; for example: {}", text, example);
  return count;
}

std::function<Status(std::string_view)> without_argument(std::string command, std::function<Status()> action) {
  return [command = std::move(command), action = std::move(action)](std::string_view text) -> Status {
    if (!text.empty()) return fail("'{0}' takes no argument, not '{1}'; try: help {0}", command, text);
    return action();
  };
}

}  // namespace pastcone::cli
