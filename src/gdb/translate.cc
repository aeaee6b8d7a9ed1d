#include "pastcone/gdb/translate.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <set>

namespace pastcone::gdb {
namespace {

constexpr int kDeepest = 100;  // parentheses within parentheses
const std::set<std::string_view> kTested = {"&&", "||", "?", "==", "!=", "<", ">", "<=", ">="};

bool is_floating(const std::string& number) {
  bool hex = number.starts_with("0x") || number.starts_with("0X");
  return number.find_first_of(hex ? ".pP" : ".eE") != std::string::npos;
}

/// 'a', '\n', '\'', '\0', '\101', '\x41'.
std::optional<int> character_value(const std::string& literal) {
  if (literal.size() < 3 || literal.back() != '\'') return std::nullopt;
  std::string inside = literal.substr(1, literal.size() - 2);
  if (inside.size() == 1) return static_cast<signed char>(inside[0]);
  if (inside[0] != '\\') return std::nullopt;
  bool hex = inside[1] == 'x';
  if (hex || (inside[1] >= '0' && inside[1] <= '7')) {
    const char* end = inside.data() + inside.size();
    unsigned value = 0;
    auto [stop, error] = std::from_chars(inside.data() + (hex ? 2 : 1), end, value, hex ? 16 : 8);
    if (error != std::errc{} || stop != end || value > 255) return std::nullopt;
    return static_cast<signed char>(value);
  }
  static constexpr std::string_view kNames = "ntrabfve\\'\"";
  static constexpr std::string_view kValues = "\n\t\r\a\b\f\v\033\\'\"";
  size_t at = kNames.find(inside[1]);
  if (inside.size() != 2 || at == std::string_view::npos) return std::nullopt;
  return kValues[at];
}

/// A type that is a number by its name.
bool is_builtin(const std::vector<Token>& type) {
  static const std::set<std::string_view> kNames = {
      "char",     "short",    "int",      "long",     "signed",  "unsigned", "float",   "double", "bool",   "_Bool",
      "const",    "volatile", "int8_t",   "int16_t",  "int32_t", "int64_t",  "uint8_t", "size_t", "ssize_t", "uint16_t",
      "uint32_t", "uint64_t", "intptr_t", "uintptr_t"};
  return std::ranges::all_of(
      type, [](const Token& token) { return token.kind == Token::Kind::kEnd || kNames.contains(token.text); });
}

/// Copies the tokens out again; what stands where a number is wanted is looked at, and dressed if need be.
/// Precedence does not matter for that: between two operators there is an operand.
class Translator {
 public:
  Translator(std::vector<Token> tokens, const TryCompile& compiles, const Ask& ask)
      : tokens_(std::move(tokens)), compiles_(compiles), ask_(ask) {}

  /// None: not understood.
  Result<std::optional<std::string>> whole() {
    std::string out = TRY(expression());
    if (now().kind != Token::Kind::kEnd || lost_) return std::nullopt;
    return out;
  }

 private:
  const Token& now() const { return tokens_[at_]; }
  bool is(std::string_view op) const { return now().kind == Token::Kind::kOperator && now().text == op; }
  bool is_any(const std::set<std::string_view>& ops) const {
    return now().kind == Token::Kind::kOperator && ops.contains(now().text);
  }
  std::string take() {
    const Token& token = now();
    if (token.kind != Token::Kind::kEnd) ++at_;
    return token.space + token.text;
  }
  std::string lost() {
    lost_ = true;
    return {};
  }

  /// Up to what closes it.
  Result<std::string> expression() {
    if (++depth_ > kDeepest) return lost();
    std::string out = TRY(choice());
    while (!lost_ && is(",")) {
      out += take();
      out += TRY(choice());
    }
    --depth_;
    return out;
  }

  /// c ? a : b, or just c. gdb gives it the type of a.
  Result<std::string> choice() {
    if (++depth_ > kDeepest) return lost();
    std::string out = TRY(operands());
    if (!lost_ && is("?")) {
      out += take();
      std::string first = TRY(expression());
      if (!is(":")) return lost();
      std::string colon = take();
      std::string second = TRY(choice());
      auto one = TRY(promoted(first)), other = TRY(promoted(second));
      bool differ = one && other && (*one != *other || one->is_narrow);
      std::string cast = differ ? "(" + common_type(*one, *other) + ")" : "";
      auto with_cast = [&](const std::string& text) { return cast.empty() ? text : cast + "(" + text + ")"; };
      out += with_cast(first) + colon + with_cast(second);
    }
    --depth_;
    return out;
  }

