#include "pastcone/gdb/syntax.h"

#include <set>

#include "pastcone/gdb/number.h"
#include "pastcone/gdb/translate.h"

namespace pastcone::gdb {
namespace {

constexpr int kDeepest = 100;

/// From those that bind least.
const std::vector<std::set<std::string_view>> kLevels = {
    {"||"},       {"&&"},     {"|"},          {"^"}, {"&"}, {"==", "!="}, {"<", ">", "<=", ">="},
    {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}};

bool is_floating(const std::string& number) {
  return !number.starts_with("0x") && !number.starts_with("0X") &&
         number.find_first_of(".eE") != std::string::npos;
}

class Parser {
 public:
  Parser(std::vector<Token> tokens, const IsType& is_type) : tokens_(std::move(tokens)), is_type_(is_type) {}

  Result<Syntax> whole() {
    Syntax made = TRY(choice());
    if (now().kind != Token::Kind::kEnd) return lost();
    return made;
  }

 private:
  const Token& now() const { return tokens_[at_]; }
  bool is(std::string_view sign) const { return now().kind == Token::Kind::kOperator && now().text == sign; }
  bool is_any(const std::set<std::string_view>& signs) const {
    return now().kind == Token::Kind::kOperator && signs.contains(now().text);
  }
  std::string take() {
    std::string text = now().text;
    if (now().kind != Token::Kind::kEnd) ++at_;
    return text;
  }
  Status expect(std::string_view sign) {
    if (!is(sign)) return lost();
    take();
    return {};
  }
  std::string text_since(size_t begin) const {
    std::string text;
    for (size_t i = begin; i < at_; ++i) text += (i > begin ? tokens_[i].space : "") + tokens_[i].text;
    return text;
  }
  tl::unexpected<Error> lost() const { return fail("'{}' is not understood", now().text); }
  Syntax made(Syntax::Kind kind, size_t begin, std::string sign = {}, std::vector<Syntax> parts = {}) const {
    return {kind, text_since(begin), std::move(sign), std::move(parts)};
  }

  Result<Syntax> choice() {
    if (++depth_ > kDeepest) return lost();
    size_t begin = at_;
    Syntax first = TRY(binary(0));
    if (is("?")) {
      take();
      Syntax yes = TRY(choice());
      TRY_STATUS(expect(":"));
      Syntax no = TRY(choice());
      first = made(Syntax::Kind::kChoice, begin, "?", {std::move(first), std::move(yes), std::move(no)});
    }
    --depth_;
    return first;
  }

  Result<Syntax> binary(size_t level) {
    if (level == kLevels.size()) return unary();
    size_t begin = at_;
    Syntax left = TRY(binary(level + 1));
    while (is_any(kLevels[level])) {
      std::string sign = take();
      Syntax right = TRY(binary(level + 1));
      left = made(Syntax::Kind::kBinary, begin, std::move(sign), {std::move(left), std::move(right)});
    }
    return left;
  }

  Result<Syntax> unary() {
    if (++depth_ > kDeepest) return lost();
    size_t begin = at_;
    Syntax result;
    if (is_any({"-", "+", "!", "~"})) {
      std::string sign = take();
      Syntax part = TRY(unary());
      result = made(Syntax::Kind::kUnary, begin, std::move(sign), {std::move(part)});
    } else if (is_any({"*", "&"})) {
      take();
      TRY(unary());
      result = made(Syntax::Kind::kOperand, begin);
    } else if (now().kind == Token::Kind::kName && now().text == "sizeof") {
      take();
      if (is("("))
        TRY_STATUS(skip_bracket());
      else
        TRY(unary());
      result = made(Syntax::Kind::kOperand, begin);
    } else if (is("(") && TRY(is_cast())) {
      result = TRY(cast());
    } else {
      result = TRY(postfix());
    }
    --depth_;
    return result;
  }

  /// The bracket here and all up to the one that closes it.
  Status skip_bracket() {
    int depth = 0;
    do {
      if (now().kind == Token::Kind::kEnd) return lost();
      depth += is("(") ? 1 : is(")") ? -1 : 0;
      take();
    } while (depth > 0);
    return {};
  }

