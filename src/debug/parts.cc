#include "pastcone/debug/parts.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "pastcone/gdb/translate.h"
#include "pastcone/graph/steps.h"

namespace pastcone::debug {
namespace {

using gdb::Token;

std::vector<uint32_t> threads_of(const World& world, ProcessId process) {
  std::vector<uint32_t> threads;
  for (uint32_t index = 0; index < world.graph.real_threads; ++index)
    if (world.graph.threads[index].process == process.number()) threads.push_back(index);
  return threads;
}

/// A process whose threads run at once.
bool is_parallel(const World& world, ProcessId process) {
  return world.recording.manifest().parallel && threads_of(world, process).size() > 1;
}

Result<Part> part_of(const World& world, const SimplePredicate& term) {
  const Who& who = term.who;
  if (who.kind != Who::Kind::kProcess && who.kind != Who::Kind::kThread)
    return fail("{} is not known by its number", to_string(who));
  Part part;
  part.process = who.thread.process();
  if (world.processes.find(part.process) == nullptr)
    return fail("there is no process {}; 'ps' shows all", part.process);
  bool parallel = world.recording.manifest().parallel;
  part.unit.at_once = is_parallel(world, part.process) && who.kind == Who::Kind::kProcess;
  if (parallel && !part.unit.at_once) {
    part.thread = who.thread;
    part.unit.threads.push_back(TRY(world.graph.find(part.thread)));
    return part;
  }
  if (who.kind == Who::Kind::kThread) TRY(world.graph.find(who.thread));
  part.unit.threads = threads_of(world, part.process);
  if (part.unit.threads.empty()) return fail("nothing is recorded of {}", part.process);
  return part;
}

/// Where a thread stands, or is being executed, each thread has for itself: of threads that run at once one
/// of them is meant, whichever.
std::vector<Predicate::All> by_threads(const World& world, const Predicate::All& all) {
  for (const SimplePredicate& placed : all) {
    ProcessId process = placed.who.thread.process();
    if (placed.who.kind != Who::Kind::kProcess || (!placed.at && placed.in.empty()) ||
        !is_parallel(world, process))
      continue;
    std::vector<Predicate::All> alternatives;
    for (uint32_t thread : threads_of(world, process)) {
      Predicate::All one = all;
      for (SimplePredicate& term : one) {
        bool same = term.who.kind == Who::Kind::kProcess && term.who.thread.process() == process;
        if (same) term.who = {Who::Kind::kThread, world.graph.thread_id(thread)};
      }
      std::ranges::move(by_threads(world, one), std::back_inserter(alternatives));
    }
    return alternatives;
  }
  return {all};
}

/// Of one process's threads either all are meant, or each by itself.
Status check_apart(const std::vector<Part>& parts) {
  for (const Part& whole : parts) {
    if (!whole.unit.at_once) continue;
    for (const Part& one : parts)
      if (&one != &whole && one.process == whole.process)
        return fail(
            "{} is about all threads of {}, and {} about one of them; say which thread is meant by each",
            to_string(whole.terms.front()), whole.process, to_string(one.terms.front()));
  }
  return {};
}

/// What is said of each unit. `said`: the same terms, as they were written.
Result<std::vector<Part>> parts_of(const World& world, const Predicate::All& all,
                                   const Predicate::All& said) {
  std::vector<Part> parts;
  for (size_t i = 0; i < all.size(); ++i) {
    Part part = TRY(part_of(world, all[i]));
    part.meant_all = all[i].who.kind != said[i].who.kind;
    auto same = std::ranges::find(parts, part.unit, &Part::unit);
    if (same == parts.end()) same = parts.insert(parts.end(), std::move(part));
    same->terms.push_back(all[i]);
  }
  TRY_STATUS(check_apart(parts));
  return parts;
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
      for (const Predicate::All& each : by_threads(world, all)) {
        Conjunction conjunction;
        for (Part& part : TRY(parts_of(world, each, all))) {
          auto known = std::ranges::find_if(made.parts, [&](const Part& other) {
            return other.unit == part.unit && other.terms == part.terms;
          });
          conjunction.push_back(static_cast<size_t>(known - made.parts.begin()));
          if (known == made.parts.end()) made.parts.push_back(std::move(part));
        }
        disjunction.push_back(std::move(conjunction));
      }
    }
    made.links.push_back(std::move(disjunction));
  }
  return made;
}

std::vector<ProcessId> sharing(const World& world, ProcessId process) {
  const causal::Graph& graph = world.graph;
  std::map<uint32_t, std::set<uint32_t>> beside;
  for (uint32_t thread = 0; thread < graph.real_threads; ++thread) {
    uint32_t to = graph.threads[thread].process;
    for (uint32_t edge = graph.groups[graph.first_group[thread]].first_edge;
         edge < graph.groups[graph.first_group[thread + 1]].first_edge; ++edge) {
      uint32_t from = graph.edges[edge].from.thread;
      if (graph.kind(edge) != causal::EdgeKind::kHandOver || from >= graph.real_threads) continue;
      if (graph.threads[from].process == to) continue;
      beside[to].insert(graph.threads[from].process);
      beside[graph.threads[from].process].insert(to);
    }
  }
  std::vector<ProcessId> all{process};
  for (size_t i = 0; i < all.size(); ++i) {
    for (uint32_t number : beside[all[i].number()])
      if (ProcessId other(number); std::ranges::find(all, other) == all.end()) all.push_back(other);
  }
  return all;
}

void share(const World& world, Part& part) {
  part.shared = true;
  part.unit = {};
  part.unit.at_once = true;
  for (ProcessId process : sharing(world, part.process))
    std::ranges::copy(threads_of(world, process), std::back_inserter(part.unit.threads));
  if (world.processes.find(part.process)->parent.valid())
    part.unit.born =
        graph::find_step(world.graph, *world.graph.find(ThreadId(part.process, 1)), graph::leaving(1));
}

bool ends(const World& world, ProcessId process) {
  const ProcessRecord* record = world.processes.find(process);
  return record != nullptr &&
         (record->end.kind == End::Kind::kExited || record->end.kind == End::Kind::kSignalled);
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