  /// With what stands between them.
  Result<std::string> operands() {
    static const std::set<std::string_view> kLoose = {
        "&", "|", "^", "<<", ">>", "==", "!=", "<", ">", "<=", ">=", "&&", "||"};
    std::string out = TRY(sum(false));
    while (!lost_ && is_any(kLoose)) {
      bool shifts = is("<<") || is(">>"), tests = is_any(kTested);
      out += take();
      std::string right = TRY(sum(tests));
      // gdb would widen what is shifted to the type of the count, and take its sign from there.
      out += shifts ? shift_count(right) : right;
    }
    return out;
  }

  /// One that is too large stays so.
  static std::string shift_count(const std::string& count) {
    bool constant = count.find_first_not_of(" 0123456789") == std::string::npos;
    std::string kept = constant ? std::to_string(std::min(std::strtoull(count.c_str(), nullptr, 10), 255ull)) : "(unsigned long)(" + count + ") > 255 ? 255 : (unsigned long)(" + count + ")";
    return "((unsigned char)(" + kept + "))";
  }

  /// What binds more tightly than a shift.
  Result<std::string> sum(bool tested) {
    static const std::set<std::string_view> kTight = {"+", "-", "*", "/", "%", "@"};
    std::string out;
    for (;; tested = false) {
      std::string one = TRY(operand());
      if ((tested || is_any(kTested)) && !lost_) TRY_STATUS(check_value(one));
      out += one;
      if (lost_ || !is_any(kTight)) return out;
      out += take();
    }
  }

  /// An arithmetic type behind the integral promotions.
  struct Promoted {
    bool is_wide = false, is_unsigned = false, is_narrow = false;
    bool operator==(const Promoted&) const = default;
  };

  /// None: it is no integer.
  Result<std::optional<Promoted>> promoted(const std::string& text) {
    if (lost_ || TRY(compiles_("$rax & (" + text + ")")).empty()) return std::nullopt;
    if (is_narrow(TRY(compiles_(text)))) return Promoted{.is_narrow = true};
    // Beside something that does not widen it, and is no constant.
    std::string code = TRY(compiles_("(((" + text + ") + (char)$rax) << (char)1) < 0"));
    if (code.empty()) return std::nullopt;
    size_t shift = code.rfind("lsh;");
    std::string behind = shift == std::string::npos ? code : code.substr(shift);
    bool is_unsigned = behind.find("less_unsigned;") != std::string::npos;
    bool is_wide = behind.find("ext 32;") == std::string::npos;
    return Promoted{is_wide, is_unsigned};
  }

  /// Unsigned, and so small that it is an int: gdb would take bit-fields for what they are declared as.
  static bool is_narrow(const std::string& code) {
    constexpr std::string_view kExtends = "zero_ext ";
    size_t last = code.rfind(kExtends);
    if (last == std::string::npos) return false;
    char* end = nullptr;
    unsigned long bits = std::strtoul(code.c_str() + last + kExtends.size(), &end, 10);
    return bits < 32 && std::string_view(end) == ";end;";
  }

  /// C's usual conversions.
  static std::string common_type(const Promoted& one, const Promoted& other) {
    bool is_wide = one.is_wide || other.is_wide;
    bool is_unsigned =
        (one.is_unsigned && one.is_wide == is_wide) || (other.is_unsigned && other.is_wide == is_wide);
    return std::string(is_unsigned ? "unsigned " : "") + (is_wide ? "long" : "int");
  }

  /// Of an object gdb would test its address, or compare that with a pointer.
  Status check_value(const std::string& one) {
    bool object = TRY(compiles_(one)).empty() && TRY(compiles_("!(" + one + ")")).empty() &&
                  !TRY(compiles_(one + " && 1")).empty();
    if (object)
      return fail("gdb knows no value of {}, an object", one.substr(one.find_first_not_of(" \t\n")));
    return {};
  }

  /// An operand that counts as a number.
  Result<std::string> operand() {
    if (++depth_ > kDeepest) return lost();
    static const std::set<std::string_view> kNumeric = {"!", "~", "-", "+"};
    std::string out;
    if (is_any(kNumeric)) {
      out = take();
      std::string one = TRY(operand());
      // Of a small object gdb would compute with the address.
      if (!lost_) TRY_STATUS(check_value(one));
      out += one;
    } else if (is("&")) {
      out = TRY(address());
    } else {
      out = TRY(place());
      if (!lost_) out = TRY(dressed(out));
    }
    --depth_;
    return out;
  }

