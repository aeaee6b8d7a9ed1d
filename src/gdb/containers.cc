#include "pastcone/gdb/containers.h"

#include <fmt/format.h>

#include <optional>
#include <span>
#include <vector>

#include "pastcone/gdb/translate.h"

namespace pastcone::gdb {
namespace {

using Tokens = std::vector<Token>;
using Compiles = std::function<bool(const std::string&)>;

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
      if (name_due) continue;
    } else {
      --at;
    }
    bool member =
        at > 0 && (tokens[at - 1].text == "." || tokens[at - 1].text == "->" || tokens[at - 1].text == "::");
    if (!member) return at;
    if (--at == 0) return at;  // ::name
  }
}

std::optional<std::string> elements(const std::string& of, const Compiles& compiles) {
  for (const char* member : {"_M_impl._M_start", "_M_dataplus._M_p"}) {
    std::string first = fmt::format("({}).{}", of, member);
    if (compiles(fmt::format("(unsigned long)&{}[0]", first))) return first;
  }
  return {};
}

std::optional<std::string> size(const std::string& of, const Compiles& compiles) {
  for (const std::string& text :
       {fmt::format("(unsigned long)(({0})._M_impl._M_finish - ({0})._M_impl._M_start)", of),
        fmt::format("({})._M_string_length", of)})
    if (compiles(text)) return "(" + text + ")";
  return {};
}

bool asks_size(const Tokens& tokens, size_t at) {
  if (at + 3 >= tokens.size() || (tokens[at].text != "." && tokens[at].text != "->")) return false;
  return tokens[at + 1].text == "size" && tokens[at + 2].text == "(" && tokens[at + 3].text == ")";
}

/// The first one that there is something to be done for.
std::optional<std::string> replace_one(const std::string& expression, const Compiles& compiles) {
  Tokens tokens = tokens_of(expression);
  for (size_t at = 0; at < tokens.size(); ++at) {
    bool sized = asks_size(tokens, at);
    if (!sized && tokens[at].text != "[") continue;
    auto begin = beginning(tokens, at);
    if (!begin) continue;
    std::span all(tokens);
    std::string of = text_of(all.subspan(*begin, at - *begin));
    if (tokens[at].text == "->") of = fmt::format("*({})", of);
    auto found = sized ? size(of, compiles) : elements(of, compiles);
    if (!found) continue;
    return fmt::format("{} {}{}", text_of(all.first(*begin)), *found,
                       text_of(all.subspan(sized ? at + 4 : at)));
  }
  return {};
}

}  // namespace

std::string with_members(const std::string& expression, const Compiles& compiles) {
  constexpr int kMost = 16;
  std::string text = expression;
  for (int i = 0; i < kMost; ++i) {
    auto replaced = replace_one(text, compiles);
    if (!replaced) break;
    text = std::move(*replaced);
  }
  return text;
}

}  // namespace pastcone::gdb
