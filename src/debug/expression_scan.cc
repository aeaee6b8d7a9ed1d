#include "pastcone/debug/expression_scan.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace pastcone::debug {
namespace {

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }
/// Names of programs have more.
bool is_name(char c) { return is_word(c) || std::string_view(".+-/@").find(c) != std::string_view::npos; }

constexpr std::string_view kOperators[] = {"<<=", ">>=", "<=>", "->", "++", "--", "<<", ">>",
                                           "<=",  ">=",  "==",  "!=", "&&", "||", "+=", "-=",
                                           "*=",  "/=",  "%=",  "&=", "|=", "^=", "::"};

std::string_view operator_at(std::string_view text, size_t at) {
  for (std::string_view each : kOperators)
    if (text.substr(at, each.size()) == each) return each;
  return text.substr(at, 1);
}

bool assigns(std::string_view op) {
  if (op == "=" || op == "++" || op == "--" || op == "<<=" || op == ">>=") return true;
  return op.size() == 2 && op[1] == '=' && std::string_view("+-*/%&|^").find(op[0]) != std::string_view::npos;
}

std::string_view name_at(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && is_name(text[end]) && text.substr(end, 2) != "->") ++end;
  return text.substr(at, end - at);
}

std::string_view word_at(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && is_word(text[end])) ++end;
  return text.substr(at, end - at);
}

/// Behind the closing quote; none if there is none.
std::optional<size_t> skip_quoted(std::string_view text, size_t at) {
  for (size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == text[at]) {
      return i + 1;
    }
  }
  return {};
}

char closing(char open) { return open == '(' ? ')' : open == '[' ? ']' : '}'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

class Scan {
 public:
  Scan(std::string_view text, size_t begin, const ExpressionRules& rules)
      : text_(text), begin_(begin), at_(begin), rules_(rules) {}

  Result<ExpressionEnd> run() {
    while (!ended_ && at_ < text_.size()) {
      char c = text_[at_];
      if (is_space(c)) {
        ++at_;
      } else if (c == '"' || c == '\'') {
        TRY_STATUS(quoted());
      } else if (is_word(c)) {
        word();
      } else {
        TRY_STATUS(sign(operator_at(text_, at_)));
      }
    }
    end_.end = at_;
    TRY_STATUS(check_end());
    return end_;
  }

 private:
  struct Level {
    char close = 0;
    size_t asked = 0;  ///< `?` whose `:` has not come
  };

  std::string so_far() const { return std::string(trimmed(text_.substr(begin_, at_ - begin_))); }
  bool outermost() const { return levels_.size() == 1; }

  void pass(size_t length, bool operand) {
    last_ = text_.substr(at_, length);
    at_ += length;
    operand_ = operand;
  }

  Status quoted() {
    auto end = skip_quoted(text_, at_);
    if (!end)
      return fail("`{}` has a {} that is not closed; add the other one", trimmed(text_.substr(begin_)),
                  text_[at_]);
    pass(*end - at_, true);
    return {};
  }

  void word() {
    std::string_view word = word_at(text_, at_);
    bool may_end = outermost() && levels_.back().asked == 0;
    if (may_end && is_keyword(word)) {
      ended_ = true;
      end_.word = word;
      return;
    }
    pass(word.size(), true);
  }

  /// A word behind an operand is no part of an expression; nor is one at its beginning, if another one
  /// follows.
  bool is_keyword(std::string_view word) const {
    if (!operand_ && !last_.empty()) return false;
    size_t after = at_ + word.size(), next = skip_spaces(text_, after);
    if (next == text_.size())
      return operand_ &&
             ((rules_.places && (word == "at" || word == "in")) || (rules_.in_list && word == "if"));
    if (next == after) return false;
    char c = text_[next];
    bool named = is_word(c) || c == '/' || c == '.' || c == '\'' || c == '"' || c == '~';
    if (rules_.places && word == "at") {
      bool address = c == '*' && next + 1 < text_.size() && (is_word(text_[next + 1]));
      return named || address;
    }
    if (rules_.places && word == "in") return named;
    return rules_.in_list && word == "if" && operand_;
  }

  Status sign(std::string_view op) {
    Level& level = levels_.back();
    char c = op[0];
    if (op == "&&" || op == "||" || op == "->") return joint(op);
    if (assigns(op)) {
      return fail("`{}` changes what it looks at: `{}`; a predicate only asks{}",
                  trimmed(text_.substr(begin_)), op, op == "=" ? ", try `==`" : "");
    }
    if (c == '(' || c == '[' || c == '{') {
      levels_.push_back({closing(c), 0});
      pass(1, false);
    } else if (c == ')' || c == ']' || c == '}') {
      TRY_STATUS(close(c));
    } else if (c == '?') {
      ++level.asked;
      pass(1, false);
    } else if (op == ":") {
      if (level.asked == 0) return colon();
      --level.asked;
      pass(1, false);
    } else if (op == "," && outermost() && rules_.in_list) {
      ended_ = end_.comma = true;
    } else {
      pass(op.size(), false);
    }
    return {};
  }

  Status close(char c) {
    if (outermost() && c == ')') {
      ended_ = true;
      return {};
    }
    if (levels_.back().close != c)
      return fail("`{}{}` closes what is not open; check its brackets", so_far(), c);
    levels_.pop_back();
    pass(1, true);
    return {};
  }

  Status joint(std::string_view op) {
    auto who = levels_.back().asked == 0 ? who_soon(text_, at_ + op.size()) : std::nullopt;
    if (!who) {
      pass(op.size(), false);
      return {};
    }
    if (!outermost()) {
      return fail("`{}:` stands inside the parentheses of {}; close them before `{}`", who->who, owner(), op);
    }
    ended_ = true;
    return {};
  }

  std::string owner() const {
    return rules_.owner.empty() ? "an expression" : fmt::format("the expression of {}", rules_.owner);
  }

  /// It can only belong to WHO: in a place where none may be.
  Status colon() {
    size_t first = at_;
    while (first > begin_ && is_space(text_[first - 1])) --first;
    while (first > begin_ && is_name(text_[first - 1]) && text_[first - 1] != '-') --first;
    std::string_view who = trimmed(text_.substr(first, at_ - first));
    std::string_view before = trimmed(text_.substr(begin_, first - begin_));
    for (std::string_view word : {"any", "pid"}) {
      if (!before.ends_with(word)) continue;
      before = trimmed(before.substr(0, before.size() - word.size()));
    }
    if (who.empty() || before.empty())
      return fail("`{}:` is not understood; a predicate is `WHO: EXPR`, as in `p1: x == 1`", so_far());
    if (before.ends_with(',') && outermost()) {
      return fail("`,` does not join predicates; try `{} && {}: …`",
                  trimmed(before.substr(0, before.size() - 1)), who);
    }
    char last = before.back();
    if (is_word(last) || last == ')' || last == ']' || last == '"' || last == '\'')
      return fail("nothing joins `{}` and `{}:`; put &&, || or -> between them", before, who);
    std::string mine = rules_.owner.empty() ? "p1" : std::string(rules_.owner);
    return fail(
        "`{}: {}: …` needs values of two processes at one time, and no process can say by itself when to "
        "halt for "
        "that; name the value (`{}: x == 3 && {}: x == 3`), print both (`trace {}: x, {}: x if …`), or ask "
        "`pastcone sql`",
        mine, so_far(), mine, who, mine, who);
  }

  Status check_end() const {
    std::string text = so_far();
    if (!outermost())
      return fail("`{}` has a bracket that is not closed; add `{}`", text, levels_.back().close);
    if (levels_.back().asked != 0) return fail("`{}` has `?` without its `:`", text);
    bool dangling = !operand_ && !last_.empty();
    if (dangling) return fail("`{}` ends in `{}`, which wants something behind it", text, last_);
    return {};
  }

  std::string_view text_;
  size_t begin_, at_;
  ExpressionRules rules_;
  std::vector<Level> levels_{{}};
  std::string_view last_;  ///< what was passed last
  bool operand_ = false;   ///< it ends an operand
  bool ended_ = false;
  ExpressionEnd end_;
};

}  // namespace

