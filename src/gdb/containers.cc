#include "pastcone/gdb/containers.h"

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "pastcone/gdb/library_object.h"
#include "pastcone/gdb/translate.h"

namespace pastcone::gdb {
namespace {

using Tokens = std::vector<Token>;

std::string text_of(std::span<const Token> tokens) {
  std::string text;
  for (const Token& token : tokens) text += token.space + token.text;
  return text;
}

/// Where the parenthesis or bracket opens that is closed at `at`; none if it is not.
std::optional<size_t> opening(const Tokens& tokens, size_t at) {
  int depth = 0;
  for (size_t i = at + 1; i > 0; --i) {
    const std::string& text = tokens[i - 1].text;
    if (text == ")" || text == "]") ++depth;
    if ((text == "(" || text == "[") && --depth == 0) return i - 1;
  }
  return {};
}

/// Whether name<…> stands before `at`: what is in parentheses there is given to it, as to static_cast<T*>.
bool is_given_to_template(const Tokens& tokens, size_t at) {
  int depth = 0;
  for (; at > 0; --at) {
    const Token& token = tokens[at - 1];
    bool in_type = token.kind == Token::Kind::kName || token.kind == Token::Kind::kNumber ||
                   token.text == "::" || token.text == "*" || token.text == "&" || token.text == ",";
    if (token.text == ">" || token.text == ">>")
      depth += static_cast<int>(token.text.size());
    else if (token.text == "<")
      --depth;
    else if (!in_type)
      return false;
    if (depth <= 0) return token.text == "<" && at > 1 && tokens[at - 2].kind == Token::Kind::kName;
  }
  return false;
}

/// Where what ends before `end` begins: a name, with what it is a member of, or something in parentheses.
std::optional<size_t> beginning(const Tokens& tokens, size_t end) {
  size_t at = end;
  for (bool name_due = false;;) {
    if (at == 0) return {};
    const Token& last = tokens[at - 1];
    bool closes = last.text == ")" || last.text == "]";
    if (!closes && last.kind != Token::Kind::kName) return {};
    if (closes) {
      auto opens = opening(tokens, at - 1);
      if (!opens) return {};
      at = *opens;
      bool called = at > 0 && (tokens[at - 1].kind == Token::Kind::kName || tokens[at - 1].text == ")" ||
                               tokens[at - 1].text == "]");
      name_due = last.text == "]" || called;
      if (!name_due && is_given_to_template(tokens, at)) return {};
      if (name_due) continue;
    } else {
      --at;
    }
    bool member =
        at > 0 && (tokens[at - 1].text == "." || tokens[at - 1].text == "->" || tokens[at - 1].text == "::");
    if (!member) return at;
    --at;
    bool global = at == 0 || tokens[at - 1].kind == Token::Kind::kOperator;
    bool template_ends = at > 0 && (tokens[at - 1].text == ">" || tokens[at - 1].text == ")");
    if (tokens[at].text == "::" && global && !template_ends) return at;
  }
}

/// Where what opens at `at` is closed; none if it is not.
std::optional<size_t> closing(const Tokens& tokens, size_t at) {
  int depth = 0;
  for (size_t i = at; i < tokens.size(); ++i) {
    const std::string& text = tokens[i].text;
    if (text == "(" || text == "[") ++depth;
    if ((text == ")" || text == "]") && --depth == 0) return i;
  }
  return {};
}

class Rewriter {
 public:
  Rewriter(Tokens tokens, const ClassOf& class_of) : tokens_(std::move(tokens)), class_of_(class_of) {}

  /// With the first one that something can be done for.
  std::optional<std::string> rewritten() {
    for (size_t end = 1; end < tokens_.size(); ++end) {
      auto begin = beginning(tokens_, end);
      if (begin && rewrite({*begin, end})) return out_;
    }
    return {};
  }

 private:
  /// Some of the tokens.
  struct Range {
    size_t begin, end;
  };

  const std::string& text(size_t at) const { return tokens_[at].text; }
  const std::string& before(Range range) const {
    return range.begin == 0 ? kNothing_ : text(range.begin - 1);
  }
  bool is_name(size_t at) const { return tokens_[at].kind == Token::Kind::kName; }

  std::string text_in(Range range) const {
    std::string all = text_of(std::span(tokens_).subspan(range.begin, range.end - range.begin));
    return all.substr(tokens_[range.begin].space.size());
  }

  std::optional<LibraryObject> object(const std::string& text) const {
    LibraryObject object(text, class_of_(text));
    // Such a class is known by its name in its own file only.
    bool elsewhere = text.find("::") != std::string::npos &&
                     object.class_name.find("(anonymous namespace)") != std::string::npos;
    return object.layout == nullptr || elsewhere ? std::nullopt : std::optional(object);
  }

  bool replace(Range range, const std::string& by) {
    if (by.empty()) return false;
    std::span all(tokens_);
    out_ =
        text_of(all.first(range.begin)) + tokens_[range.begin].space + by + text_of(all.subspan(range.end));
    return true;
  }

