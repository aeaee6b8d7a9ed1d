// Puts formulas together: an expression is taken apart until gdb compiles the pieces.
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <iterator>
#include <map>
#include <set>

#include "pastcone/gdb/compile.h"
#include "pastcone/gdb/containers.h"
#include "pastcone/gdb/formula_node.h"
#include "pastcone/gdb/syntax.h"
#include "pastcone/gdb/translate.h"

namespace pastcone::gdb {
namespace {

using Node = Formula::Node;
using Kind = Node::Kind;
using Codes = std::vector<AgentExpression>;

constexpr std::string_view kTypeIs = "type = ";

/// gdb says it of a number that it does not fetch.
std::string floating_type_in(const std::string& error) {
  constexpr std::string_view kBefore = "gen_fetch: Unsupported type code `";
  if (!error.starts_with(kBefore)) return {};
  return error.substr(kBefore.size(), error.find('\'', kBefore.size()) - kBefore.size());
}

class Builder {
 public:
  Builder(Gdb& gdb, const std::string& location) : gdb_(gdb), location_(location) {}

  Result<Node> whole(const std::string& expression) {
    Syntax syntax = TRY(parse_syntax(expression, [this](const std::string& name) { return is_type(name); }));
    return any(syntax);
  }

 private:
  tl::unexpected<Error> lost(const std::string& text) { return fail("'{}' is not understood", text); }

  Result<bool> is_type(const std::string& name) {
    auto known = types_.find(name);
    if (known != types_.end()) return known->second;
    Answer answer = TRY(compile_as_it_is(gdb_, "(" + name + ")0", location_));
    bool no = !answer.good && (answer.error.starts_with("A syntax error") || answer.error.starts_with("No "));
    return types_[name] = !no;
  }

  Result<NumberType> type_named(const std::string& name) {
    if (auto type = number_type(name)) return *type;
    Answer answer = TRY(gdb_.console("ptype " + name));
    std::string text =
        answer.good && answer.console.starts_with(kTypeIs) ? answer.console.substr(kTypeIs.size()) : "";
    auto type = number_type(text.substr(0, text.find('\n')));
    if (!type) return lost(name);
    return *type;
  }

  /// One that may be computed with.
  Result<Node> number(const Syntax& syntax) {
    Node node = TRY(any(syntax));
    if (node.pointer || node.sign_only) return lost(syntax.text);
    return node;
  }

  Result<Node> any(const Syntax& syntax) {
    switch (syntax.kind) {
      case Syntax::Kind::kOperand:
        return operand(syntax.text);
      case Syntax::Kind::kFloating: {
        auto constant = floating_constant(syntax.text);
        if (!constant) return lost(syntax.text);
        Node node;
        node.type = constant->type;
        node.constant = *constant;
        return node;
      }
      case Syntax::Kind::kString:
        return lost(syntax.text);
      case Syntax::Kind::kCall:
        return call(syntax);
      default:
        break;
    }
    if (auto codes = compile_all(gdb_, syntax.text, location_)) return value(syntax.text, std::move(*codes));
    Node node;
    if (syntax.kind == Syntax::Kind::kCast) {
      node.kind = Kind::kCast;
      node.type = TRY(type_named(syntax.sign));
      node.parts.push_back(TRY(number(syntax.parts[0])));
      return node;
    }
    if (syntax.kind == Syntax::Kind::kUnary) return unary(syntax);
    if (syntax.kind == Syntax::Kind::kChoice) {
      node.kind = Kind::kChoice;
      node.parts.push_back(TRY(any(syntax.parts[0])));
      node.parts.push_back(TRY(number(syntax.parts[1])));
      node.parts.push_back(TRY(number(syntax.parts[2])));
      return node;
    }
    return binary(syntax);
  }

  Result<Node> unary(const Syntax& syntax) {
    Node node;
    bool tests = syntax.sign == "!";
    node.kind = tests                ? Kind::kNot
                : syntax.sign == "-" ? Kind::kNegate
                : syntax.sign == "+" ? Kind::kKeep
                                     : Kind::kComplement;
    node.parts.push_back(TRY(tests ? any(syntax.parts[0]) : number(syntax.parts[0])));
    return node;
  }

