#include "pastcone/shell/interpreter.h"

#include <algorithm>
#include <cctype>

namespace pastcone::shell {
namespace {

constexpr int kDeepest = 100;  // calls in calls; one that calls itself must not go on for ever

std::string_view head_of(std::string_view line) {
  line = trim(line);
  return line.substr(0, line.find_first_of(" \t"));
}

std::string_view behind_head(std::string_view line) {
  line = trim(line);
  return trim(line.substr(head_of(line).size()));
}

bool is_python(std::string_view head) { return head == "python" || head == "py"; }

/// Its lines are nobody's commands.
bool is_text(std::string_view line) { return is_python(head_of(line)) || head_of(line) == "document"; }

/// The line with the `end` of the block that begins at `begin`; `otherwise` gets that of its `else`.
size_t find_end(const Lines& lines, size_t begin, size_t end, size_t* otherwise = nullptr) {
  if (is_text(lines[begin])) {
    for (size_t at = begin + 1; at < end; ++at)
      if (trim(lines[at]) == "end") return at;
    return end;
  }
  for (size_t at = begin + 1; at < end; ++at) {
    std::string_view line = trim(lines[at]);
    if (line == "end") return at;
    if (line == "else" && otherwise != nullptr) *otherwise = at;
    if (Interpreter::opens(line)) at = find_end(lines, at, end);
  }
  return end;
}

/// $argc, $arg0, $arg1, …: as text, wherever they stand.
std::string with_arguments(std::string_view line, const std::vector<std::string_view>& arguments) {
  constexpr std::string_view kMark = "$arg";
  std::string text;
  for (size_t at; (at = line.find(kMark)) != std::string_view::npos;) {
    text += line.substr(0, at);
    line.remove_prefix(at + kMark.size());
    size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
    if (line.starts_with('c') && (line.size() == 1 || !std::isalnum(static_cast<unsigned char>(line[1])))) {
      text += std::to_string(arguments.size());
      line.remove_prefix(1);
    } else if (digits > 0 && digits < 4) {
      size_t number = static_cast<size_t>(std::stoi(std::string(line.substr(0, digits))));
      if (number < arguments.size()) text += arguments[number];
      line.remove_prefix(digits);
    } else {
      text += kMark;
    }
  }
  return text.append(line);
}

}  // namespace

bool Interpreter::opens(std::string_view line) {
  std::string_view head = head_of(line);
  if (is_python(head)) return behind_head(line).empty();
  return head == "define" || head == "document" || head == "commands" || head == "if" || head == "while";
}

Status Interpreter::run(std::string_view line, const NextLine& more) {
  Lines lines{std::string(line)};
  while (opens(lines[0]) && find_end(lines, 0, lines.size()) == lines.size()) {
    std::optional<std::string> next = more ? more() : std::nullopt;
    if (!next) return fail("\"{}\" needs lines after it, up to one that says end.", head_of(line));
    lines.push_back(std::move(*next));
  }
  return run(lines);
}

Status Interpreter::run(const Lines& lines, const std::function<bool()>& enough) {
  TRY(run_range(lines, 0, lines.size(), enough));
  return {};
}

Result<Interpreter::Flow> Interpreter::run_range(const Lines& lines, size_t begin, size_t end,
                                                 const std::function<bool()>& enough) {
  for (size_t at = begin; at < end; ++at) {
    std::string_view line = trim(lines[at]);
    if (line == "loop_break") return Flow::kBreak;
    if (line == "loop_continue") return Flow::kContinue;
    if (opens(line)) {
      size_t last = find_end(lines, at, end);
      if (last == end) return fail("\"{}\" has no end.", head_of(line));
      Flow flow = TRY(run_block(lines, at, last));
      if (flow != Flow::kOn) return flow;
      at = last;
    } else {
      TRY_STATUS(commands_.run(line));
      TRY_STATUS(commands_.after());
    }
    if (interrupt_.pending() && at + 1 < end) return fail("Quit");
    if (enough && enough()) return Flow::kOn;
  }
  return Flow::kOn;
}

/// `end` is the line that says so.
Result<Interpreter::Flow> Interpreter::run_block(const Lines& lines, size_t begin, size_t end) {
  std::string_view line = trim(lines[begin]), head = head_of(line), rest = behind_head(line);
  auto at = [&](size_t index) { return lines.begin() + static_cast<ptrdiff_t>(index); };
  if (head == "if") {
    size_t otherwise = end;
    find_end(lines, begin, end + 1, &otherwise);
    bool yes = TRY(holds(rest));
    return yes ? run_range(lines, begin + 1, otherwise, {})
               : run_range(lines, std::min(otherwise + 1, end), end, {});
  }
  if (head == "while") {
    while (TRY(holds(rest))) {
      Flow flow = TRY(run_range(lines, begin + 1, end, {}));
      if (interrupt_.pending()) return fail("Quit");
      if (flow == Flow::kBreak) break;
    }
    return Flow::kOn;
  }
  Lines body(at(begin + 1), at(end));
  if (head == "define") {
    TRY_STATUS(define(rest, std::move(body)));
  } else if (head == "document") {
    TRY_STATUS(document(rest, body));
  } else {
    TRY_STATUS(commands_.run_block(head, rest, body));
  }
  return Flow::kOn;
}

Result<bool> Interpreter::holds(std::string_view condition) const {
  if (condition.empty()) return fail("if and while need a condition.");
  return commands_.holds(condition);
}

Status Interpreter::define(std::string_view name, Lines body) {
  if (name.empty() || name.find_first_of(" \t") != std::string_view::npos)
    return fail("define needs one name, for example: define show_list");
  auto known = std::ranges::find(definitions_, name, &Definition::name);
  if (known != definitions_.end()) {
    known->body = std::move(body);
    return {};
  }
  if (auto other = commands_.find(name); other && *other != nullptr && (*other)->name == name)
    return fail("{} is a command already; choose another name.", name);
  definitions_.push_back({std::string(name), {}, std::move(body)});
  const Definition& made = definitions_.back();
  commands_.add(
      {.name = made.name, .group = "Defined by the user", .summary = "User-defined.", .usage = made.name},
      [this, &made](std::string_view arguments) { return call(made, arguments); });
  return {};
}

Status Interpreter::document(std::string_view name, const Lines& body) {
  auto known = std::ranges::find(definitions_, name, &Definition::name);
  if (known == definitions_.end()) return fail("{} is no command that was defined here.", name);
  known->text = fmt::format("{}", fmt::join(body, "\n"));
  size_t first = known->text.find('\n');
  std::string_view text = known->text;
  commands_.describe(known->name, text.substr(0, first),
                     first == std::string_view::npos ? std::string_view() : text.substr(first + 1));
  return {};
}

Status Interpreter::call(const Definition& definition, std::string_view arguments) {
  if (depth_ == kDeepest) return fail("{} is the {}th call in a call.", definition.name, kDeepest);
  std::string kept(arguments);
  std::vector<std::string_view> words = words_of(kept);
  Lines lines;
  for (const std::string& line : definition.body) lines.push_back(with_arguments(line, words));
  ++depth_;
  Status status = run(lines);
  --depth_;
  return status;
}

}  // namespace pastcone::shell