  /// `range` is a name with all that it is a member of, or something in parentheses.
  bool rewrite(Range range) {
    const std::string& next = text(range.end);
    if (next == "." || next == "->") return call(range) || pointer(range);
    if (next == "[") return index(range);
    if (next == "(" || next == "::") return false;
    return alone(range);
  }

  bool call(Range range) {
    size_t opens = range.end + 2;
    if (opens >= tokens_.size() || text(opens) != "(") return false;
    auto closes = closing(tokens_, opens);
    if (!closes) return false;
    std::string given = text_in(range);
    auto of = object(text(range.end) == "->" ? "(*" + given + ")" : given);
    std::string argument = opens + 1 == *closes ? "" : text_in({opens + 1, *closes});
    return of && replace({range.begin, *closes + 1}, of->told_by(text(range.end + 1), argument));
  }

  bool pointer(Range range) {
    if (text(range.end) != "->") return false;
    auto of = object(text_in(range));
    return of && replace(range, of->pointer());
  }

  bool index(Range range) {
    auto of = object(text_in(range));
    auto closes = closing(tokens_, range.end);
    if (!of || !closes) return false;
    if (replace({range.begin, *closes + 1}, of->element(text_in({range.end + 1, *closes})))) return true;
    return replace(range, of->fill_some(of->layout->get));
  }

  /// With the parentheses around it.
  Range widened(Range range) const {
    while (before(range) == "(" && text(range.end) == ")") {
      bool called = range.begin > 1 && (is_name(range.begin - 2) || text(range.begin - 2) == ")" ||
                                        text(range.begin - 2) == "]");
      if (called) break;
      --range.begin;
      ++range.end;
    }
    return range;
  }

  /// An operand: the object, or *pointer.
  bool alone(Range range) {
    auto of = object(text_in(range));
    range = widened(range);
    bool starred = before(range) == "*";
    if (starred && !of) {
      of = object("(*" + text_in(range) + ")");
      range = widened({range.begin - 1, range.end});
      starred = false;
    }
    const std::string& next = text(range.end);
    bool goes_on = next == "." || next == "->" || next == "[" || next == "(" || before(range) == "&";
    if (!of || goes_on || is_named_only(range)) return false;
    if (starred && of->layout->load.empty()) return replace(range, of->pointer());
    if (replace(range, of->fill_some(of->layout->load)) || replace(range, of->fill_some(of->layout->get)))
      return true;
    if (is_condition(range)) return replace(range, of->fill_some(of->layout->has_value));
    return compared(range, *of);
  }

  /// sizeof, alignof, typeid: of the class itself.
  bool is_named_only(Range range) const {
    size_t at = range.begin;
    if (before(range) == "(") --at;
    return at > 0 && (text(at - 1) == "sizeof" || text(at - 1) == "alignof" || text(at - 1) == "typeid");
  }

  static bool joins(const std::string& text) { return text == "&&" || text == "||"; }

  /// Whether nothing but its truth counts.
  bool is_condition(Range range) const {
    const std::string &left = before(range), &right = text(range.end);
    if (left == "!") return true;
    bool begins = left.empty() || left == "(", ends = right.empty() || right == ")";
    bool all = left.empty() && right.empty();
    return all || (joins(left) && (joins(right) || right == "?" || ends)) ||
           (begins && (joins(right) || right == "?"));
  }

  /// With a literal.
  bool compared(Range range, const LibraryObject& of) {
    const std::string &left = before(range), sign = text(range.end);
    bool compares = (sign == "==" || sign == "!=") && tokens_[range.end + 1].kind == Token::Kind::kString;
    if (!compares || of.layout->data.empty()) return false;
    const std::string& right = text(range.end + 2);
    bool is_whole = (left.empty() || left == "(" || joins(left)) &&
                    (right.empty() || right == ")" || right == "?" || joins(right));
    std::string equal = is_whole ? of.bytes_equal(text(range.end + 1)) : "";
    return !equal.empty() && replace({range.begin, range.end + 2}, (sign == "!=" ? "!" : "") + equal);
  }

  const std::string kNothing_;
  Tokens tokens_;
  const ClassOf& class_of_;
  std::string out_;
};

}  // namespace

std::string with_members(const std::string& expression, const ClassOf& class_of) {
  constexpr int kMost = 32;
  constexpr size_t kLongest = 10'000;  // an index may be needed more than once, and have others in it
  std::map<std::string, std::string> known;
  ClassOf ask_once = [&](const std::string& text) {
    auto [found, is_new] = known.try_emplace(text);
    if (is_new) found->second = class_of(text);
    return found->second;
  };
  std::string text = expression;
  for (int i = 0; i < kMost && text.size() < kLongest; ++i) {
    auto rewritten = Rewriter(tokens_of(text), ask_once).rewritten();
    if (!rewritten) return text;
    text = std::move(*rewritten);
  }
  return expression;
}

}  // namespace pastcone::gdb