  Result<Node> binary(const Syntax& syntax) {
    Node node;
    if (syntax.sign == "&&" || syntax.sign == "||") {
      node.kind = syntax.sign == "&&" ? Kind::kAnd : Kind::kOr;
      for (const Syntax& part : syntax.parts) node.parts.push_back(TRY(any(part)));
      return node;
    }
    auto operation = arithmetic_of(syntax.sign);
    if (!operation) return lost(syntax.sign);
    node.kind = Kind::kArithmetic;
    node.operation = *operation;
    for (const Syntax& part : syntax.parts) node.parts.push_back(TRY(any(part)));
    bool compares = *operation >= Arithmetic::kEqual;
    for (size_t i : {0u, 1u}) {
      const Node& part = node.parts[i];
      bool of_zero = compares && is_zero(node.parts[1 - i]);
      bool to_nothing = part.pointer && operation <= Arithmetic::kUnequal &&
                        (part.kind == Kind::kTextFunction || part.kind == Kind::kCall);
      if ((part.pointer && !(of_zero && to_nothing)) || (part.sign_only && !of_zero))
        return lost(syntax.text);
    }
    return node;
  }

  static bool is_zero(const Node& node) {
    if (node.kind != Kind::kValue || node.pointer || !node.codes[0].reads_nothing()) return false;
    auto value = node.codes[0].evaluate([](uint64_t, void*, size_t) { return false; }, [](int) { return 0; });
    return value && value->value == 0;
  }

  Result<Node> operand(const std::string& text) {
    auto codes = compile_all(gdb_, text, location_);
    if (codes) return value(text, std::move(*codes));
    std::string type = floating_type_in(codes.error().message);
    if (type.empty()) return lost(text);
    Node node;
    node.kind = Kind::kMemory;
    node.type = TRY(type_named(type));
    if (!node.type.is_floating()) return lost(text);
    // gdb takes a reference for the pointer that it is.
    Answer as_it_is = TRY(compile_as_it_is(gdb_, text, location_));
    node.codes = as_it_is.good ? TRY(AgentExpression::parse_all(as_it_is.console))
                               : TRY(compile_all(gdb_, "&(" + text + ")", location_));
    TRY_STATUS(check_places(node.codes));
    return node;
  }

  /// What gdb compiles: an integer, or a pointer.
  Result<Node> value(const std::string& text, Codes codes) {
    Node node;
    node.kind = Kind::kValue;
    node.codes = std::move(codes);
    node.type = kUnsignedLong;
    TRY_STATUS(check_places(node.codes));
    node.pointer = !compile_all(gdb_, "$rax & (" + text + ")", location_);
    if (node.pointer) return node;
    // No constant on both sides, which gdb would compute at once.
    Codes below_zero = TRY(compile_all(gdb_, "(" + text + ") < *(int*)0", location_));
    Codes size = TRY(compile_all(gdb_, "sizeof(" + text + ")", location_));
    auto bytes = size[0].evaluate([](uint64_t, void*, size_t) { return false; }, [](int) { return 0; });
    auto is_unsigned = below_zero[0].compares_unsigned();
    if (!bytes || !is_unsigned || bytes->value > 8) return lost(text);
    node.type = {NumberType::Format::kInteger, static_cast<uint8_t>(bytes->value > 4 ? 8 : 4), *is_unsigned};
    return node;
  }

  /// All pieces are for the same places, in which they have the same type.
  Status check_places(const Codes& codes) {
    if (scopes_.empty()) {
      for (const AgentExpression& code : codes) scopes_.push_back(code.scope());
      for (uint64_t scope : scopes_) {
        if (scopes_.size() == 1) break;
        if (TRY(gdb_.console(fmt::format("info symbol {:#x}", scope))).console.find('<') != std::string::npos)
          return fail("a template may mean several types");
      }
    }
    bool same = std::ranges::equal(codes, scopes_, {}, &AgentExpression::scope);
    return same ? Status() : fail("several places are meant");
  }

