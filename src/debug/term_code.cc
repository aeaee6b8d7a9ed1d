#include "pastcone/debug/term_code.h"

#include <algorithm>

#include "pastcone/debug/parts.h"
#include "pastcone/debug/registers.h"
#include "pastcone/gdb/compile.h"
#include "pastcone/gdb/translate.h"

namespace pastcone::debug {
namespace {

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

/// Whether a function's variable lies where it is told at a place, all the time: in memory. Others than variables of
/// functions do.
Result<bool> stays_in_memory(gdb::Gdb& gdb, const std::string& name, const std::string& location,
                             const std::string& scope, bool at_beginning) {
  if (scope.find(fmt::format("Symbol {} is multi-location", name)) != std::string::npos) return false;
  auto code = gdb::compile_all(gdb, name, location);
  if (!code) return code.error().message.find("optimized out") == std::string::npos;
  bool moves = false;
  auto note = [&](int number) {
    bool stays = number == kFramePointer || number == kThreadPointer || (number == kStackPointer && at_beginning);
    moves = moves || !stays;
    return 0;
  };
  for (const gdb::AgentExpression& one : *code)
    (void)one.evaluate([](uint64_t, void*, size_t) { return false; }, note);
  return !moves;
}

/// Members of what is named are not.
std::set<std::string> names_in(const std::vector<std::string>& parts) {
  std::set<std::string> names;
  for (const std::string& part : parts) {
    std::string before;
    for (const gdb::Token& token : gdb::tokens_of(part)) {
      bool named = token.kind == gdb::Token::Kind::kName && before != "." && before != "->";
      if (named) names.insert(token.text);
      before = token.text;
    }
  }
  return names;
}

Status check_in_memory(gdb::Gdb& gdb, const std::vector<std::string>& parts, const std::string& location,
                       bool at_beginning) {
  std::string scope = TRY(gdb.console("info scope " + location)).console;
  for (const std::string& name : names_in(parts)) {
    if (TRY(stays_in_memory(gdb, name, location, scope, at_beginning))) continue;
    return fail(
        "in {} '{}' is in registers, because the program was optimised: compile it with -O0, or say 'at "
        "FILE:LINE'",
        location, name);
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

bool is_unknown_symbol(const std::string& error) {
  return error.starts_with("No symbol \"") && error.ends_with("in current context.");
}

/// Of each address that the location has, of all that `parts` say.
Result<std::map<uint64_t, Conditions>> compile_at(gdb::Gdb& gdb, const std::vector<std::string>& parts,
                                                  const std::string& location) {
  std::map<uint64_t, Conditions> places;
  for (const std::string& part : parts) {
    Result<std::vector<gdb::Formula>> all = gdb::compile_formulas(gdb, part, location);
    if (!all && !gdb::is_only_uncompiled(all.error().message)) return tl::unexpected<Error>(all.error());
    if (all) {
      for (gdb::Formula& one : *all) {
        uint64_t address = one.scope();
        places[address].push_back({part, std::move(one)});
      }
      continue;
    }
    for (const gdb::AgentExpression& place : TRY(gdb::compile_all(gdb, "1", location)))
      places[place.scope()].push_back({part, {}});
  }
  // Of several functions of that name, those that have all the variables are meant.
  std::erase_if(places, [&](const auto& place) { return place.second.size() < parts.size(); });
  if (places.empty()) return fail("no '{}' has all of that", location);
  return places;
}

/// The same of what has to stay where it is from there on.
Result<std::map<uint64_t, Conditions>> compile_lasting(gdb::Gdb& gdb, const std::vector<std::string>& parts,
                                                       const std::string& location, bool at_beginning) {
  TRY_STATUS(check_in_memory(gdb, parts, location, at_beginning));
  return compile_at(gdb, parts, location);
}

/// Else some of its variables may have been written before. What the compiler has put apart, because it is rarely executed,
/// may lie below the function's beginning.
bool is_first_statement(const symbols::FunctionBlocks& function, uint64_t place) {
  const std::vector<symbols::CodeRange>& code = function.blocks.front().code;
  auto begin = std::ranges::find_if(
      code, [&](const symbols::CodeRange& range) { return range.begin <= place && place < range.end; });
  return begin != code.end() && std::ranges::none_of(function.rows, [&](const symbols::SourceRow& row) {
           return begin->begin < row.address && row.address < place;
         });
}

/// Of those `names` that the block declares; not what is static, or refers to something else.
std::vector<OwnVariable> find_own(gdb::Gdb& gdb, const symbols::Block& block, const std::set<std::string>& names,
                                  const std::string& location, uint64_t address) {
  constexpr int64_t kLargestOwn = 32;  // all of it is watched until it has a value
  auto nowhere = [](uint64_t, void*, size_t) { return false; };
  auto there = [&](const std::string& expression) -> std::optional<gdb::Formula> {
    auto all = gdb::compile_formulas(gdb, expression, location);
    if (!all) return {};
    auto one = std::ranges::find(*all, address, &gdb::Formula::scope);
    return one == all->end() ? std::nullopt : std::optional(*one);
  };
  std::vector<OwnVariable> own;
  for (const std::string& name : names) {
    if (!block.names.contains(name)) continue;
    auto where = there(fmt::format("(unsigned long)&({})", name)), size = there(fmt::format("sizeof({})", name));
    if (!where || !size || !where->uses_registers() || !where->evaluate(nowhere, [](int) { return 0; })) continue;
    auto bytes = size->evaluate(nowhere, [](int) { return 0; });
    if (bytes && bytes->value > 0 && bytes->value <= kLargestOwn)
      own.push_back({*where, static_cast<uint32_t>(bytes->value)});
  }
  return own;
}

/// Of the functions of that name whose inner blocks have the variables. Where the function itself has them, too, others
/// of the same name hide them.
Status find_inner(gdb::Gdb& gdb, const SimplePredicate& term, const std::vector<std::string>& parts,
                  const TermCodes::BlocksAt& blocks, TermCode& code) {
  std::set<std::string> names = names_in(parts);
  auto compile = [&](const std::string& location) { return compile_lasting(gdb, parts, location, false); };
  for (const gdb::AgentExpression& place : TRY(gdb::compile_all(gdb, "1", term.in))) {
    uint64_t address = place.scope();
    auto function = blocks(address);
    auto known = code.places.find(address);
    if (!function || (known == code.places.end() && !code.places.empty())) continue;
    InnerBlocks inner = TRY(find_inner_blocks(gdb, *function, names, compile));
    if (inner.all.empty()) continue;
    for (InnerBlocks::One& one : inner.all) one.own = find_own(gdb, one.block, names, one.location, one.address);
    if (known != code.places.end())
      inner.all.insert(inner.all.begin(), {inner.function, term.in, address, known->second, code.own[address]});
    code.inner.emplace(address, std::move(inner));
  }
  return {};
}

Status compile_in(gdb::Gdb& gdb, const SimplePredicate& term, const std::vector<std::string>& parts,
                  const TermCodes::BlocksAt& blocks, TermCode& code) {
  auto places = compile_lasting(gdb, parts, term.in, true);
  if (!places && !is_unknown_symbol(places.error().message)) return tl::unexpected<Error>(places.error());
  if (places) code.places = std::move(*places);
  for (const auto& [place, conditions] : code.places)
    if (auto function = blocks(place); function && is_first_statement(*function, place))
      code.own[place] = find_own(gdb, function->blocks.front(), names_in(parts), term.in, place);
  TRY_STATUS(find_inner(gdb, term, parts, blocks, code));
  for (const auto& [place, inner] : code.inner) code.places.try_emplace(place);
  if (code.places.empty()) {
    std::string& error = places.error().message;
    return fail("{}{}.", error.substr(0, error.rfind("current context.")), term.in);
  }
  return find_entries(gdb, term, code);
}

Result<TermCode> ask(gdb::Gdb& gdb, const SimplePredicate& term, const TermCodes::BlocksAt& blocks) {
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
  std::vector<std::string> parts = conjuncts_of(term.expression);
  if (term.in.empty())
    code.places = TRY(compile_at(gdb, parts, location_of(term)));
  else
    TRY_STATUS(compile_in(gdb, term, parts, blocks, code));
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
  auto any_inner = [&](const auto& place) {
    return std::ranges::any_of(place.second.all, any, &InnerBlocks::One::conditions);
  };
  return any(anywhere) || std::ranges::any_of(places, [&](const auto& place) { return any(place.second); }) ||
         std::ranges::any_of(inner, any_inner);
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

TermCodes::KnownRef TermCodes::find(const Image& image, const SimplePredicate& term) const {
  SimplePredicate of_any = term;
  of_any.who = {};
  auto found = known_.find({image, to_string(of_any)});
  return found == known_.end() ? nullptr : found->second;
}

void TermCodes::forget(const Image& image, const SimplePredicate& term) {
  SimplePredicate of_any = term;
  of_any.who = {};
  known_.erase({image, to_string(of_any)});
}

Result<TermCodes::KnownRef> TermCodes::compile(const Image& image, const SimplePredicate& term,
                                               const std::function<Result<gdb::Gdb*>()>& gdb,
                                               const BlocksAt& blocks) {
  if (KnownRef known = find(image, term)) return known;
  gdb::Gdb* asked = TRY(gdb());
  Result<TermCode> code = ask(*asked, term, blocks);
  if (!code && !asked->alive()) return tl::unexpected<Error>(code.error());
  SimplePredicate of_any = term;
  of_any.who = {};
  Known known;
  if (code)
    known.code = std::move(*code);
  else
    known.error = code.error().message;
  return known_[{image, to_string(of_any)}] = std::make_shared<const Known>(std::move(known));
}

}  // namespace pastcone::debug
