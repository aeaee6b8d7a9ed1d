#include <cctype>

#include "pastcone/gdb/translate.h"

namespace pastcone::gdb {
namespace {

bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$'; }
bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

constexpr const char* kLong[] = {
    "<<=", ">>=", "->", "::", "&&", "||", "==", "!=", "<=", ">=", "<<", ">>", "++", "--"};

class Lexer {
 public:
  explicit Lexer(const std::string& text) : text_(text) {}

  Token next() {
    Token token;
    size_t start = at_;
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    token.space = text_.substr(start, at_ - start);
    if (at_ == text_.size()) return token;
    start = at_;
    token.kind = advance();
    token.text = text_.substr(start, at_ - start);
    return token;
  }

 private:
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  Token::Kind advance() {
    char c = peek();
    if (starts_name(c)) {
      while (in_name(peek())) ++at_;
      return Token::Kind::kName;
    }
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
      advance_number();
      return Token::Kind::kNumber;
    }
    if (c == '"') {
      advance_quoted('"');
      return Token::Kind::kString;
    }
    if (c == '\'') {
      size_t begin = at_;
      advance_quoted('\'');
      // 'file.c'::name and 'ns::odd<name>' are names.
      bool qualifies = peek() == ':' && peek(1) == ':';
      bool qualified = text_.substr(begin, at_ - begin).find("::") != std::string::npos;
      return qualifies || qualified ? Token::Kind::kName : Token::Kind::kCharacter;
    }
    for (std::string_view op : kLong) {
      if (text_.compare(at_, op.size(), op) != 0) continue;
      at_ += op.size();
      return Token::Kind::kOperator;
    }
    ++at_;
    return Token::Kind::kOperator;
  }

  void advance_number() {
    bool hex = peek() == '0' && (peek(1) == 'x' || peek(1) == 'X');
    while (in_name(peek()) || peek() == '.' || (!hex && exponent_sign())) ++at_;
  }
  bool exponent_sign() const {
    char before = at_ > 0 ? text_[at_ - 1] : '\0';
    return (peek() == '+' || peek() == '-') && (before == 'e' || before == 'E');
  }

  void advance_quoted(char quote) {
    for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_)
      if (text_[at_] == '\\') ++at_;
    at_ = at_ < text_.size() ? at_ + 1 : text_.size();
  }

  const std::string& text_;
  size_t at_ = 0;
};

}  // namespace

std::vector<Token> tokens_of(const std::string& expression) {
  std::vector<Token> tokens;
  Lexer lexer(expression);
  do tokens.push_back(lexer.next());
  while (tokens.back().kind != Token::Kind::kEnd);
  return tokens;
}

std::optional<std::string> string_value(const std::string& literal) {
  static constexpr std::string_view kNames = "ntrabfve\\'\"0", kValues("\n\t\r\a\b\f\v\033\\'\"\0", 12);
  std::string bytes;
  for (size_t i = 1; i + 1 < literal.size(); ++i) {
    if (literal[i] != '\\') {
      bytes += literal[i];
      continue;
    }
    size_t at = kNames.find(literal[++i]);
    bool octal = literal[i] == '0' && is_digit(literal[i + 1]);
    if (at == std::string_view::npos || octal) return {};
    bytes += kValues[at];
  }
  return bytes;
}

}  // namespace pastcone::gdb
