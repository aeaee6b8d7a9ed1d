#include "pastcone/shell/commands.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "pastcone/base/check.h"
#include "pastcone/base/suggest.h"
#include "pastcone/shell/help.h"

namespace pastcone::shell {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

bool in_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
}

/// `x/4x` and `p*head` are a word and an argument, as in gdb.
std::string_view first_word(std::string_view text) {
  auto end = std::find_if_not(text.begin(), text.end(), in_word);
  return text.substr(0, static_cast<size_t>(end - text.begin()));
}

std::string_view trim_left(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(kBlanks), text.size()));
}

}  // namespace

std::string_view trim(std::string_view text) {
  text = trim_left(text);
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (text = trim_left(text); !text.empty(); text = trim_left(text)) {
    words.push_back(text.substr(0, text.find_first_of(kBlanks)));
    text.remove_prefix(words.back().size());
  }
  return words;
}

struct Commands::Node {
  std::string name;  // of all words up to here
  std::string word;
  CommandText text;  // nameless: only a step on the way to others
  Handler run;
  Completer complete;
  std::vector<std::unique_ptr<Node>> children;

  bool takes_arguments() const { return !text.name.empty() && !text.prefix; }

  Node* exact(std::string_view typed) const {
    for (const auto& child : children) {
      if (child->word == typed) return child.get();
    }
    for (const auto& child : children) {
      std::vector<std::string_view> aliases = words_of(child->text.aliases);
      if (std::find(aliases.begin(), aliases.end(), typed) != aliases.end()) return child.get();
    }
    return nullptr;
  }

  std::vector<Node*> beginning_with(std::string_view typed) const {
    std::vector<Node*> found;
    for (const auto& child : children) {
      if (child->word.starts_with(typed)) found.push_back(child.get());
    }
    return found;
  }

  std::vector<std::string> words_below() const {
    std::vector<std::string> words;
    for (const auto& child : children) words.push_back(child->word);
    std::sort(words.begin(), words.end());
    return words;
  }

  /// "info " for messages about its subcommands; nothing for the root.
  std::string kind() const { return name.empty() ? "" : name + " "; }
};

Commands::Commands() : root_(std::make_unique<Node>()) {}
Commands::~Commands() = default;

Commands::Node& Commands::node(std::string_view name) {
  Node* at = root_.get();
  for (std::string_view word : words_of(name)) {
    auto child = std::find_if(at->children.begin(), at->children.end(),
                              [word](const auto& c) { return c->word == word; });
    if (child == at->children.end()) {
      auto made = std::make_unique<Node>();
      made->word = word;
      made->name = at->kind() + made->word;
      child = at->children.insert(at->children.end(), std::move(made));
    }
    at = child->get();
  }
  return *at;
}

void Commands::add(const CommandText& text, Handler run, Completer complete) {
  Node& added = node(text.name);
  CHECK(added.text.name.empty(), "{} is there already", text.name);
  added.text = text;
  added.run = std::move(run);
  added.complete = std::move(complete);
  order_.push_back(&added);
}

void Commands::bind(std::string_view name, Handler run, Completer complete) {
  Node& bound = node(name);
  CHECK(!bound.text.name.empty(), "{} is in no table", name);
  bound.run = [this, run = std::move(run)](std::string_view arguments) -> Status {
    if (guard_) TRY_STATUS(guard_());
    return run(arguments);
  };
  if (complete) bound.complete = std::move(complete);
}

Result<Commands::Match> Commands::match(std::string_view line) const {
  Match match{root_.get(), line};
  for (;;) {
    std::string_view rest = trim_left(match.rest);
    std::string_view word = first_word(rest);
    if (word.empty()) return match;
    bool first = match.node == root_.get();
    if (!first && rest.size() > word.size() && kBlanks.find(rest[word.size()]) == std::string_view::npos)
      return match;
    const Node* next = match.node->exact(word);
    if (next == nullptr && !match.node->takes_arguments()) {
      std::vector<Node*> possible = match.node->beginning_with(word);
      if (possible.size() > 1) {
        std::vector<std::string> names;
        for (const Node* node : possible) names.push_back(node->word);
        std::sort(names.begin(), names.end());
        return fail("Ambiguous {}command \"{}\": {}.", match.node->kind(), word, fmt::join(names, ", "));
      }
      if (possible.size() == 1) next = possible.front();
    }
    if (next == nullptr) return match;
    match = {next, rest.substr(word.size())};
  }
}

Status Commands::run(std::string_view line) const {
  line = trim(line);
  if (line.empty() || line.front() == '#') return {};
  Match found = TRY(match(line));
  const Node& node = *found.node;
  if (&node == root_.get()) return hand_on(line);
  if (!node.takes_arguments()) return run_prefix(node, found.rest);
  if (node.run) return node.run(trim(found.rest));
  if (node.text.gdb) return hand_on(node.name + std::string(found.rest));
  return fail("\"{}\" is not possible here.", node.name);
}

Status Commands::run_block(std::string_view name, std::string_view arguments,
                           const std::vector<std::string>& body) const {
  auto found = blocks_.find(name);
  if (found == blocks_.end()) found = blocks_.find(name == "py" ? "python" : name);
  if (found == blocks_.end()) return fail("\"{}\" is not possible here.", name);
  if (guard_) TRY_STATUS(guard_());
  return found->second(arguments, body);
}

Result<bool> Commands::holds(std::string_view condition) const {
  if (!evaluator_) return fail("conditions are not possible here.");
  if (guard_) TRY_STATUS(guard_());
  return evaluator_(condition);
}

