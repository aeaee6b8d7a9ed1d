#include "pastcone/debug/parts.h"

#include <algorithm>

#include "pastcone/gdb/translate.h"

namespace pastcone::debug {
namespace {

using gdb::Token;

Result<Part> part_of(const World& world, const SimplePredicate& term) {
  const Who& who = term.who;
  if (who.kind != Who::Kind::kProcess && who.kind != Who::Kind::kThread)
    return fail("{} is not known by its number", to_string(who));
  Part part;
  part.process = who.thread.process();
  if (world.processes.find(part.process) == nullptr)
    return fail("there is no process {}; 'ps' shows all", part.process);
  if (world.recording.manifest().parallel) {
    part.thread = who.thread;
    part.unit.threads.push_back(TRY(world.graph.find(part.thread)));
    return part;
  }
  if (who.kind == Who::Kind::kThread) TRY(world.graph.find(who.thread));
  for (uint32_t index = 0; index < world.graph.real_threads; ++index)
    if (world.graph.threads[index].process == part.process.number()) part.unit.threads.push_back(index);
  if (part.unit.threads.empty()) return fail("nothing is recorded of {}", part.process);
  return part;
}

}  // namespace

std::vector<Unit> Plan::units() const {
  std::vector<Unit> all;
  for (const Part& part : parts) all.push_back(part.unit);
  return all;
}

Result<Plan> plan(const World& world, const Predicate& predicate) {
  Plan made;
  for (const Predicate::Any& any : predicate.links) {
    Disjunction disjunction;
    for (const Predicate::All& all : any) {
      std::vector<Part> own;
      for (const SimplePredicate& term : all) {
        Part part = TRY(part_of(world, term));
        auto same = std::ranges::find(own, part.unit, &Part::unit);
        if (same == own.end()) same = own.insert(own.end(), std::move(part));
        same->terms.push_back(term);
      }
      Conjunction conjunction;
      for (Part& part : own) {
        auto known = std::ranges::find_if(made.parts, [&](const Part& other) {
          return other.unit == part.unit && other.terms == part.terms;
        });
        conjunction.push_back(static_cast<size_t>(known - made.parts.begin()));
        if (known == made.parts.end()) made.parts.push_back(std::move(part));
      }
      disjunction.push_back(std::move(conjunction));
    }
    made.links.push_back(std::move(disjunction));
  }
  return made;
}

std::vector<std::string> conjuncts_of(const std::string& expression) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const Token& token : gdb::tokens_of(expression)) {
    const std::string& text = token.text;
    if (token.kind == Token::Kind::kOperator) {
      if (text == "(" || text == "[" || text == "{") ++depth;
      if (text == ")" || text == "]" || text == "}") --depth;
      if (depth == 0 && (text == "||" || text == "?" || text == "," || text == "=")) return {expression};
      if (depth == 0 && text == "&&") {
        parts.emplace_back();
        continue;
      }
    }
    parts.back() += token.space + text;
  }
  bool empty = std::ranges::any_of(
      parts, [](const std::string& part) { return part.find_first_not_of(' ') == std::string::npos; });
  return empty ? std::vector{expression} : parts;
}

}  // namespace pastcone::debug