  Result<Node> call(const Syntax& syntax) {
    auto form = text_function(syntax.sign);
    bool of_libc = form && syntax.parts.size() == form->texts + (form->number ? 1 : 0);
    if (of_libc) {
      std::string where = TRY(gdb_.console("info symbol " + syntax.sign)).console;
      of_libc = where.find("/libc.so") != std::string::npos || where.find("/ld-linux") != std::string::npos;
    }
    return of_libc ? text_call(syntax, *form) : function_call(syntax);
  }

  Result<Node> text_call(const Syntax& syntax, const TextFunctionForm& form) {
    Node node;
    node.kind = Kind::kTextFunction;
    node.function = form.function;
    node.sign_only = form.sign_only;
    node.pointer = form.pointer;
    node.type = form.sign_only ? kInt : kUnsignedLong;
    for (size_t i = 0; i < form.texts; ++i) node.parts.push_back(TRY(text(syntax.parts[i])));
    bool in_literal = form.pointer && node.parts[0].kind == Kind::kText;
    if (in_literal) return lost(syntax.text);
    if (form.number) {
      Node count = TRY(number(syntax.parts.back()));
      if (count.kind != Kind::kValue) return lost(syntax.text);
      node.parts.push_back(std::move(count));
    }
    return node;
  }

  Result<Node> function_call(const Syntax& syntax) {
    Signature signature = TRY(signature_of(syntax.sign));
    if (signature.parameters.size() != syntax.parts.size()) return lost(syntax.text);
    Node node;
    node.kind = Kind::kCall;
    node.codes = TRY(compile_all(gdb_, "(unsigned long)&*" + syntax.sign, location_));
    TRY_STATUS(check_places(node.codes));
    // There may be another one of that name where the expression is looked at.
    auto address =
        node.codes[0].evaluate([](uint64_t, void*, size_t) { return false; }, [](int) { return 0; });
    if (!address || static_cast<uint64_t>(address->value) != signature.address) return lost(syntax.text);
    node.pointer = is_pointer(signature.result);
    node.type = node.pointer ? kUnsignedLong : TRY(result_type(signature.result));
    size_t integers = 0, others = 0;
    for (size_t i = 0; i < syntax.parts.size(); ++i) {
      node.parts.push_back(TRY(argument(syntax.parts[i], signature.parameters[i])));
      ++(node.parts.back().type.is_floating() ? others : integers);
    }
    if (integers > 6 || others > 8) return lost(syntax.text);
    return node;
  }

  Result<Node> argument(const Syntax& syntax, const std::string& type) {
    if (is_pointer(type)) {
      Node pointer = TRY(text(syntax));
      pointer.type = kUnsignedLong;
      return pointer;
    }
    Node node;
    node.kind = Kind::kCast;
    node.type = TRY(type_named(type));
    if (node.type.format == NumberType::Format::kLongDouble) return lost(syntax.text);
    node.parts.push_back(TRY(number(syntax)));
    return node;
  }

  Result<NumberType> result_type(const std::string& name) {
    if (name == "bool" || name == "_Bool") return NumberType{NumberType::Format::kInteger, 1, true};
    NumberType type = TRY(type_named(name));
    if (type.format == NumberType::Format::kLongDouble) return lost(name);
    return type;
  }

  /// To something that has one address, whatever it is seen as.
  bool is_pointer(const std::string& type) {
    size_t star = type.find('*');
    if (star == std::string::npos || type.find('(') != std::string::npos) return false;
    std::string to = type.substr(0, type.find_last_not_of(' ', star - 1) + 1);
    return !in_cxx_ || to == "void" || to == "const void" || number_type(to);
  }

  struct Signature {
    uint64_t address = 0;
    std::string result;
    std::vector<std::string> parameters;
  };