  /// &x, as it is; of a function and of a reference &*f; of what has no type its address.
  Result<std::string> address() {
    std::string sign = take();
    bool named = now().kind == Token::Kind::kName;
    std::string name = now().text;
    size_t behind = at_ + 1;
    std::string out = TRY(place());
    if (lost_) return out;
    std::string code = TRY(compiles_(sign + out));
    if (code.empty() && named && at_ == behind && ask_.untyped) {
      auto found = TRY(ask_.untyped(name));
      if (found) return fmt::format("{}((char*){:#x})", sign.substr(0, sign.size() - 1), *found);
    }
    bool of_function = code == "const8 0;end;";
    bool starred = of_function || TRY(is_reference(out));
    return sign + (starred ? "*" : "") + out;
  }

  /// gdb takes it for a pointer.
  Result<bool> is_reference(const std::string& text) {
    if (!TRY(compiles_("$rax & (" + text + ")")).empty() || TRY(compiles_(text)).empty()) return false;
    return !TRY(compiles_("&*(" + text + ")")).empty() && TRY(compiles_("!(" + text + ")")).empty();
  }

  /// What may stand for memory: *p, (type)x, {type}x, a name with what follows it.
  Result<std::string> place() {
    if (++depth_ > kDeepest) return lost();
    std::string out;
    if (is("*")) {
      out = take();
      bool of_address = is("&");
      std::string one = TRY(of_address ? address() : place());
      bool followed = !of_address && !lost_ && TRY(is_reference(one));
      out += followed ? "(*" + one + ")" : one;
    } else if (is("{")) {
      out = taken_up_to("}");
      out += TRY(place());
    } else if (now().kind == Token::Kind::kName && now().text == "sizeof") {
      out = take();
      std::string of = is("(") ? taken_up_to(")") : TRY(place());
      out += !lost_ && TRY(is_reference(of)) ? "(*" + of + ")" : of;
      if (!lost_ && TRY(compiles_(out)) == "const8 0;end;")
        return fail("gdb cannot compile {}, which is not the same all the time", out.substr(out.find('s')));
    } else if (is("(") && TRY(is_cast())) {
      std::string type = type_here();
      bool to_bool = TRY(is_boolean(type));
      out = taken_up_to(")");
      // A constant gdb would cast, and then cut to an integer.
      if (TRY(compiles_(out + "$rax")).empty() && !TRY(compiles_(out + "1")).empty())
        return fail("floating-point numbers such as {}1 cannot be compiled", out.substr(out.find('(')));
      std::string one = TRY(operand());
      // Nor does it cut it to the size of an enumeration.
      std::string integer = ask_.enumeration ? TRY(ask_.enumeration(type)) : "";
      if (!integer.empty()) out = out.substr(0, out.find('(')) + "(" + integer + ")";
      if (!lost_ && !is_builtin(tokens_of(type)) && ask_.moves && TRY(ask_.moves(type, one)))
        return fail("gdb cannot compile a cast to {}, which lies elsewhere in the object", type);
      // gdb does not take an array for where it is.
      std::string first = "&(" + one + ")[0]";
      if (!lost_ && TRY(compiles_(out + one)).empty() && !TRY(compiles_(out + first)).empty()) one = first;
      // gdb would leave the number as it is.
      out += to_bool && !lost_ ? "(!!(" + one + "))" : one;
    } else {
      out = TRY(primary());
    }
    --depth_;
    return out;
  }

  /// Of a cast.
  std::string type_here() const {
    std::string type;
    for (size_t i = at_ + 1; tokens_[i].text != ")" && tokens_[i].kind != Token::Kind::kEnd; ++i)
      type += tokens_[i].space + tokens_[i].text;
    return type;
  }

  Result<bool> is_boolean(const std::string& type) {
    std::vector<Token> words = tokens_of(type);
    if (words.size() < 2 || words[words.size() - 2].kind != Token::Kind::kName) return false;
    const std::string& last = words[words.size() - 2].text;
    if (last == "bool" || last == "_Bool") return true;
    bool number = !TRY(compiles_("$rax & ((" + type + ")2)")).empty();
    return !number && ask_.is_boolean && TRY(ask_.is_boolean(type));
  }

