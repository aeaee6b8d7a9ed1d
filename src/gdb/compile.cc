#include "pastcone/gdb/compile.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "pastcone/gdb/translate.h"

namespace pastcone::gdb {
namespace {

/// Asked for to be told what has no such member.
constexpr std::string_view kNoMember = "no_such_member";

/// gdb's instructions without their places: "const8 0;end;".
std::string instructions(const std::string& maint_output) {
  std::string out;
  size_t at = 0;
  while (at < maint_output.size()) {
    size_t end = std::min(maint_output.find('\n', at), maint_output.size());
    std::string line = maint_output.substr(at, end - at);
    at = end + 1;
    size_t digits = std::min(line.find_first_not_of(' '), line.size());
    size_t name = line.find("  ", digits);
    if (digits == line.size() || name == std::string::npos || line[digits] < '0' || line[digits] > '9')
      continue;
    out += line.substr(name + 2) + ';';
  }
  return out;
}

/// In quotes where gdb would read on behind the name of an operator: "operator<, x".
std::string quoted(const std::string& location) {
  constexpr std::string_view kOperator = "operator", kEnds = "<>=+-*/%^&|~!,()[] ";
  size_t at = location.find(kOperator), end = at + kOperator.size();
  bool names_operator = at != std::string::npos && end < location.size() && kEnds.find(location[end]) != std::string_view::npos;
  bool plain = location.find_first_of("'\"") == std::string::npos && !location.starts_with('*');
  return names_operator && plain ? "'" + location + "'" : location;
}

std::string command(const std::string& expression, const std::string& location) {
  std::string at = location.empty() ? "" : fmt::format("-at {}, ", quoted(location));
  return fmt::format("maint agent-eval {}{}", at, expression);
}

/// gdb's words in one line, or ours where gdb's mean nothing to a user.
std::string reason(const Answer& answer, const std::string& location) {
  std::string text = answer.error.substr(0, answer.error.find('\n'));
  if (text == "No registers." && location.empty()) return "No process: say where (a function, or FILE:LINE).";
  if (text == "Command aborted.") return "gdb cannot compile a value of this size.";
  return text;
}

bool is_thread_local(const Answer& answer) {
  return answer.error.find("DW_OP_form_tls_address") != std::string::npos;
}

/// A pointer to `type`: int *, int (*)[4], void (**)(int).
std::string pointer_to(std::string type) {
  if (size_t at = type.find("(*"); at != std::string::npos) return type.insert(at + 1, "*");
  if (size_t at = type.find('['); at != std::string::npos) return type.insert(at, "(*)");
  return type + " *";
}

/// Variables of each thread by where they are from its $fs_base on. What lies elsewhere in each stays as it
/// is.
Result<std::string> by_thread_pointer(Gdb& gdb, const std::string& expression, const std::string& location) {
  constexpr int64_t kFarthest = 1 << 20;
  std::string out, before;
  for (const Token& token : tokens_of(expression)) {
    std::string text = token.text;
    bool may_be =
        token.kind == Token::Kind::kName && before != "." && before != "->" && !text.starts_with('$');
    if (may_be && is_thread_local(TRY(gdb.console(command(text, location))))) {
      Answer type = TRY(gdb.console("whatis/r " + text));
      Answer distance = TRY(gdb.run("-data-evaluate-expression " +
                                    c_string(fmt::format("(long)((char*)&{} - (char*)$fs_base)", text))));
      int64_t far = distance.good ? std::strtoll(distance.results["value"].text.c_str(), nullptr, 10) : 0;
      constexpr std::string_view kBefore = "type = ";
      if (type.good && type.console.starts_with(kBefore) && far < 0 && far > -kFarthest) {
        std::string named = type.console.substr(kBefore.size(), type.console.find('\n') - kBefore.size());
        text = fmt::format("(*({})((char*)$fs_base - {}))", pointer_to(named), -far);
      }
    }
    out += token.space + text;
    before = token.text;
  }
  return out;
}

/// The class of an object, as gdb calls it where it does not find a member; empty: it is none; "?": it has virtual
/// bases, among which gdb cannot look.
Result<std::string> class_of(Gdb& gdb, const std::string& object, const std::string& location) {
  constexpr std::string_view kBefore = "Couldn't find member named `no_such_member' in struct/union/class `";
  Answer answer = TRY(gdb.console(command("(" + object + ").no_such_member", location)));
  if (answer.error.starts_with("Command aborted.")) return "?";
  if (answer.good || !answer.error.starts_with(kBefore)) return "";
  std::string name = answer.error.substr(kBefore.size());
  return name.substr(0, name.rfind('\''));
}

/// So that gdb takes it for one name, whatever it is made of; but two letters in quotes are a character to it.
std::string class_name(const std::string& name) {
  constexpr size_t kCharacter = 2;
  return name.size() > kCharacter ? "'" + name + "'" : name;
}

/// A type as it is behind all typedefs, without its own qualifiers: "struct B2 {...} *", "enum color {RED}".
Result<std::string> plain_type(Gdb& gdb, const std::string& type) {
  constexpr std::string_view kBefore = "type = ";
  std::string told = TRY(gdb.console("ptype " + type)).console;
  if (!told.starts_with(kBefore)) return "";
  told = told.substr(kBefore.size(), told.find_last_not_of(" \n") + 1 - kBefore.size());
  std::string_view plain = told;
  for (std::string_view word : {"const ", "volatile ", "const "})
    if (plain.starts_with(word)) plain.remove_prefix(word.size());
  for (std::string_view word : {" const", " volatile", " const"})
    if (plain.ends_with(word)) plain.remove_suffix(word.size());
  return std::string(plain);
}

/// Whether a cast leads from an object to another part of it, as where a class has several bases. gdb knows,
/// but not in what it compiles. Asked is the way from the class to its base, for which gdb reads no object.
Result<bool> moves(Gdb& gdb, const std::string& type, const std::string& operand,
                   const std::string& location) {
  constexpr uint64_t kSomewhere = 0x100000;
  std::string plain = TRY(plain_type(gdb, type));
  bool reference = plain.ends_with('&');
  if (!reference && !plain.ends_with('*')) return false;
  std::string to = reference ? type.substr(0, type.find_last_not_of("& ") + 1) + "*" : type;
  std::string from_class = TRY(class_of(gdb, reference ? operand : "*(" + operand + ")", location));
  std::string to_class = TRY(class_of(gdb, "*((" + to + ")0)", location));
  if (from_class.empty() || to_class.empty()) return false;
  if (from_class == "?" || to_class == "?") return true;
  if (from_class == to_class) return false;
  // None: gdb would have to look at an object. It would both ways only if one is a virtual base of the other.
  auto base_moves = [&](const std::string& derived, const std::string& base) -> Result<std::optional<bool>> {
    Answer answer = TRY(
        gdb.run("-data-evaluate-expression " + c_string(fmt::format("(unsigned long)({}*)({}*){}", class_name(base),
                                                                   class_name(derived), kSomewhere))));
    if (!answer.good && answer.error.find("annot access memory") != std::string::npos) return std::nullopt;
    return answer.good && answer.results["value"].number() != kSomewhere;
  };
  auto up = TRY(base_moves(from_class, to_class)), down = TRY(base_moves(to_class, from_class));
  return (!up && !down) || up.value_or(false) || down.value_or(false);
}

/// What an enumeration is stored as; empty: it is none.
Result<std::string> stored_as(Gdb& gdb, const std::string& type) {
  std::string told = TRY(plain_type(gdb, type));
  if (told.find("enum") != 0 || told.back() != '}') return "";
  auto value = [&](const std::string& expression) -> Result<std::optional<uint64_t>> {
    Answer answer = TRY(gdb.run("-data-evaluate-expression " + c_string(expression)));
    return answer.good ? answer.results["value"].number() : std::nullopt;
  };
  auto size = TRY(value("sizeof(" + type + ")")), is_signed = TRY(value("(" + type + ")-1 < 0 ? 1 : 0"));
  static const std::map<uint64_t, std::string> kNames = {{1, "char"}, {2, "short"}, {4, "int"}, {8, "long"}};
  auto name = kNames.find(size.value_or(0));
  if (name == kNames.end() || !is_signed) return "";
  return (*is_signed != 0 ? "signed " : "unsigned ") + name->second;
}

/// Whether there is only one type of that name, so that it is the one that is meant.
Result<bool> is_only_one(Gdb& gdb, const std::string& name) {
  std::string told = TRY(gdb.console("info types ^" + name + "$")).console;
  size_t listed = 0, typedefs = 0;
  for (size_t at = told.find(';'); at != std::string::npos; at = told.find(';', at + 1)) ++listed;
  for (size_t at = told.find("typedef "); at != std::string::npos; at = told.find("typedef ", at + 1)) ++typedefs;
  return listed - typedefs == 1 && name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:") ==
                            std::string::npos;
}

/// A member of an anonymous union or structure in an object, by where it is.
Result<std::optional<std::string>> member_within(Gdb& gdb, const std::string& object, bool arrow,
                                                 const std::string& name, const std::string& location) {
  Answer answer = TRY(gdb.console(command("(" + object + ")" + (arrow ? "->" : ".") + name, location)));
  if (answer.good || !answer.error.starts_with("Couldn't find member")) return std::nullopt;
  size_t begin = answer.error.rfind('`'), end = answer.error.rfind('\'');
  if (begin == std::string::npos || end <= begin + 1) return fail("gdb cannot compile {}, a member", name);
  std::string of = answer.error.substr(begin + 1, end - begin - 1);
  if (name == kNoMember || of.starts_with("std::")) return std::nullopt;
  if (!TRY(is_only_one(gdb, of))) return fail("gdb cannot compile {}, a member of what has no name", name);
  for (const std::string& type : {"struct " + of, "union " + of, class_name(of)}) {
    constexpr std::string_view kBefore = "type = ";
    std::string there = fmt::format("(({}*)0)->{}", type, name);
    Answer told = TRY(gdb.console("whatis/r " + there));
    if (!told.good || !told.console.starts_with(kBefore)) continue;
    std::string named = told.console.substr(kBefore.size(), told.console.find('\n') - kBefore.size());
    Answer place = TRY(gdb.run("-data-evaluate-expression " + c_string("(unsigned long)&" + there)));
    auto offset = place.good ? place.results["value"].number() : std::nullopt;
    if (!offset || named.find('{') != std::string::npos)
      return fail("gdb cannot compile {}, a member of what has no name", name);
    return fmt::format("(*({})((char*){}({}) + {}))", pointer_to(named), arrow ? "" : "&", object, *offset);
  }
  return std::nullopt;
}

/// A name, what it is a member of, and perhaps the address of all that.
bool is_plain(const std::string& expression) {
  static const std::set<std::string_view> kPlain = {".", "->", "::", "(", ")"};
  std::vector<Token> tokens = tokens_of(expression);
  tokens.pop_back();
  if (!tokens.empty() && tokens.front().text == "&") tokens.erase(tokens.begin());
  return std::ranges::all_of(tokens, [](const Token& token) {
    return token.kind == Token::Kind::kName || kPlain.contains(token.text);
  });
}

}  // namespace

std::optional<std::string> with_return_types(const std::string& expression, const std::string& error) {
  constexpr const char* kSize = "unsigned long";
  static const std::map<std::string, std::string> kTypes = {
      {"strcmp", "int"},    {"strncmp", "int"},  {"strcasecmp", "int"}, {"strncasecmp", "int"},
      {"memcmp", "int"},    {"strlen", kSize},   {"strnlen", kSize},    {"strchr", "char*"},
      {"strrchr", "char*"}, {"strstr", "char*"}, {"abs", "int"},        {"__errno_location", "int*"}};
  if (error.find("has unknown return type") == std::string::npos) return {};
  std::string out;
  bool changed = false, after_cast = false;
  for (const Token& token : tokens_of(expression)) {
    auto type = token.kind == Token::Kind::kName && !after_cast ? kTypes.find(token.text) : kTypes.end();
    out += token.space;
    if (type != kTypes.end()) out += "(" + type->second + ")";
    changed = changed || type != kTypes.end();
    out += token.text;
    after_cast = token.text == ")" || token.text == "." || token.text == "->";
  }
  return changed ? std::optional(out) : std::nullopt;
}

bool is_only_uncompiled(const std::string& error) {
  for (const char* wrong : {"No ", "Function ", "A syntax error", "Couldn't find member", "There is no",
                            "Junk", "Unmatched", "Structure has no", "Cannot find thread-local"})
    if (error.starts_with(wrong)) return false;
  return true;
}

Result<Answer> compile_as_it_is(Gdb& gdb, const std::string& expression, const std::string& location) {
  return gdb.console(command(expression, location));
}

Result<std::vector<AgentExpression>> compile_all(Gdb& gdb, const std::string& given,
                                                 const std::string& location) {
  std::string expression = given;
  TryCompile compiles = [&](const std::string& piece) -> Result<std::string> {
    Answer answer = TRY(gdb.console(command(piece, location)));
    return answer.good ? instructions(answer.console) : "";
  };
  Ask ask;
  ask.untyped = [&](const std::string& name) -> Result<std::optional<uint64_t>> {
    bool untyped =
        TRY(gdb.console("whatis '" + name + "'")).console.find("no debug info") != std::string::npos;
    if (!untyped) return std::nullopt;
    Answer answer = TRY(gdb.run("-data-evaluate-expression " + c_string("(unsigned long)&'" + name + "'")));
    return answer.good ? answer.results["value"].number() : std::nullopt;
  };
  ask.is_boolean = [&](const std::string& type) -> Result<bool> {
    std::string told = TRY(gdb.console("ptype " + type)).console;
    return told.find("bool\n") != std::string::npos || told.find("_Bool\n") != std::string::npos;
  };
  ask.enumeration = [&](const std::string& type) { return stored_as(gdb, type); };
  ask.enumeration_of = [&](const std::string& value) -> Result<std::string> {
    std::string told = TRY(gdb.console("whatis " + value)).console;
    constexpr std::string_view kBefore = "type = ";
    bool named = told.starts_with(kBefore) && told.find('{') == std::string::npos;
    return named ? stored_as(gdb, told.substr(kBefore.size(), told.find('\n') - kBefore.size())) : std::string();
  };
  ask.moves = [&](const std::string& type, const std::string& operand) {
    return moves(gdb, type, operand, location);
  };
  ask.member = [&](const std::string& object, bool arrow, const std::string& name) {
    return member_within(gdb, object, arrow, name, location);
  };
  Answer as_it_is = TRY(gdb.console(command(expression, location)));
  if (is_thread_local(as_it_is)) {
    expression = TRY(by_thread_pointer(gdb, given, location));
    as_it_is = TRY(gdb.console(command(expression, location)));
  }
  // What names nothing, or no place, is said of what the user wrote.
  bool hopeless =
      !as_it_is.good && (as_it_is.error.starts_with("No ") || as_it_is.error.starts_with("Function "));
  if (hopeless) return fail("{}", reason(as_it_is, location));
  std::string translated = TRY(translate(expression, compiles, ask));
  Answer answer = translated == expression ? as_it_is : TRY(gdb.console(command(translated, location)));
  if (!answer.good) return fail("{}", reason(answer, location));
  auto all = TRY(AgentExpression::parse_all(answer.console));
  if (!is_plain(given) && !std::ranges::all_of(all, &AgentExpression::leaves_one))
    return fail("gdb compiles a static member that an object has only by itself");
  return all;
}

Result<AgentExpression> compile(Gdb& gdb, const std::string& expression, const std::string& location) {
  auto all = TRY(compile_all(gdb, expression, location));
  if (all.size() > 1) return fail("{} means {} places", location, all.size());
  return std::move(all.front());
}

}  // namespace pastcone::gdb