  Result<bool> is_cast() {
    size_t begin = at_ + 1, end = begin;
    bool pointer = false;
    for (; tokens_[end].text != ")"; ++end) {
      bool sign = tokens_[end].text == "*" || tokens_[end].text == "&";
      if (tokens_[end].kind != Token::Kind::kName && tokens_[end].text != "::" && !sign) return false;
      if (pointer && !sign && tokens_[end].text != "const") return false;
      pointer = pointer || sign;
    }
    if (end == begin) return false;
    size_t start = std::exchange(at_, end + 1);
    bool operand = (now().kind != Token::Kind::kOperator && now().kind != Token::Kind::kEnd) ||
                   is_any({"(", "-", "+", "*", "&", "!", "~", "::"});
    at_ = end;
    std::string name = text_since(begin);
    at_ = start;
    if (!operand) return false;
    return number_type(name).has_value() || TRY(is_type_(name));
  }

  Result<Syntax> cast() {
    size_t begin = at_;
    take();
    bool pointer = false;
    size_t name = at_;
    for (; !is(")"); take()) pointer = pointer || is("*") || is("&");
    std::string type = text_since(name);
    take();
    Syntax part = TRY(unary());
    // What pointers point to gdb has to know.
    if (pointer) return made(Syntax::Kind::kOperand, begin);
    return made(Syntax::Kind::kCast, begin, std::move(type), {std::move(part)});
  }

  Result<Syntax> postfix() {
    size_t begin = at_;
    Syntax first = TRY(primary());
    bool plain = true;  // nothing behind it yet
    for (;;) {
      if (is("[")) {
        take();
        TRY(choice());
        TRY_STATUS(expect("]"));
      } else if (is(".") || is("->")) {
        take();
        if (now().kind != Token::Kind::kName) return lost();
        take();
      } else if (is("(") && plain && first.kind == Syntax::Kind::kOperand && first.sign == "name") {
        return call(begin, first.text);
      } else {
        break;
      }
      plain = false;
    }
    if (plain) return first;
    return made(Syntax::Kind::kOperand, begin);
  }

  Result<Syntax> call(size_t begin, std::string name) {
    take();
    std::vector<Syntax> parts;
    while (!is(")")) {
      if (!parts.empty()) TRY_STATUS(expect(","));
      parts.push_back(TRY(choice()));
    }
    take();
    if (is("[") || is(".") || is("->") || is("(")) return lost();
    return made(Syntax::Kind::kCall, begin, std::move(name), std::move(parts));
  }

  Result<Syntax> primary() {
    size_t begin = at_;
    if (is("(")) {
      take();
      Syntax inside = TRY(choice());
      TRY_STATUS(expect(")"));
      inside.sign = inside.kind == Syntax::Kind::kOperand ? "" : inside.sign;
      return inside;
    }
    switch (now().kind) {
      case Token::Kind::kNumber: {
        bool floating = is_floating(take());
        return made(floating ? Syntax::Kind::kFloating : Syntax::Kind::kOperand, begin);
      }
      case Token::Kind::kCharacter:
        take();
        return made(Syntax::Kind::kOperand, begin);
      case Token::Kind::kString:
        if (now().text.size() < 2 || !now().text.ends_with('"')) return lost();
        take();
        return made(Syntax::Kind::kString, begin);
      case Token::Kind::kName:
      case Token::Kind::kOperator:
        return name();
      default:
        return lost();
    }
  }

  /// With what it is in: ns::x, ::x.
  Result<Syntax> name() {
    size_t begin = at_;
    if (is("::")) take();
    for (;;) {
      if (now().kind != Token::Kind::kName || now().text.ends_with("_cast")) return lost();
      take();
      if (!is("::")) break;
      take();
    }
    return made(Syntax::Kind::kOperand, begin, "name");
  }

  std::vector<Token> tokens_;
  const IsType& is_type_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Result<Syntax> parse_syntax(const std::string& expression, const IsType& is_type) {
  return Parser(tokens_of(expression), is_type).whole();
}

}  // namespace pastcone::gdb