  Result<std::string> primary() {
    std::string out;
    if (is("(")) {
      out = take();
      out += TRY(expression());
      if (!is(")")) return lost();
      out += take();
    } else if (now().kind == Token::Kind::kOperator && now().text == "::") {
      out = take();
      if (now().kind != Token::Kind::kName) return lost();
      out += take();
    } else if (now().kind == Token::Kind::kOperator || now().kind == Token::Kind::kEnd) {
      return lost();
    } else {
      out = take();
    }
    for (;;) {
      if (is("[")) {
        out += take();
        out += TRY(expression());
        if (!is("]")) return lost();
        out += take();
      } else if (is("(")) {
        out += taken_up_to(")");
      } else if (is(".") || is("->") || is("::")) {
        bool arrow = is("->"), scope = is("::");
        if (arrow) TRY_STATUS(check_arrow(out));
        std::string object = out;
        out += take();
        if (is("~") || is("*")) out += take();
        if (now().kind != Token::Kind::kName) return lost();
        std::string name = now().text;
        out += take();
        if (!scope && ask_.member && TRY(compiles_(out)).empty())
          out = TRY(ask_.member(object, arrow, name)).value_or(out);
      } else {
        return out;
      }
    }
  }

  /// gdb takes it for a dot, whatever the class says it is.
  Status check_arrow(const std::string& before) {
    bool object = TRY(compiles_(before)).empty() && TRY(compiles_("&*(" + before + ")")).empty() &&
                  !TRY(compiles_("&(" + before + ")")).empty();
    if (object) return fail("gdb cannot compile {}->, of an object", before);
    return {};
  }

  /// The bracket here and all up to the one that closes it, as they are.
  std::string taken_up_to(std::string_view close) {
    std::string open = now().text;
    std::string out;
    int depth = 0;
    do {
      if (now().kind == Token::Kind::kEnd) return lost();
      depth += is(open) ? 1 : is(close) ? -1 : 0;
      out += take();
    } while (depth > 0);
    return out;
  }

  /// Whether "(…)" here is a type. After a type comes an operand; where a sign could be either, gdb is asked
  /// what is inside.
  Result<bool> is_cast() {
    static const std::set<std::string_view> kEither = {"-", "+", "*", "&"};
    size_t start = at_;
    std::string inside = taken_up_to(")");
    bool either = is_any(kEither);
    bool operand_follows = now().kind == Token::Kind::kName || now().kind == Token::Kind::kNumber ||
                           now().kind == Token::Kind::kCharacter || is("(") || is("!") || is("~") || is("{");
    at_ = start;
    if (lost_) return false;
    bool nothing_but_names = true;
    for (size_t i = start + 1; tokens_[i].text != ")" && tokens_[i].kind != Token::Kind::kEnd; ++i)
      nothing_but_names &= tokens_[i].kind == Token::Kind::kName || tokens_[i].text == "*" ||
                           tokens_[i].text == "::" || tokens_[i].text == "&" || tokens_[i].text == "<" ||
                           tokens_[i].text == ">";
    if (!nothing_but_names) return false;
    if (!either) return operand_follows;
    return TRY(compiles_(inside)).empty();
  }

  /// gdb takes 0 for what X::m has in an object, and for what is constant and no integer.
  Status check_member(const std::string& bare, const std::string& code) {
    size_t qualified = bare.rfind("::");
    if (qualified == std::string::npos || code != "const8 0;end;") return {};
    bool member = TRY(compiles_("this->" + bare.substr(qualified + 2))).find("ref") != std::string::npos;
    if (member || TRY(compiles_("(long)(" + bare + ")")).empty()) return fail("gdb cannot compile {}", bare);
    return {};
  }

  /// What an enumeration, a boolean or a character becomes when it is computed with.
  Result<std::string> integer_type(const std::string& bare, const std::string& code) {
    bool constant = code.find("ref") == std::string::npos && code.find("reg") == std::string::npos;
    if (constant) {
      if (TRY(compiles_("sizeof(" + bare + ")")) == "const8 8;end;") {
        std::string integer = ask_.enumeration_of ? TRY(ask_.enumeration_of(bare)) : "";
        return integer.empty() ? "long" : integer;
      }
      bool cut = code.find("ext") != std::string::npos;
      bool large = code.starts_with("const64") || (!cut && code.starts_with("const32 ") &&
                                                   std::strtoull(code.c_str() + 8, nullptr, 10) > 0x7fffffff);
      return large ? "unsigned" : "int";
    }
    if (code.ends_with("ref64;end;") || code.ends_with("zero_ext 64;end;")) return "unsigned long";
    if (code.ends_with(";ext 64;end;")) return "long";
    return code.ends_with("ref32;end;") || code.ends_with("zero_ext 32;end;") ? "unsigned" : "int";
  }