size_t skip_spaces(std::string_view text, size_t at) {
  while (at < text.size() && is_space(text[at])) ++at;
  return at;
}

std::optional<WhoText> who_at(std::string_view text, size_t at) {
  size_t begin = at = skip_spaces(text, at);
  std::string_view name = name_at(text, at);
  at += name.size();
  size_t next = skip_spaces(text, at);
  if ((name == "any" || name == "pid") && next > at) {
    std::string_view second = name_at(text, next);
    at = next + second.size();
    if (second.empty()) at = begin + name.size();
  }
  next = skip_spaces(text, at);
  bool colon = next < text.size() && text[next] == ':' && text.substr(next, 2) != "::";
  if (name.empty() || !colon) return {};
  return WhoText{text.substr(begin, at - begin), next + 1};
}

std::optional<WhoText> who_soon(std::string_view text, size_t at) {
  while (at < text.size() && (is_space(text[at]) || text[at] == '(' || text[at] == '!')) ++at;
  return who_at(text, at);
}

std::string_view joint_at(std::string_view text, size_t at) {
  std::string_view joint = text.substr(std::min(at, text.size()), 2);
  return joint == "&&" || joint == "||" || joint == "->" ? joint : std::string_view();
}

Result<ExpressionEnd> scan_expression(std::string_view text, size_t begin, const ExpressionRules& rules) {
  return Scan(text, begin, rules).run();
}

bool is_loose(std::string_view expression) {
  int depth = 0;
  for (size_t i = 0; i < expression.size(); ++i) {
    char c = expression[i];
    if (c == '"' || c == '\'') {
      i = skip_quoted(expression, i).value_or(expression.size()) - 1;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      --depth;
    } else if (depth == 0) {
      std::string_view joint = expression.substr(i, 2);
      if (c == '?' || joint == "&&" || joint == "||") return true;
    }
  }
  return false;
}

namespace {

/// Whether the first parenthesis closes at the end.
bool is_wrapped(std::string_view text) {
  if (text.size() < 2 || text.front() != '(' || text.back() != ')') return false;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"' || text[i] == '\'') {
      i = skip_quoted(text, i).value_or(text.size()) - 1;
      continue;
    }
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0) return i + 1 == text.size();
  }
  return false;
}

}  // namespace

std::string tidy(std::string_view expression) {
  expression = trimmed(expression);
  while (is_wrapped(expression)) expression = trimmed(expression.substr(1, expression.size() - 2));
  std::string text;
  for (size_t i = 0; i < expression.size();) {
    if (expression[i] == '"' || expression[i] == '\'') {
      size_t end = skip_quoted(expression, i).value_or(expression.size());
      text += expression.substr(i, end - i);
      i = end;
    } else if (is_space(expression[i])) {
      text += ' ';
      i = skip_spaces(expression, i);
    } else {
      text += expression[i++];
    }
  }
  return text;
}

}  // namespace pastcone::debug
