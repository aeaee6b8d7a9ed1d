// The table of commands: what they are called, what they do, and what is said about them.
//
// A name is one word or several (`run to`, `show obj`); the words make a tree. A word may be shortened as
// long as it is the only one to begin so, as in gdb; an alias or a whole word always wins. Behind a command
// that takes arguments of its own a further word must be written out: `break all` is a command, `break al`
// sets a breakpoint in al().
//
// What is in no table, and what has texts but no handler here, is handed to gdb (set_fallback).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pastcone/base/result.h"
#include "pastcone/shell/completion.h"

namespace pastcone::shell {

/// What an empty line does after a command, on a terminal.
enum class Repeat {
  kNo,
  kSame,  // the same again
  kBare,  // the command without its arguments, which goes on from there: list, x
};

struct CommandText {
  std::string_view name;
  std::string_view aliases = {};  // of its last word, separated by blanks
  std::string_view group = {};    // the heading in `help`
  std::string_view summary = {};  // one line
  std::string_view usage = {};    // one line per form
  std::string_view example = {};  // as it looks on the terminal
  std::string_view text = {};     // all the rest, one line per line
  Repeat repeat = Repeat::kNo;
  bool gdb = false;     // handed to gdb where it has no handler
  bool prefix = false;  // only a first word for others: info, show
};

/// Gets what follows the name, without blanks around it. The error is shown as one line.
using Handler = std::function<Status(std::string_view arguments)>;
/// Gets a whole line, its command's name written out. False: not known there either.
using Fallback = std::function<Result<bool>(std::string_view line)>;
/// Gets the line up to the cursor; gives whole lines that begin like it, as gdb's `complete` does.
using FallbackCompleter = std::function<std::vector<std::string>(std::string_view line)>;
/// Gets what follows the name, and the lines of its body.
using BlockHandler = std::function<Status(std::string_view arguments, const std::vector<std::string>& body)>;
/// Whether a condition of `if` or `while` holds.
using Evaluator = std::function<Result<bool>(std::string_view condition)>;

class Commands {
 public:
  Commands();
  ~Commands();

  void add(const CommandText& text, Handler run = {}, Completer complete = {});
  /// Gives a command that was added what it does.
  void bind(std::string_view name, Handler run, Completer complete = {});
  /// Asked before what was bound, or is handed on: an error is why it cannot be done now.
  void set_guard(std::function<Status()> guard) { guard_ = std::move(guard); }
  void set_fallback(Fallback fallback) { fallback_ = std::move(fallback); }
  void set_fallback_completer(FallbackCompleter complete) { fallback_completer_ = std::move(complete); }

  /// What has a body, up to `end`: python, commands.
  void bind_block(std::string_view name, BlockHandler run) { blocks_[std::string(name)] = std::move(run); }
  void set_evaluator(Evaluator holds) { evaluator_ = std::move(holds); }
  /// Done after each line that was typed, or stands in a file or a definition.
  void set_after(std::function<Status()> after) { after_ = std::move(after); }
  /// Another text for a command; it must last.
  void describe(std::string_view name, std::string_view summary, std::string_view text);

  /// Runs a line. Empty ones and comments do nothing.
  Status run(std::string_view line) const;
  Status run_block(std::string_view name, std::string_view arguments, const std::vector<std::string>& body) const;
  Result<bool> holds(std::string_view condition) const;
  Status after() const { return after_ ? after_() : Status(); }
  /// The line that an empty one stands for after `line`; empty if for none.
  std::string repeated(std::string_view line) const;
  /// For Tab: names, then the command's own completer, then gdb's.
  Completion complete(std::string_view line) const;
  /// For arguments that are names of commands.
  Completion complete_names(std::string_view text) const;

  /// The text of a command by name, shortened or not; null if there is none; an error if there are several.
  Result<const CommandText*> find(std::string_view name) const;
  /// All, in the order in which they were added.
  std::vector<const CommandText*> texts() const;
  /// Those whose name is that of `prefix` and one or more further words.
  std::vector<const CommandText*> below(std::string_view prefix) const;
  /// Names of those that are neither bound nor gdb's.
  std::vector<std::string> unbound() const;

  /// Hands a line to the fallback; what is not known there either is an error that names the nearest command.
  Status hand_on(std::string_view line) const;
  /// The same for `help SUBJECT`.
  Status hand_on_help(std::string_view subject) const;

 private:
  struct Node;
  struct Match {
    const Node* node;       // the root if nothing matched
    std::string_view rest;  // behind its name, blanks included
  };
  Result<Match> match(std::string_view line) const;
  Status undefined(std::string_view line) const;
  Status run_prefix(const Node& node, std::string_view rest) const;
  Completion complete_with_fallback(std::string_view line) const;
  Node& node(std::string_view name);

  std::unique_ptr<Node> root_;
  std::vector<const Node*> order_;
  std::function<Status()> guard_;
  Fallback fallback_;
  FallbackCompleter fallback_completer_;
  std::map<std::string, BlockHandler, std::less<>> blocks_;
  Evaluator evaluator_;
  std::function<Status()> after_;
};

std::string_view trim(std::string_view text);
/// The words of a text, separated by blanks.
std::vector<std::string_view> words_of(std::string_view text);

}  // namespace pastcone::shell