  /// Of a function that there is one of, and that gdb knows all about.
  Result<Signature> signature_of(const std::string& name) {
    in_cxx_ = TRY(gdb_.console("show language")).console.find("c++") != std::string::npos;
    Answer told = TRY(gdb_.console("whatis " + name));
    size_t end = told.console.find('\n'), open = told.console.rfind('(', end);
    bool function = told.good && told.console.starts_with(kTypeIs) && open != std::string::npos &&
                    told.console[end - 1] == ')';
    if (!function) return lost(name);
    Signature signature;
    signature.result = told.console.substr(kTypeIs.size(), open - kTypeIs.size());
    while (signature.result.ends_with(' ')) signature.result.pop_back();
    if (signature.result.find('(') != std::string::npos) return lost(name);
    std::string list = told.console.substr(open + 1, end - open - 2);
    while (!list.empty() && list != "void") {
      size_t comma = std::min(list.find(", "), list.size());
      signature.parameters.push_back(list.substr(0, comma));
      list.erase(0, comma + 2);
    }
    Codes places = TRY(compile_all(gdb_, "1", name));
    Answer address = TRY(gdb_.run("-data-evaluate-expression " + c_string("(unsigned long)&" + name)));
    auto number = address.good ? address.results["value"].number() : std::nullopt;
    if (!number || !TRY(is_only_function(places, name, *number))) return lost(name);
    signature.address = *number;
    return signature;
  }

  /// Whether of the places that a name has all are in the function there, or in others that it is inlined
  /// into.
  Result<bool> is_only_function(const Codes& places, const std::string& name, uint64_t address) {
    for (const AgentExpression& place : places) {
      std::string symbol = TRY(gdb_.console(fmt::format("info symbol {:#x}", place.scope()))).console;
      size_t end = symbol.find(" in section"), plus = symbol.rfind(" + ", end);
      uint64_t offset = plus == std::string::npos ? 0 : std::strtoull(symbol.c_str() + plus + 3, nullptr, 10);
      bool inlined = end != std::string::npos && symbol.substr(0, end).find(name) == std::string::npos;
      if (!inlined && place.scope() - offset != address) return false;
    }
    return !places.empty();
  }

  /// Where a string is.
  Result<Node> text(const Syntax& syntax) {
    Node node;
    if (syntax.kind == Syntax::Kind::kString) {
      auto bytes = string_value(syntax.text);
      if (!bytes) return lost(syntax.text);
      node.kind = Kind::kText;
      node.text = std::move(*bytes);
      return node;
    }
    node.kind = Kind::kValue;
    node.pointer = true;
    auto pointer = compile_all(gdb_, "(char*)(" + syntax.text + ")", location_);
    if (!pointer) pointer = compile_all(gdb_, "(char*)&(" + syntax.text + ")[0]", location_);
    if (!pointer) return lost(syntax.text);
    node.codes = std::move(*pointer);
    TRY_STATUS(check_places(node.codes));
    return node;
  }

 public:
  Result<std::vector<uint64_t>> scopes() {
    if (!scopes_.empty()) return scopes_;
    Codes places = TRY(compile_all(gdb_, "1", location_));
    TRY_STATUS(check_places(places));
    return scopes_;
  }

