#include "pastcone/debug/predicate.h"

#include <gtest/gtest.h>

namespace pastcone::debug {
namespace {

std::string normal(std::string_view text) {
  auto predicate = parse_predicate(text);
  if (!predicate) return "error: " + predicate.error().message;
  std::string printed = to_string(*predicate);
  auto again = parse_predicate(printed);
  EXPECT_TRUE(again) << printed << ": " << again.error().message;
  if (!again) return printed;
  EXPECT_EQ(*again, *predicate) << printed;
  return printed;
}

std::string error(std::string_view text) {
  auto predicate = parse_predicate(text);
  EXPECT_FALSE(predicate) << text << " is " << to_string(*predicate);
  if (predicate) return {};
  EXPECT_EQ(predicate.error().message.find('\n'), std::string::npos);
  return predicate.error().message;
}

Predicate parsed(std::string_view text) {
  auto predicate = parse_predicate(text);
  EXPECT_TRUE(predicate) << predicate.error().message;
  return predicate ? *predicate : Predicate{};
}

TEST(Predicate, IsSplitWhereTheNextProcessIsNamed) {
  Predicate predicate = parsed("p1: a && b && p2: c");
  ASSERT_EQ(predicate.links.size(), 1u);
  ASSERT_EQ(predicate.links[0].size(), 1u);
  const Predicate::All& all = predicate.links[0][0];
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].who.thread, ThreadId(ProcessId(1), 1));
  EXPECT_EQ(all[0].expression, "a && b");
  EXPECT_EQ(all[1].expression, "c");
  EXPECT_EQ(normal("p1:  a && b  &&p2:c"), "p1: (a && b) && p2: c");
  EXPECT_EQ(normal("p1: (a || b) && p2: c"), "p1: (a || b) && p2: c");
  EXPECT_EQ(normal("p1: ((a || b))"), "p1: a || b");
}

TEST(Predicate, LeavesTheLanguageOfTheDebuggeeAlone) {
  for (const char* expression : {"a ? b : c",
                                 "a ? b && c : d",
                                 "ns::x == 1",
                                 "::x && ns::y",
                                 "f(a, b ? c : d) && (e ? g : h)",
                                 "s->next->v == 3",
                                 "p -> q",
                                 "strcmp(name, \"p2: x && p3: y\") == 0",
                                 "c == ':' && d == '\\''",
                                 "(int)x == 1",
                                 "*(char *)p == '\"'",
                                 "v.at(3) == 1",
                                 "at == 3 && in > at",
                                 "a[b ? 1 : 2] < {int} p",
                                 "$rip == 0x401136",
                                 "'file.c'::x == 1",
                                 "std::map<int, int>::npos != n",
                                 "a<=b && c>=d && e!=f && !g",
                                 "x << 3 >> 1 == ~y",
                                 "(a)(b)",
                                 "sizeof(struct at) == 4"}) {
    EXPECT_EQ(normal(std::string("p1: ") + expression), std::string("p1: ") + expression);
    Predicate two = parsed(std::string("p1: ") + expression + " && server: y");
    ASSERT_EQ(two.links.at(0).at(0).size(), 2u) << expression;
    EXPECT_EQ(two.links[0][0][0].expression, expression);
    EXPECT_EQ(two.links[0][0][1].who.name, "server");
  }
}

TEST(Predicate, KnowsWhoIsMeant) {
  auto who = [](const char* text) { return parsed(text).links.at(0).at(0).at(0).who; };
  EXPECT_EQ(who("p3: x").kind, Who::Kind::kProcess);
  EXPECT_EQ(who("p3.1: x"), (Who{Who::Kind::kThread, ThreadId(ProcessId(3), 1)}));
  EXPECT_EQ(who("p3.2 : x"), (Who{Who::Kind::kThread, ThreadId(ProcessId(3), 2)}));
  EXPECT_EQ(who("redis-server: x"), (Who{Who::Kind::kProgram, {}, "redis-server"}));
  EXPECT_EQ(who("any  python3.11: x"), (Who{Who::Kind::kAny, {}, "python3.11"}));
  EXPECT_EQ(who("pid 4711: x"), (Who{Who::Kind::kPid, {}, {}, 4711}));
  EXPECT_EQ(who("4711: x"), (Who{Who::Kind::kPid, {}, {}, 4711}));
  EXPECT_EQ(error("any: x"), "`any` wants the name of a program: `any server`");
}

