#include "pastcone/debug/term_code.h"

#include <algorithm>

#include "pastcone/debug/parts.h"
#include "pastcone/debug/registers.h"
#include "pastcone/gdb/compile.h"
#include "pastcone/gdb/translate.h"

namespace pastcone::debug {
namespace {

std::string location_of(const SimplePredicate& term) {
  if (!term.in.empty()) return term.in;
  const SimplePredicate::Site& site = *term.at;
  return site.file.empty() ? site.function : fmt::format("{}:{}", site.file, site.line);
}

Result<uint64_t> address_of(gdb::Gdb& gdb, const std::string& text) {
  gdb::AgentExpression code = TRY(gdb::compile(gdb, fmt::format("(unsigned long)({})", text)));
  gdb::Evaluation value =
      TRY(code.evaluate([](uint64_t, void*, size_t) { return false; }, [](int) { return 0; }));
  return static_cast<uint64_t>(value.value);
}

Status refuse_registers(const std::string& part) {
  return fail("'{}' is about a function's own variables or registers: add 'in FUNCTION' or 'at PLACE'", part);
}

/// gdb has to understand it: what it is, if not what it is now.
Result<Condition> to_be_asked(gdb::Gdb& gdb, const std::string& part) {
  for (const gdb::Token& token : gdb::tokens_of(part))
    if (token.text.starts_with('$') && !token.text.starts_with("$_")) TRY_STATUS(refuse_registers(part));
  gdb::Answer answer = TRY(gdb.console(fmt::format("whatis !({})", part)));
  // Functions without debug information have no type until they are called with a cast.
  bool untyped = gdb::with_return_types(part, "has unknown return type").has_value();
  bool unsure = answer.error.starts_with("Invalid cast") || untyped;
  if (!answer.good && !unsure) return fail("{}", answer.error.substr(0, answer.error.find('\n')));
  return Condition{part, {}};
}

Result<Conditions> compile_anywhere(gdb::Gdb& gdb, const SimplePredicate& term) {
  Conditions all;
  for (const std::string& part : conjuncts_of(term.expression)) {
    Result<gdb::Formula> code = gdb::compile_formula(gdb, part);
    if (!code && !gdb::is_only_uncompiled(code.error().message)) return tl::unexpected<Error>(code.error());
    if (!code) {
      all.push_back(TRY(to_be_asked(gdb, part)));
      continue;
    }
    if (code->uses_registers(kThreadPointer)) TRY_STATUS(refuse_registers(part));
    all.push_back({part, std::move(*code)});
  }
  return all;
}

/// Whether a function's variable lies where it is told at its beginning, all the time: in memory. Others than variables
/// of functions do.
Result<bool> stays_in_memory(gdb::Gdb& gdb, const std::string& name, const std::string& location,
                             const std::string& scope) {
  if (scope.find(fmt::format("Symbol {} is multi-location", name)) != std::string::npos) return false;
  auto code = gdb::compile_all(gdb, name, location);
  if (!code) return code.error().message.find("optimized out") == std::string::npos;
  bool moves = false;
  auto note = [&](int number) {
    moves = moves || (number != kFramePointer && number != kStackPointer && number != kThreadPointer);
    return 0;
  };
  for (const gdb::AgentExpression& one : *code)
    (void)one.evaluate([](uint64_t, void*, size_t) { return false; }, note);
  return !moves;
}

Status check_in_memory(gdb::Gdb& gdb, const std::string& part, const std::string& location) {
  std::string scope = TRY(gdb.console("info scope " + location)).console, before;
  for (const gdb::Token& token : gdb::tokens_of(part)) {
    bool variable = token.kind == gdb::Token::Kind::kName && before != "." && before != "->";
    before = token.text;
    if (!variable || TRY(stays_in_memory(gdb, token.text, location, scope))) continue;
    return fail(
        "in {} '{}' is in registers, because the program was optimised: compile it with -O0, or say 'at "
        "FILE:LINE'",
        location, token.text);
  }
  return {};
}

/// Of each place of a function; a copy of it that is part of another function begins nowhere.
Status find_entries(gdb::Gdb& gdb, const SimplePredicate& term, TermCode& code) {
  std::string name = term.in.substr(0, term.in.find('('));
  for (const auto& [place, conditions] : code.places) {
    FunctionStart start = TRY(function_at(gdb, place));
    if (start.name.find(name) == std::string::npos)
      return fail("{} is inlined in {}: say 'at FILE:LINE'", term.in, start.name);
    code.entries[place] = start.address;
  }
  return {};
}

/// What gdb says of a name that it does not know there.
Error explained(const SimplePredicate& term, Error error) {
  bool unknown = error.message.starts_with("No symbol \"") && error.message.ends_with("in current context.");
  if (term.in.empty() || !unknown) return error;
  error.message.replace(error.message.size() - std::string_view("current context.").size(), std::string::npos,
                        fmt::format("{}; if it is one of an inner block, say 'at FILE:LINE'", term.in));
  return error;
}

Result<TermCode> ask(gdb::Gdb& gdb, const SimplePredicate& term) {
  TermCode code;
  if (!term.at && term.in.empty()) {
    code.anywhere = TRY(compile_anywhere(gdb, term));
    return code;
  }
  if (term.at && !term.at->address.empty()) {
    std::string text = term.at->address.substr(term.at->address.find_first_not_of('*'));
    uint64_t address = TRY(address_of(gdb, text));
    code.places[address] = TRY(compile_anywhere(gdb, term));
    return code;
  }
  std::string location = location_of(term);
  std::vector<std::string> parts = conjuncts_of(term.expression);
  for (const std::string& part : parts) {
    if (!term.in.empty()) TRY_STATUS(check_in_memory(gdb, part, location));
    Result<std::vector<gdb::Formula>> all = gdb::compile_formulas(gdb, part, location);
    if (!all && !gdb::is_only_uncompiled(all.error().message))
      return tl::unexpected<Error>(explained(term, all.error()));
    if (all) {
      for (gdb::Formula& one : *all) {
        uint64_t address = one.scope();
        code.places[address].push_back({part, std::move(one)});
      }
      continue;
    }
    for (const gdb::AgentExpression& place : TRY(gdb::compile_all(gdb, "1", location)))
      code.places[place.scope()].push_back({part, {}});
  }
  // Of several functions of that name, those that have all the variables are meant.
  std::erase_if(code.places, [&](const auto& place) { return place.second.size() < parts.size(); });
  if (code.places.empty()) return fail("no '{}' has all of that", location);
  if (!term.in.empty()) TRY_STATUS(find_entries(gdb, term, code));
  return code;
}

}  // namespace

Result<FunctionStart> function_at(gdb::Gdb& gdb, uint64_t address) {
  // "work(int) + 8 in section .text of /usr/bin/x"
  gdb::Answer answer = TRY(gdb.console(fmt::format("info symbol {:#x}", address)));
  const std::string& text = answer.console;
  size_t end = text.find(" in section ");
  if (end == std::string::npos) return fail("no function is known at {:#x}", address);
  FunctionStart start{address, text.substr(0, end)};
  size_t plus = start.name.rfind(" + ");
  if (plus == std::string::npos) return start;
  start.address -= std::strtoull(start.name.c_str() + plus + 3, nullptr, 10);
  start.name.resize(plus);
  return start;
}

bool TermCode::asks() const {
  auto any = [](const Conditions& all) {
    return std::ranges::any_of(all, [](const Condition& one) { return one.asks(); });
  };
  return any(anywhere) || std::ranges::any_of(places, [&](const auto& place) { return any(place.second); });
}

Verdict judge(const Conditions& conditions, const gdb::ReadMemory& read, const gdb::ReadRegister& reg,
              const FindOut& ask) {
  Verdict verdict;
  auto note_register = [&](int number) {
    if (number != kFramePointer && number != kStackPointer && number != kThreadPointer)
      verdict.by_registers = true;
    return reg(number);
  };
  std::set<Word> all;
  for (const Condition& condition : conditions) {
    std::set<Word> words;
    bool known = false, holds = false;
    if (!condition.asks()) {
      gdb::Evaluation value;
      known = condition.code->evaluate(read, note_register, value).has_value();
      holds = known && value.value != 0;
      add_read_words(value.memory, words);
    } else {
      std::optional<Told> told = ask(condition);
      if (!told) {
        verdict.unknown = true;
        return verdict;
      }
      known = told->known;
      holds = told->holds;
      add_read_words(told->memory, words);
    }
    all.insert(words.begin(), words.end());
    if (holds) continue;
    // One that is false is enough; if it makes no sense now, what came before may change that.
    verdict.words = known ? std::move(words) : std::move(all);
    return verdict;
  }
  verdict.holds = true;
  verdict.words = std::move(all);
  return verdict;
}

const TermCodes::Known* TermCodes::find(const Image& image, const SimplePredicate& term) const {
  SimplePredicate of_any = term;
  of_any.who = {};
  auto found = known_.find({image, to_string(of_any)});
  return found == known_.end() ? nullptr : &found->second;
}

void TermCodes::forget(const Image& image, const SimplePredicate& term) {
  SimplePredicate of_any = term;
  of_any.who = {};
  known_.erase({image, to_string(of_any)});
}

Result<const TermCodes::Known*> TermCodes::compile(const Image& image, const SimplePredicate& term,
                                                   const std::function<Result<gdb::Gdb*>()>& gdb) {
  if (const Known* known = find(image, term)) return known;
  gdb::Gdb* asked = TRY(gdb());
  Result<TermCode> code = ask(*asked, term);
  if (!code && !asked->alive()) return tl::unexpected<Error>(code.error());
  SimplePredicate of_any = term;
  of_any.who = {};
  Known& known = known_[{image, to_string(of_any)}];
  if (code)
    known.code = std::move(*code);
  else
    known.error = code.error().message;
  return &known;
}

}  // namespace pastcone::debug
