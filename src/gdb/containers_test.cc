// Elements and sizes of containers, read by us and by a real gdb.
#include "pastcone/gdb/containers.h"

#include <gtest/gtest.h>

#include "pastcone/gdb/formula.h"
#include "pastcone/gdb/testing/stopped_subject.h"

namespace pastcone::gdb {
namespace {

class ContainersTest : public StoppedSubject {
 protected:
  void agree(const std::string& expression) {
    auto formula = compile_formula(*gdb_, expression);
    ASSERT_TRUE(formula) << expression << ": " << formula.error().message;
    EXPECT_FALSE(formula->calls()) << expression;
    auto value = formula->evaluate(reader(), registers());
    ASSERT_TRUE(value) << expression << ": " << value.error().message;
    EXPECT_EQ(value->value != 0, by_gdb("!!(" + expression + ")") != 0) << expression;
  }
};

TEST_F(ContainersTest, AreReadWithoutACall) {
  run_to(GDB_SUBJECT_CONTAINERS, "look");
  gdb_->console("next");
  gdb_->console("next");
  for (const char* expression :
       {"numbers[2] == 4", "numbers[at] == 4", "numbers[numbers[1]] == 1", "numbers[2] == 5",
        "numbers.size() == 5", "numbers[numbers.size() - 1] == 5", "text[5] == 't'",
        "text.size() == 9", "own[0] == n", "own.size() > 4", "shop.items[1].price == 6",
        "shop.items[0].weights[1] > 1.0", "there->items.size() == 2", "there->items[1].weights[0] == 2.5",
        "(*there).items[0].weights.size() == 2", "there->name[0] == 'c'"})
    agree(expression);
}

TEST_F(ContainersTest, OthersAreAsked) {
  run_to(GDB_SUBJECT_CONTAINERS, "main");
  EXPECT_FALSE(compile_formula(*gdb_, "queue[0] == 7"));
  EXPECT_FALSE(compile_formula(*gdb_, "flags[0] == 1"));
  EXPECT_FALSE(compile_formula(*gdb_, "fixed[1] == 20"));
}

TEST(WithMembers, LeavesWhatItDoesNotKnow) {
  auto never = [](const std::string&) { return false; };
  for (const char* text :
       {"a[3]", "x.size()", "[", "a[", "]", ")[0]", "::a[1]", "a->b(c)[2].size()", "f(x).size() + (y)[1]"})
    EXPECT_EQ(with_members(text, never), text);
  std::vector<std::string> asked;
  with_members("f(x)->a[1].size() + ns::v[2]", [&](const std::string& text) {
    asked.push_back(text);
    return false;
  });
  ASSERT_EQ(asked.size(), 6u);
  EXPECT_EQ(asked[0], "(unsigned long)&(f(x)->a)._M_impl._M_start[0]");
  EXPECT_EQ(asked[2], "(unsigned long)((f(x)->a[1])._M_impl._M_finish - (f(x)->a[1])._M_impl._M_start)");
  EXPECT_EQ(asked[4], "(unsigned long)&( ns::v)._M_impl._M_start[0]");
}

}  // namespace
}  // namespace pastcone::gdb