TEST(Predicate, HasPlaces) {
  auto first = [](const char* text) { return parsed(text).links.at(0).at(0).at(0); };
  SimplePredicate line = first("p1: f(x) == 2 at srv.c:80 && p2: y");
  EXPECT_EQ(line.expression, "f(x) == 2");
  EXPECT_EQ(line.at, (SimplePredicate::Site{.file = "srv.c", .line = 80}));
  EXPECT_EQ(location_of(line), "srv.c:80");
  EXPECT_EQ(first("p1: x at *0x401136 || p2: y").at, (SimplePredicate::Site{.address = "0x401136"}));
  EXPECT_EQ(first("p1: x at ns::C::f(int)").at, (SimplePredicate::Site{.function = "ns::C::f(int)"}));
  EXPECT_EQ(first("p1: at main").at, (SimplePredicate::Site{.function = "main"}));
  EXPECT_EQ(first("p1: at /src/a-b/main.c:3").expression, "1");
  EXPECT_EQ(first("(p1: x in f && p2: y)").in, "f");
  EXPECT_EQ(normal("p1: a || b at m.c:3 -> p2: y"), "p1: (a || b) at m.c:3 -> p2: y");
  EXPECT_EQ(error("p1: x in f at g"), "a place is in its function anyway; leave out `in f`, or `at`");
}

TEST(Predicate, IsADisjunctionOfConjunctions) {
  EXPECT_EQ(normal("(p1: x==1 && p2: y==2) || p3: z"), "(p1: x==1 && p2: y==2) || p3: z");
  EXPECT_EQ(normal("(p1: a || p2: b) && (p3: c || p4: d)"),
            "(p1: a && p3: c) || (p1: a && p4: d) || (p2: b && p3: c) || (p2: b && p4: d)");
  EXPECT_EQ(normal("((p1: a)) && p1: a"), "p1: a");
  EXPECT_EQ(normal("p1: a || p2: b && p3: c"), "p1: a || (p2: b && p3: c)");
}

TEST(Predicate, IsLinkedByArrows) {
  Predicate predicate = parsed("p1: s->x -> p2: y || p3: z -> (p1: a && p2: b)");
  ASSERT_EQ(predicate.links.size(), 3u);
  EXPECT_EQ(predicate.links[0][0][0].expression, "s->x");
  EXPECT_EQ(predicate.links[1].size(), 2u);
  EXPECT_EQ(predicate.links[2][0].size(), 2u);
  EXPECT_EQ(to_string(predicate), "p1: s->x -> (p2: y || p3: z) -> p1: a && p2: b");
  EXPECT_EQ(normal("p1: x->p2:y"), "p1: x -> p2: y");
}

TEST(Predicate, RefusesWhatNeedsTwoProcesses) {
  for (const char* text : {"p1: x == p2: x", "p1: x + any server: y > 3", "p1: f(p2: x)",
                           "p1: x<p2: y && p3: z", "p1: x - p2: y == 0", "p1: x == pid 3: x"}) {
    std::string message = error(text);
    EXPECT_NE(message.find("two processes at one time"), std::string::npos) << text << ": " << message;
    EXPECT_NE(message.find("pastcone sql"), std::string::npos);
  }
  EXPECT_NE(error("p1: x == p2: x").find("`p1: x == 3 && p2: x == 3`"), std::string::npos);
}

TEST(Predicate, ErrorsSayWhatToTry) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "no predicate: say who and what, as in `p1: x == 1 && p2: y == 2`"},
      {"x == 1", "`x == 1` does not say of which process; try `p1: x == 1`"},
      {"p1 x == 1", "`p1 x == 1` has no colon; try `p1: x == 1`"},
      {"(x == 1)", "`(x == 1)` does not say of which process; try `p1: (x == 1)`"},
      {"p1:", "`p1:` says nothing; try `p1: x == 1`"},
      {"p1: && p2: x", "`p1:` says nothing; try `p1: x == 1`"},
      {"p1: x &&", "`x &&` ends in `&&`, which wants something behind it"},
      {"(p1: x) &&",
       "`(p1: x) &&` ends too early; behind it comes `WHO: EXPR`, as in `p1: x == 1 && p2: y == 2`"},
      {"p1: x = 1", "`x = 1` changes what it looks at: `=`; a predicate only asks, try `==`"},
      {"p1: x++ > 1", "`x++ > 1` changes what it looks at: `++`; a predicate only asks"},
      {"p1: (x && p2: y)",
       "`p2:` stands inside the parentheses of the expression of p1; close them before `&&`"},
      {"p1: (x", "`(x` has a bracket that is not closed; add `)`"},
      {"p1: x)", "`x)` closes more than was opened; take a `)` away"},
      {"(p1: x", "`(p1: x` has a `(` that is not closed"},
      {"p1: x]", "`x]` closes what is not open; check its brackets"},
      {"p1: a ? b", "`a ? b` has `?` without its `:`"},
      {"p1: \"x", "`\"x` has a \" that is not closed; add the other one"},
      {"!p1: x", "`!` goes into the expression, for only that can be false: try `p1: !(…)`"},
      {"p1: x && !(p2: y)", "`!` goes into the expression, for only that can be false: try `p2: !(…)`"},
      {"p1: x p2: y", "nothing joins `x` and `p2:`; put &&, || or -> between them"},
      {"p1: x, p2: y", "`,` does not join predicates; try `x && p2: …`"},
      {"(p1: x) == 3", "behind `)` comes &&, || or ->, not `== 3`"},
      {"(p1: x -> p2: y)",
       "`->` inside parentheses: each link of `A -> B` is a whole predicate; take the parentheses away"},
      {"p1: x at 80", "`at 80` does not say of which file; try `at FILE:80`"},
      {"p1: x at a.c:0", "`at a.c:0` is no place; try `at FILE:LINE`"},
      {"p1: x at", "`at` wants a place: FILE:LINE, *ADDRESS or a function"},
      {"p1: x at f at g", "a process stands at one place; leave out one `at`"},
      {"pid x: y", "`pid x`: a pid is a number, as in `pid 4711`"},
      {"any p2: y", "there is one p2 only; leave out `any`"},
  };
  for (auto [text, message] : cases) EXPECT_EQ(error(text), message) << text;
  EXPECT_FALSE(parse_predicate("p0: x"));
  EXPECT_FALSE(parse_predicate("p1.0: x"));
}

