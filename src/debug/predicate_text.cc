#include <algorithm>

#include "pastcone/debug/expression_scan.h"
#include "pastcone/debug/predicate.h"

namespace pastcone::debug {
namespace {

/// Each alternative of a predicate is a search.
constexpr size_t kMostAlternatives = 256;

std::string text_of(const SimplePredicate& predicate, bool alone) {
  bool close = !alone && is_loose(predicate.expression);
  std::string text = fmt::format("{}: {}{}{}", to_string(predicate.who), close ? "(" : "",
                                 predicate.expression, close ? ")" : "");
  std::string location = location_of(predicate);
  if (predicate.at) text += " at " + (location.empty() ? "*" + predicate.at->address : location);
  if (!predicate.in.empty()) text += " in " + predicate.in;
  return text;
}

std::string text_of(const Predicate::Any& any, bool alone) {
  std::string text;
  bool single = alone && any.size() == 1 && any.front().size() == 1;
  for (const Predicate::All& all : any) {
    if (!text.empty()) text += " || ";
    bool close = any.size() > 1 && all.size() > 1;
    if (close) text += "(";
    for (const SimplePredicate& each : all) {
      if (&each != &all.front()) text += " && ";
      text += text_of(each, single);
    }
    if (close) text += ")";
  }
  return text;
}

}  // namespace

std::string to_string(const Who& who) {
  switch (who.kind) {
    case Who::Kind::kProcess:
      return to_string(who.thread.process());
    case Who::Kind::kThread:
      return fmt::format("{}.{}", who.thread.process(), who.thread.number());
    case Who::Kind::kProgram:
      return who.name;
    case Who::Kind::kAny:
      return "any " + who.name;
    case Who::Kind::kPid:
      return fmt::format("pid {}", who.pid);
  }
  return {};
}

std::string to_string(const SimplePredicate& predicate) { return text_of(predicate, true); }

std::string to_string(const Predicate::All& conjunction) {
  return text_of(Predicate::Any{conjunction}, true);
}

std::string to_string(const Predicate& predicate) {
  std::string text;
  for (const Predicate::Any& link : predicate.links) {
    if (&link != &predicate.links.front()) text += " -> ";
    bool close = predicate.linked() && link.size() > 1;
    text += fmt::format("{}{}{}", close ? "(" : "", text_of(link, !predicate.linked()), close ? ")" : "");
  }
  return text;
}

Result<Predicate::Any> both(const Predicate::Any& a, const Predicate::Any& b) {
  if (a.size() * b.size() > kMostAlternatives) {
    return fail("there are {} ways in which it can hold, more than {}; say less with `any` and `||`",
                a.size() * b.size(), kMostAlternatives);
  }
  Predicate::Any product;
  for (const Predicate::All& first : a) {
    for (const Predicate::All& second : b) {
      Predicate::All joined = first;
      for (const SimplePredicate& each : second)
        if (std::ranges::find(joined, each) == joined.end()) joined.push_back(each);
      if (std::ranges::find(product, joined) == product.end()) product.push_back(std::move(joined));
    }
  }
  return product;
}

namespace {

Result<std::vector<Who>> processes_of(const Who& who, const FindProcesses& find) {
  if (who.kind == Who::Kind::kProcess || who.kind == Who::Kind::kThread) return std::vector{who};
  std::vector<Who> all;
  std::string names;
  for (ProcessId process : find(who)) {
    all.push_back({Who::Kind::kProcess, ThreadId(process, 1)});
    names += (names.empty() ? "" : ", ") + to_string(process);
  }
  if (all.empty()) {
    return who.kind == Who::Kind::kPid
               ? fail("no process had the pid {}; `pastcone ps` shows them", who.pid)
               : fail("no process runs `{}`; `pastcone ps` shows what they run", who.name);
  }
  if (all.size() == 1 || who.kind == Who::Kind::kAny) return all;
  bool pid = who.kind == Who::Kind::kPid;
  return fail("{} processes {} `{}`: {}; say which{}", all.size(), pid ? "had" : "run", to_string(who), names,
              pid ? "" : fmt::format(", or `any {}: …`", who.name));
}

}  // namespace

std::string location_of(const SimplePredicate& predicate) {
  if (!predicate.at) return predicate.in;
  const SimplePredicate::Site& site = *predicate.at;
  return site.file.empty() ? site.function : fmt::format("{}:{}", site.file, site.line);
}

Result<Predicate> with_processes(const Predicate& predicate, const FindProcesses& find) {
  Predicate found;
  for (const Predicate::Any& link : predicate.links) {
    Predicate::Any& into = found.links.emplace_back();
    for (const Predicate::All& all : link) {
      Predicate::Any product{{}};
      for (const SimplePredicate& each : all) {
        Predicate::Any choices;
        for (const Who& who : TRY(processes_of(each.who, find))) {
          choices.push_back({each});
          choices.back().front().who = who;
        }
        product = TRY(both(product, choices));
      }
      for (Predicate::All& each : product)
        if (std::ranges::find(into, each) == into.end()) into.push_back(std::move(each));
    }
  }
  return found;
}

}  // namespace pastcone::debug