  /// As a number: a reference is followed, an enumeration or boolean is cast. Which it is shows in what gdb
  /// does with it (beside a register: it computes what is constant, GREEN & 1, without a look at types).
  Result<std::string> dressed(const std::string& text) {
    size_t start = std::min(text.find_first_not_of(" \t\n"), text.size());
    std::string bare = text.substr(start);
    std::string space = text.substr(0, start);
    if (!bare.empty() && std::all_of(bare.begin(), bare.end(), [](char c) { return c >= '0' && c <= '9'; }))
      return text;
    std::string code = TRY(compiles_(bare));
    TRY_STATUS(check_member(bare, code));
    bool integer = !TRY(compiles_("$rax & (" + bare + ")")).empty();
    if (integer) return text;
    if (code.empty()) return text;  // an array, a structure, a function, a floating-point number
    bool points = !TRY(compiles_("&*(" + bare + ")")).empty();
    if (!points) {
      bool type = !TRY(compiles_("(" + bare + ")0")).empty();  // as in static_cast<int>(x)
      return type ? text : space + "(" + TRY(integer_type(bare, code)) + ")(" + bare + ")";
    }
    bool pointer = !TRY(compiles_("!(" + bare + ")")).empty();
    if (pointer) return text;
    std::string followed = TRY(dressed("(*" + bare + ")"));
    return space + followed;
  }

  std::vector<Token> tokens_;
  const TryCompile& compiles_;
  const Ask& ask_;
  size_t at_ = 0;
  int depth_ = 0;
  bool lost_ = false;
};

/// gdb stops at a parenthesis too many, at `if` and at `thread 1`, and takes what it has read for the whole.
Status check_end(const std::vector<Token>& tokens) {
  int depth = 0;
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    const Token& token = tokens[i];
    bool opens = token.kind == Token::Kind::kOperator && (token.text == "(" || token.text == "[");
    bool closes = token.kind == Token::Kind::kOperator && (token.text == ")" || token.text == "]");
    depth += opens ? 1 : closes ? -1 : 0;
    bool is_name = token.kind == Token::Kind::kName;
    if (depth < 0 || (is_name && token.text == "if") ||
        (is_name && tokens[i + 1].kind == Token::Kind::kNumber))
      return fail("A syntax error in expression, near `{}'.", token.text);
  }
  return {};
}

/// To anything but a number: gdb takes it for a plain one, which leads to no other part of an object.
bool casts_objects(const std::vector<Token>& tokens) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].text != "static_cast" && tokens[i].text != "dynamic_cast") continue;
    size_t begin = i + 2, end = begin;  // behind the "<"
    while (end < tokens.size() && !tokens[end].text.starts_with('>')) ++end;
    if (begin >= end || end == tokens.size()) return true;
    if (!is_builtin({tokens.begin() + static_cast<ptrdiff_t>(begin), tokens.begin() + static_cast<ptrdiff_t>(end)}))
      return true;
  }
  return false;
}

}  // namespace

Result<std::string> translate(const std::string& expression, const TryCompile& compiles, const Ask& ask) {
  std::vector<Token> tokens = tokens_of(expression);
  TRY_STATUS(check_end(tokens));
  if (casts_objects(tokens)) return fail("gdb cannot compile casts within objects");
  std::string as_it_is;
  for (Token& token : tokens) {
    if (token.kind == Token::Kind::kNumber && is_floating(token.text))
      return fail("floating-point numbers such as {} cannot be compiled", token.text);
    if (token.kind == Token::Kind::kCharacter) {
      if (auto value = character_value(token.text)) token.text = fmt::format("((char){})", *value);
    }
    as_it_is += token.space + token.text;
  }
  Translator translator(std::move(tokens), compiles, ask);
  auto translated = TRY(translator.whole());
  return translated ? std::move(*translated) : as_it_is;
}

}  // namespace pastcone::gdb