TEST(Predicate, OfProgramsBecomesOneOfProcesses) {
  auto find = [](const Who& who) -> std::vector<ProcessId> {
    if (who.name == "server") return {ProcessId(2), ProcessId(3)};
    if (who.name == "client" || who.pid == 77) return {ProcessId(4)};
    return {};
  };
  auto text = [&](const char* predicate) {
    auto found = with_processes(parsed(predicate), find);
    return found ? to_string(*found) : found.error().message;
  };
  EXPECT_EQ(text("any server: x && client: y"), "(p2: x && p4: y) || (p3: x && p4: y)");
  EXPECT_EQ(text("pid 77: x -> any server: y"), "p4: x -> (p2: y || p3: y)");
  EXPECT_EQ(text("server: x"), "2 processes run `server`: p2, p3; say which, or `any server: …`");
  EXPECT_EQ(text("any nobody: x"), "no process runs `nobody`; `pastcone ps` shows what they run");
  EXPECT_EQ(text("pid 5: x"), "no process had the pid 5; `pastcone ps` shows them");
  std::string many = "any server: a0";
  for (int i = 1; i < 9; ++i) many += fmt::format(" && any server: a{}", i);
  EXPECT_EQ(text(many.c_str()),
            "there are 512 ways in which it can hold, more than 256; say less with `any` and `||`");
}

TEST(Trace, HasValuesAndACondition) {
  auto command = parse_trace("p1: x, f(a, b), p2: y ? 1 : 2 if p1: x == 1 && p2: y");
  ASSERT_TRUE(command) << command.error().message;
  ASSERT_EQ(command->values.size(), 3u);
  EXPECT_EQ(command->values[0].expression, "x");
  EXPECT_EQ(command->values[1], (TracedValue{command->values[0].who, "f(a, b)"}));
  EXPECT_EQ(to_string(*command->values[2].who), "p2");
  EXPECT_EQ(command->values[2].expression, "y ? 1 : 2");
  EXPECT_EQ(to_string(command->condition), "p1: x == 1 && p2: y");
  EXPECT_FALSE(parse_trace("x if p1: y")->values[0].who);
  EXPECT_EQ(parse_trace("x").error().message, "`x` does not say when; try `trace x if p1: x == 1`");
  EXPECT_EQ(parse_trace("if p1: x").error().message.substr(0, 7), "nothing");
  EXPECT_EQ(parse_trace("x, , y if p1: x").error().message.substr(0, 24), "nothing to print before ");
}

/// Whatever is written, there is an answer, and what is understood is understood again.
TEST(Predicate, SurvivesAnything) {
  const char* pieces[] = {"p1:",  "p2: ", "any ", "x",    " at ",  "a.c:3", "&&", "||",  "->",   "(",
                          ")",    "?",    ":",    "::",   "\"",    "'",     "[",  "]",   " in ", "f",
                          " == ", "!",    ",",    " if ", "pid 3", " ",     "\\", "*0x4"};
  unsigned state = 1;
  auto random = [&] { return (state = state * 1664525u + 1013904223u) >> 16; };
  unsigned good = 0;
  for (int i = 0; i < 200000; ++i) {
    std::string text = random() % 2 ? "p1: x" : "";
    for (unsigned n = random() % 10; n > 0; --n) text += pieces[random() % std::size(pieces)];
    (void)parse_trace(text);
    auto predicate = parse_predicate(text);
    if (!predicate) {
      ASSERT_FALSE(predicate.error().message.empty());
      continue;
    }
    ++good;
    auto again = parse_predicate(to_string(*predicate));
    ASSERT_TRUE(again) << text << " | " << to_string(*predicate) << " | " << again.error().message;
    ASSERT_EQ(to_string(*again), to_string(*predicate)) << text;
  }
  EXPECT_GT(good, 5000u);
}

}  // namespace
}  // namespace pastcone::debug
