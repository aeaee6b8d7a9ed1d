// The machine alone: gdb's output is given.
#include "pastcone/gdb/agent.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <random>

namespace pastcone::gdb {
namespace {

bool no_memory(uint64_t, void*, size_t) { return false; }
uint64_t no_registers(int) { return 0; }

/// Instructions at offsets 0, 1, 2 …
std::string program(std::initializer_list<const char*> instructions) {
  std::string text = "Scope: 0x1158\nReg mask: 00\n";
  int offset = 0;
  for (const char* instruction : instructions) text += fmt::format("{:3}  {}\n", offset++, instruction);
  return text;
}

int64_t value(std::initializer_list<const char*> instructions) {
  auto expression = AgentExpression::parse(program(instructions));
  if (!expression) ADD_FAILURE() << expression.error().message;
  auto result = expression->evaluate(no_memory, no_registers);
  if (!result) ADD_FAILURE() << result.error().message;
  return result ? result->value : -999;
}

std::string trouble(std::initializer_list<const char*> instructions) {
  auto expression = AgentExpression::parse(program(instructions));
  if (!expression) return expression.error().message;
  auto result = expression->evaluate(no_memory, no_registers);
  return result ? "none" : result.error().message;
}

TEST(Agent, Arithmetic) {
  EXPECT_EQ(value({"const8 7", "const8 3", "sub", "end"}), 4);
  EXPECT_EQ(value({"const8 249", "ext 8", "const8 2", "div_signed", "end"}), -3);
  EXPECT_EQ(value({"const8 249", "ext 8", "const8 2", "rem_signed", "end"}), -1);
  EXPECT_EQ(value({"const8 249", "ext 8", "const8 1", "rsh_signed", "end"}), -4);
  EXPECT_EQ(value({"const8 249", "ext 8", "zero_ext 32", "end"}), 0xfffffff9);
  EXPECT_EQ(value({"const64 9223372036854775808", "const8 255", "ext 8", "div_signed", "end"}), INT64_MIN);
  EXPECT_EQ(value({"const64 9223372036854775808", "const8 255", "ext 8", "rem_signed", "end"}), 0);
  EXPECT_EQ(value({"const8 1", "const8 70", "lsh", "end"}), 0);
  EXPECT_EQ(value({"const8 255", "ext 8", "const8 1", "less_signed", "end"}), 1);
  EXPECT_EQ(value({"const8 255", "ext 8", "const8 1", "less_unsigned", "end"}), 0);
  EXPECT_EQ(value({"const8 1", "const8 2", "swap", "sub", "end"}), 1);
  EXPECT_EQ(value({"const8 1", "const8 2", "const8 4", "rot", "sub", "sub", "end"}), 4 - (1 - 2));
  EXPECT_EQ(value({"const8 9", "const8 2", "pick 1", "end"}), 9);
  EXPECT_EQ(value({"const8 9", "dup", "add", "log_not", "end"}), 0);
}

// As gdb compiles p - q, with p before q.
TEST(Agent, DifferenceOfPointersMayBeNegative) {
  EXPECT_EQ(value({"const16 1000", "const16 1016", "sub", "const8 8", "div_unsigned", "end"}), -2);
}

// As gdb compiles an int of a function of clang's, its address, and an int that is in the register itself.
TEST(Agent, VariablesAreAtADistanceFromAWholeRegister) {
  constexpr uint64_t kFrame = 0x7fffffffe6b0;
  auto registers = [](int) { return kFrame; };
  auto memory = [](uint64_t address, void* to, size_t size) {
    std::memset(to, static_cast<int>(kFrame - address), size);
    return true;
  };
  auto found = [&](std::initializer_list<const char*> instructions) {
    auto expression = AgentExpression::parse(program(instructions));
    if (!expression) return int64_t{-999};
    auto result = expression->evaluate(memory, registers);
    return result ? result->value : -999;
  };
  EXPECT_EQ(found({"reg 6", "ext 32", "const8 248", "ext 8", "add", "ref32", "ext 32", "end"}), 0x08080808);
  EXPECT_EQ(found({"reg 6", "zero_ext 8", "const8 8", "add", "end"}), static_cast<int64_t>(kFrame + 8));
  EXPECT_EQ(found({"reg 7", "ext 32", "end"}), static_cast<int64_t>(kFrame));
  EXPECT_EQ(found({"reg 6", "ext 32", "const8 8", "add", "ext 32", "end"}), static_cast<int32_t>(kFrame + 8));
  EXPECT_EQ(found({"reg 6", "ext 32", "const8 248", "ext 8", "add", "ext 64", "end"}),
            static_cast<int32_t>(kFrame) - 8);
  EXPECT_EQ(found({"reg 3", "ext 32", "const8 8", "add", "end"}), static_cast<int32_t>(kFrame) + 8);
}

// It may be there later.
TEST(Agent, SaysWhatItCouldNotRead) {
  auto expression = AgentExpression::parse(program({"const8 16", "ref32", "end"}));
  ASSERT_TRUE(expression);
  Evaluation found;
  EXPECT_FALSE(expression->evaluate(no_memory, no_registers, found));
  EXPECT_EQ(found.memory, (std::vector<std::pair<uint64_t, uint32_t>>{{16, 4}}));
}

TEST(Agent, SaysWhatIsWrong) {
  EXPECT_EQ(trouble({"const8 1", "const8 0", "div_signed", "end"}), "Division by zero");
  EXPECT_EQ(trouble({"const8 16", "ref32", "end"}), "Cannot access memory at address 0x10");
  EXPECT_EQ(trouble({"add", "end"}), "the agent expression is malformed");
  EXPECT_EQ(trouble({"end"}), "the agent expression is malformed");
  EXPECT_EQ(trouble({"goto 0", "end"}), "the agent expression does not end");
  EXPECT_EQ(trouble({"dup", "goto 0", "end"}), "the agent expression is malformed");
  EXPECT_EQ(trouble({"const8 1", "goto 0", "end"}), "the agent expression is malformed");
  EXPECT_EQ(trouble({"goto 7", "end"}), "gdb's agent expression jumps nowhere");
  EXPECT_EQ(trouble({"const8 1"}), "gdb printed no whole agent expression");
  EXPECT_EQ(trouble({"const8", "end"}), "gdb's agent expression is not understood: const8");
  EXPECT_EQ(trouble({"getv 1", "end"}),
            "gdb's agent expression has an instruction that cannot be evaluated: getv");
  EXPECT_FALSE(AgentExpression::parse("No symbol"));
  EXPECT_TRUE(AgentExpression::parse("Scope: 0x10\n  0  reg 17\n  3  end\n"));
  EXPECT_FALSE(AgentExpression::parse("Scope: 0x10\n  0  reg 40\n  3  end\n")) << "%xmm0 is no integer";
}

TEST(Agent, NonsenseDoesNoHarm) {
  static const char* kWords[] = {
      "add",    "sub",      "div_signed", "rem_unsigned", "lsh",         "if_goto 3",
      "goto 5", "const8 3", "reg 4",      "dup",          "pop",         "swap",
      "pick 2", "rot",      "ref64",      "ext 8",        "zero_ext 99", "pick 99999999999999999999"};
  std::mt19937 random(2);
  for (int i = 0; i < 20'000; ++i) {
    std::string text = "Scope: 0x0\n";
    for (int n = 0; n < 12; ++n) text += fmt::format("{:3}  {}\n", n, kWords[random() % std::size(kWords)]);
    auto expression = AgentExpression::parse(text + " 12  end\n");
    if (expression) (void)expression->evaluate(no_memory, no_registers);
  }
}

TEST(Agent, OneForEachScope) {
  std::string text = program({"const8 1", "end"}) + "\n" + program({"const8 2", "end"});
  auto all = AgentExpression::parse_all(text);
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 2u);
  EXPECT_EQ(all->at(1).scope(), 0x1158u);
  EXPECT_EQ(all->at(1).evaluate(no_memory, no_registers)->value, 2);
}

// head != 0 && head->x == 2 && local > 3, as gdb prints it.
TEST(Agent, IsFast) {
  auto expression = AgentExpression::parse(
      program({"const16 16648", "ref64",    "const8 0", "equal",  "log_not",  "if_goto 7", "goto 18",
               "const16 16648", "ref64",    "ref32",    "ext 32", "const8 2", "equal",     "if_goto 15",
               "goto 18",       "const8 1", "goto 19",  "end",    "const8 0", "end"}));
  ASSERT_TRUE(expression) << expression.error().message;
  uint64_t head = 0x5000;
  int x = 2;
  ReadMemory read = [&](uint64_t address, void* to, size_t size) {
    memcpy(to, address == 16648 ? static_cast<void*>(&head) : &x, size);
    return true;
  };
  ReadRegister reg = no_registers;
  Evaluation evaluation;
  auto start = std::chrono::steady_clock::now();
  constexpr int kTimes = 200'000;
  int64_t sum = 0;
  for (int i = 0; i < kTimes; ++i) {
    ASSERT_TRUE(expression->evaluate(read, reg, evaluation));
    sum += evaluation.value;
  }
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(sum, kTimes);
  EXPECT_EQ(evaluation.memory.size(), 3u);
  RecordProperty("per_second", static_cast<int>(kTimes / seconds.count()));
  EXPECT_GT(kTimes / seconds.count(), 100'000);
  head = 0;
  ASSERT_TRUE(expression->evaluate(read, reg, evaluation));
  EXPECT_EQ(evaluation.value, 0);
  EXPECT_EQ(evaluation.memory.size(), 1u) << "a null pointer is not followed";
}

}  // namespace
}  // namespace pastcone::gdb