void Commands::describe(std::string_view name, std::string_view summary, std::string_view text) {
  Node& described = node(name);
  described.text.summary = summary;
  described.text.text = text;
}

Status Commands::run_prefix(const Node& node, std::string_view rest) const {
  std::string_view typed = trim(rest);
  if (node.text.gdb && !typed.empty()) return hand_on(node.name + std::string(rest));
  if (typed.empty() && node.text.prefix) {
    fmt::print("{}", help_below(*this, node.text));
    return {};
  }
  return fail("\"{}\" must be followed by {}.", node.name, fmt::join(node.words_below(), " or "));
}

Status Commands::hand_on(std::string_view line) const {
  if (guard_) TRY_STATUS(guard_());
  if (fallback_ && TRY(fallback_(line))) return {};
  return undefined(line);
}

Status Commands::hand_on_help(std::string_view subject) const {
  if (fallback_ && TRY(fallback_(fmt::format("help {}", subject)))) return {};
  return undefined(subject);
}

Status Commands::undefined(std::string_view line) const {
  Match found = TRY(match(line));
  std::string_view rest = trim(found.rest), word = first_word(rest);
  if (word.empty()) word = rest;
  std::string nearest = suggest(word, found.node->words_below());
  std::string kind = found.node->kind();
  if (!nearest.empty()) {
    return fail("Undefined {}command: \"{}\".  Did you mean \"{}{}\"?", kind, word, kind, nearest);
  }
  return fail("Undefined {}command: \"{}\".  Try \"help{}{}\".", kind, word, kind.empty() ? "" : " ",
              found.node->name);
}

std::string Commands::repeated(std::string_view line) const {
  Result<Match> found = match(trim(line));
  if (!found) return {};
  switch (found->node->text.repeat) {
    case Repeat::kNo:
      return {};
    case Repeat::kSame:
      return std::string(line);
    case Repeat::kBare:
      return found->node->name;
  }
  return {};
}

Completion Commands::complete_names(std::string_view text) const {
  size_t last = text.find_last_of(kBlanks);
  std::string_view before = last == std::string_view::npos ? "" : text.substr(0, last + 1);
  Result<Match> found = match(before);
  if (!found || !trim(found->rest).empty()) return {text.size(), {}};
  return complete_last_word(text, found->node->words_below());
}

Completion Commands::complete_with_fallback(std::string_view line) const {
  Completion completion{line.size(), {}};
  if (!fallback_completer_) return completion;
  std::vector<std::string> lines = fallback_completer_(line);
  // They are whole lines; from the last word on is enough to show.
  size_t blank = line.find_last_of(kBlanks);
  completion.start = blank == std::string_view::npos ? 0 : blank + 1;
  for (const std::string& whole : lines) {
    if (whole.starts_with(line.substr(0, completion.start)))
      completion.candidates.push_back(whole.substr(completion.start));
  }
  return completion;
}

Completion Commands::complete(std::string_view line) const {
  size_t indent = line.size() - trim_left(line).size();
  std::string_view text = line.substr(indent);
  Completion names = complete_names(text);
  names.start += indent;

  size_t last = text.find_last_of(kBlanks);
  Result<Match> found = match(last == std::string_view::npos ? std::string_view() : text.substr(0, last + 1));
  if (!found) return names;
  const Node& node = *found->node;
  if (node.takes_arguments() && (node.complete || node.run)) {
    if (!node.complete) return names;
    // Arguments begin behind the name and one blank or more.
    auto behind = static_cast<size_t>(found->rest.data() - text.data());
    std::string_view arguments = trim_left(text.substr(behind));
    size_t at = line.size() - arguments.size();
    Completion own = node.complete(arguments);
    own.start += at;
    if (own.start == names.start) {
      own.candidates.insert(own.candidates.begin(), names.candidates.begin(), names.candidates.end());
    }
    return own.candidates.empty() ? names : own;
  }
  bool known = &node == root_.get() && !names.candidates.empty();  // one of ours is being typed
  if (known) return names;
  Completion more = complete_with_fallback(line);
  if (more.start == names.start || names.candidates.empty()) {
    more.candidates.insert(more.candidates.end(), names.candidates.begin(), names.candidates.end());
    std::sort(more.candidates.begin(), more.candidates.end());
    more.candidates.erase(std::unique(more.candidates.begin(), more.candidates.end()), more.candidates.end());
    return more;
  }
  return names;
}

Result<const CommandText*> Commands::find(std::string_view name) const {
  Match found = TRY(match(name));
  if (found.node == root_.get() || !trim(found.rest).empty() || found.node->text.name.empty()) return nullptr;
  return &found.node->text;
}

std::vector<const CommandText*> Commands::texts() const {
  std::vector<const CommandText*> texts;
  for (const Node* node : order_) texts.push_back(&node->text);
  return texts;
}

std::vector<const CommandText*> Commands::below(std::string_view prefix) const {
  std::vector<const CommandText*> texts;
  std::string start = std::string(prefix) + " ";
  for (const Node* node : order_) {
    if (node->text.name.starts_with(start)) texts.push_back(&node->text);
  }
  return texts;
}

std::vector<std::string> Commands::unbound() const {
  std::vector<std::string> names;
  for (const Node* node : order_) {
    if (node->takes_arguments() && !node->run && !node->text.gdb) names.push_back(node->name);
  }
  return names;
}

}  // namespace pastcone::shell
