#include "pastcone/debug/term_code.h"

#include "pastcone/debug/parts.h"
#include "pastcone/gdb/compile.h"

namespace pastcone::debug {
namespace {

constexpr int kFramePointer = 6, kStackPointer = 7;

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

Result<Conditions> compile_anywhere(gdb::Gdb& gdb, const SimplePredicate& term) {
  Conditions all;
  for (const std::string& part : conjuncts_of(term.expression)) {
    gdb::AgentExpression code = TRY(gdb::compile(gdb, part));
    if (code.uses_registers())
      return fail("'{}' is about a function's own variables or registers: add 'in FUNCTION' or 'at PLACE'",
                  part);
    all.push_back(std::move(code));
  }
  return all;
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
  for (const std::string& part : conjuncts_of(term.expression)) {
    std::vector<gdb::AgentExpression> all = TRY(gdb::compile_all(gdb, part, location));
    for (gdb::AgentExpression& one : all) code.places[one.scope()].push_back(std::move(one));
  }
  if (!term.in.empty()) code.entry = TRY(address_of(gdb, term.in));
  return code;
}

}  // namespace

Verdict judge(const Conditions& conditions, const gdb::ReadMemory& read, const gdb::ReadRegister& reg) {
  Verdict verdict;
  auto note_register = [&](int number) {
    if (number != kFramePointer && number != kStackPointer) verdict.by_registers = true;
    return reg(number);
  };
  std::set<Word> all;
  for (const gdb::AgentExpression& condition : conditions) {
    gdb::Evaluation value;
    bool known = condition.evaluate(read, note_register, value).has_value();
    std::set<Word> words;
    for (const auto& [address, size] : value.memory) add_words(address, size, words);
    all.insert(words.begin(), words.end());
    if (known && value.value != 0) continue;
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