 private:
  Gdb& gdb_;
  const std::string& location_;
  std::vector<uint64_t> scopes_;
  std::map<std::string, bool> types_;
  bool in_cxx_ = false;
};

Result<std::vector<Formula>> compile_at(Gdb& gdb, const std::string& expression,
                                        const std::string& location) {
  std::vector<Formula> formulas;
  auto codes = compile_all(gdb, expression, location);
  if (codes) {
    for (AgentExpression& code : *codes) formulas.emplace_back(std::move(code));
    return formulas;
  }
  if (!is_only_uncompiled(codes.error().message)) return tl::unexpected<Error>(codes.error());
  Builder builder(gdb, location);
  auto root = builder.whole(expression);
  auto scopes = root ? builder.scopes() : tl::unexpected<Error>(root.error());
  if (!scopes) return tl::unexpected<Error>(codes.error());
  auto shared = std::make_shared<const Node>(std::move(*root));
  for (size_t i = 0; i < scopes->size(); ++i) formulas.emplace_back(shared, i, (*scopes)[i]);
  return formulas;
}

/// gdb says of a member that a class has not which class that is. Of a pointer it says it of the class there.
std::string class_of(Gdb& gdb, const std::string& expression, const std::string& location) {
  constexpr std::string_view kBefore = "Couldn't find member named `no_such_member' in struct/union/class `";
  auto compile = [&](const std::string& format) {
    return compile_all(gdb, fmt::format(fmt::runtime(format), expression), location);
  };
  auto member = compile("({}).no_such_member");
  if (member || !member.error().message.starts_with(kBefore)) return {};
  bool pointer = compile("!({})") || compile("!(*({}))");  // the latter: a reference to one
  if (pointer) return {};
  std::string name = member.error().message.substr(kBefore.size());
  return name.substr(0, name.rfind('\''));
}

/// Whether an expression that is not compiled may still be one about containers (containers.h).
bool may_have_methods(const std::string& error) {
  bool of_library =
      error.starts_with("Couldn't find member named") && error.find("`std::") != std::string::npos;
  return of_library || is_only_uncompiled(error);
}

/// What gdb (13) does not know: nullptr, and what a C program has from macros.
std::string without_constants(const std::string& expression, const std::string& unknown) {
  static const std::map<std::string, std::string> kValues = {
      {"nullptr", "0"}, {"NULL", "0"}, {"true", "1"}, {"false", "0"}};
  std::string out;
  for (const Token& token : tokens_of(expression)) {
    bool meant =
        token.kind == Token::Kind::kName && unknown == "No symbol \"" + token.text + "\" in current context.";
    auto value = meant ? kValues.find(token.text) : kValues.end();
    out += token.space + (value == kValues.end() ? token.text : value->second);
  }
  return out;
}

Result<std::vector<Formula>> compile_rewritten(Gdb& gdb, const std::string& given,
                                               const std::string& location) {
  std::string expression = given;
  auto all = compile_at(gdb, expression, location);
  while (!all) {
    std::string known = without_constants(expression, all.error().message);
    if (known == expression) break;
    expression = std::move(known);
    all = compile_at(gdb, expression, location);
  }
  if (all || !may_have_methods(all.error().message)) return all;
  // gdb would tell of the first place only.
  auto places = compile_all(gdb, "1", location);
  if (!places || places->size() > 1) return all;
  std::string plain =
      with_members(expression, [&](const std::string& text) { return class_of(gdb, text, location); });
  if (plain == expression) return all;
  auto by_members = compile_at(gdb, plain, location);
  return by_members ? by_members : all;
}

/// A function by its name alone: neither FILE:LINE nor options nor an address.
bool is_function_name(const std::string& location) {
  if (location.empty() || (std::isalpha(static_cast<unsigned char>(location[0])) == 0 && location[0] != '_'))
    return false;
  for (size_t at = location.find(':'); at != std::string::npos; at = location.find(':', at + 2))
    if (location.compare(at, 2, "::") != 0) return false;
  return true;
}

/// FILE:FUNCTION for each file that has such a function.
Result<std::set<std::string>> by_files(Gdb& gdb, const std::string& function) {
  std::set<std::string> places;
  Answer answer = TRY(gdb.run(fmt::format("-break-insert {}", c_string(function))));
  if (!answer.good) return places;
  const Value& point = answer.results["bkpt"];
  TRY(gdb.run(fmt::format("-break-delete {}", point["number"].text)));
  for (const auto& [name, place] : point["locations"].items)
    if (!place["file"].text.empty()) places.insert(fmt::format("{}:{}", place["file"].text, function));
  return places;
}

}  // namespace

Result<std::vector<Formula>> compile_formulas(Gdb& gdb, const std::string& expression,
                                              const std::string& location) {
  auto all = compile_rewritten(gdb, expression, location);
  bool unknown = !all && all.error().message.starts_with("No symbol ");
  if (!unknown || !is_function_name(location)) return all;
  // Of several functions of that name, those are meant that have what is named.
  std::vector<Formula> some;
  for (const std::string& place : TRY(by_files(gdb, location)))
    if (auto there = compile_rewritten(gdb, expression, place))
      std::ranges::move(*there, std::back_inserter(some));
  if (some.empty()) return all;
  return some;
}

Result<Formula> compile_formula(Gdb& gdb, const std::string& expression, const std::string& location) {
  auto all = TRY(compile_formulas(gdb, expression, location));
  if (all.size() > 1) return fail("{} means {} places", location, all.size());
  return std::move(all.front());
}

}  // namespace pastcone::gdb
