// Containers, read by us and by a real gdb, or by the program itself.
#include "pastcone/gdb/containers.h"

#include <gtest/gtest.h>

#include "gdb_subject_containers.h"
#include "pastcone/gdb/container_layouts.h"
#include "pastcone/gdb/formula.h"
#include "pastcone/gdb/testing/stopped_subject.h"

namespace pastcone::gdb {
namespace {

class ContainersTest : public StoppedSubject {
 protected:
  /// None: it is not evaluated here, or cannot be at all.
  std::optional<bool> ours(const std::string& expression) {
    auto formula = compile_formula(*gdb_, expression);
    EXPECT_TRUE(formula) << expression << ": " << formula.error().message;
    if (!formula) return {};
    EXPECT_FALSE(formula->calls()) << expression;
    constexpr int kThreadPointer = 58;
    auto reg = [&](int number) { return number == kThreadPointer ? thread_pointer() : this->reg(number); };
    auto value = formula->evaluate(reader(), reg);
    return value ? std::optional(value->value != 0) : std::nullopt;
  }
  void agree(const std::string& expression) {
    EXPECT_EQ(ours(expression), by_gdb("!!(" + expression + ")") != 0) << expression;
  }
  uint64_t thread_pointer() { return static_cast<uint64_t>(by_gdb("$fs_base")); }
  void run_until_answered() {
    run_to(GDB_SUBJECT_CONTAINERS, "answered");
    ASSERT_TRUE(gdb_->console("finish")->good);
  }
};

TEST_F(ContainersTest, AreReadWithoutACall) {
  run_to(GDB_SUBJECT_CONTAINERS, "look");
  gdb_->console("next");
  gdb_->console("next");
  for (const char* expression :
       {"numbers[2] == 4", "numbers[at] == 4", "numbers[numbers[1]] == 1", "numbers[2] == 5",
        "numbers.size() == 5", "numbers[numbers.size() - 1] == 5", "text[5] == 't'", "text.size() == 9",
        "own[0] == n", "own.size() > 4", "shop.items[1].price == 6", "shop.items[0].weights[1] > 1.0",
        "there->items.size() == 2", "there->items[1].weights[0] == 2.5",
        "(*there).items[0].weights.size() == 2", "there->name[0] == 'c'", "queue.size() == 2",
        "queue[1] == 8"})
    agree(expression);
}

TEST_F(ContainersTest, SayWhatTheProgramSays) {
  run_until_answered();
  int number = 0;
#define ASK(...) \
  EXPECT_EQ(ours(#__VA_ARGS__), by_gdb(fmt::format("said[{}]", number++)) != 0) << #__VA_ARGS__;
  CONTAINER_EXPRESSIONS(ASK)
}

/// Where the program would throw.
TEST_F(ContainersTest, HaveNothingElsewhere) {
  run_until_answered();
  for (const char* expression :
       {"numbers.at(5) == 0", "numbers.at(5) != 0", "numbers.at(-1) != 1", "none.at(0) == 0",
        "text.at(9) == 0", "fixed.at(3) != 0", "deque.at(400) != 0", "no_maybe.value() == 6",
        "no_maybe.value() != 6", "*no_maybe == 6", "no_unique->x == 0"})
    EXPECT_EQ(ours(expression), std::nullopt) << expression;
}

TEST_F(ContainersTest, OthersAreAsked) {
  run_until_answered();
  for (const char* expression :
       {"pool.size() == 9",    "pool.size() == 3",   "pool.front() == 9",
        "shifted.size() == 3", "shifted[0] == 2",    "shifted.empty()",
        "negated == -5",       "negated == 5",       "handle.get() == 0",
        "*handle == 2",        "*with_deleter == 3", "nothing[0] == 0",
        "maybe == 6",          "(maybe) == 1",       "row.size() == 3",
        "list.front().x == 1", "map.at(1) == \"a\"", "map[1] == \"a\"",
        "numbers.data() == 0", "text == name",       "text < \"b\"",
        "pool || at == 2",     "at == 2 && shop",    "static_cast<Wider*>(narrowed)->values.size() == 3"}) {
    auto formula = compile_formula(*gdb_, expression);
    EXPECT_FALSE(formula) << expression;
  }
  EXPECT_EQ(ours("((Wider*)narrowed)->values.size() == 3"), true);
  // What is pointed to has elements, too.
  EXPECT_EQ(ours("row[0].size() == 3"), true);
  EXPECT_EQ(ours("row[1][0] == 4"), true);
  EXPECT_EQ(ours("texts[0].size() == 2"), true);
  EXPECT_EQ(ours("texts[0][1].size() == 3"), true);
  EXPECT_EQ(ours("texts[1][0] == \"ef\""), true);
}

TEST_F(ContainersTest, AreKnownBeforeTheProgramRuns) {
  open(GDB_SUBJECT_CONTAINERS);
  EXPECT_TRUE(compile_formulas(*gdb_, "items.size() == 2 && !done", "Asked::ask"));
  EXPECT_TRUE(compile_formulas(*gdb_, "given.at(0) == 2", "look"));
  EXPECT_FALSE(compile_formulas(*gdb_, "c.size() == 2", "size_of"));  // the one has a size of its own
}

TEST_F(ContainersTest, WhatIsUnknownIsSaid) {
  run_until_answered();
  EXPECT_EQ(compile_formula(*gdb_, "nosuch == 5").error().message,
            "No symbol \"nosuch\" in current context.");
  EXPECT_EQ(compile_formula(*gdb_, "count == nosuch").error().message,
            "No symbol \"nosuch\" in current context.");
  EXPECT_EQ(compile_formula(*gdb_, "numbers.size() == nosuch").error().message,
            "No symbol \"nosuch\" in current context.");
  EXPECT_NE(compile_formula(*gdb_, "unique->nosuch == 5").error().message.find("no"), std::string::npos);
}

TEST(WithMembers, LeavesWhatItDoesNotKnow) {
  auto nothing = [](const std::string&) { return std::string(); };
  auto pool = [](const std::string&) { return std::string("Pool<std::vector<int>>"); };
  auto vector = [](const std::string&) { return std::string("std::vector<int, std::allocator<int> >"); };
  for (const char* text :
       {"a[3]", "x.size()", "[", "a[", "]", ")[0]", "::a[1]", "a->b(c)[2].size()", "f(x).size() + (y)[1]",
        "a == \"b\"", "*p", "!p && p->x", "x.", "x.size", "x.size("}) {
    EXPECT_EQ(with_members(text, nothing), text);
    EXPECT_EQ(with_members(text, pool), text);
  }
  for (const char* text : {"a.", "a.size", "a.size(", "a.at()", "a.at(", "a[", "a.size(1)", "a.load()", "&a"})
    EXPECT_EQ(with_members(text, vector), text);
  std::vector<std::string> asked;
  with_members("f(x)->a[1].size() + ns::v[2]", [&](const std::string& text) {
    asked.push_back(text);
    return std::string();
  });
  EXPECT_EQ(asked, (std::vector<std::string>{"x", "f(x)", "f(x)->a", "f(x)->a[1]", "f(x)->a[1].size()",
                                             "ns::v", "ns::v[2]"}));
}

TEST(WithMembers, EndsSomewhere) {
  auto vector = [](const std::string& text) {
    return std::string(text == "v" ? "std::vector<int, std::allocator<int> >" : "");
  };
  std::string nested = "0";
  for (int i = 0; i < 40; ++i) nested = "v.at(" + nested + ")";
  EXPECT_EQ(with_members(nested, vector), nested);
}

TEST(ContainerLayout, IsThatOfTheClassItself) {
  EXPECT_NE(container_layout("std::vector<int, std::allocator<int> >"), nullptr);
  EXPECT_EQ(container_layout("std::vector_like<int>"), nullptr);
  EXPECT_EQ(container_layout("my::std::vector<int>"), nullptr);
  EXPECT_EQ(container_layout("std::__debug::vector<int>"), nullptr);
  EXPECT_NE(container_layout("std::unique_ptr<int, std::default_delete<int> >"), nullptr);
  EXPECT_EQ(container_layout("std::unique_ptr<int, Mine<std::default_delete<int> > >"), nullptr);
  EXPECT_EQ(container_layout("std::unique_ptr<A, std::default_delete<B> >"), nullptr);
  EXPECT_EQ(container_layout("std::atomic<int*>")->load, "(&*$._M_b._M_p)");
  EXPECT_EQ(container_layout("std::atomic<long>")->load, "$._M_i");
  EXPECT_EQ(template_argument("std::array<std::map<int, long>, 3>", 0), "std::map<int, long>");
  EXPECT_EQ(template_argument("std::array<std::map<int, long>, 3>", 1), "3");
  EXPECT_EQ(template_argument("std::array<int, 3>", 2), "");
  EXPECT_EQ(template_argument("int", 0), "");
}

}  // namespace
}  // namespace pastcone::gdb
