// Expressions with floating point and strings, computed by us and by a real gdb, about the same process.
#include "pastcone/gdb/formula.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>

#include "pastcone/gdb/compile.h"
#include "pastcone/gdb/testing/stopped_subject.h"

namespace pastcone::gdb {
namespace {

class FormulaTest : public StoppedSubject {
 protected:
  Result<Number> ours(const std::string& expression, const std::string& location = {}) {
    Formula formula = TRY(compile_formula(*gdb_, expression, location));
    return formula.number(reader(), registers());
  }
  /// What stands behind the first '=' in the answer.
  std::string told(const std::string& command) {
    Answer answer = *gdb_->console(command);
    EXPECT_TRUE(answer.good) << command << ": " << answer.error;
    size_t at = answer.console.find("= ");
    return at == std::string::npos ? "" : answer.console.substr(at + 2, answer.console.find('\n') - at - 2);
  }

  void agree(const std::string& expression) {
    auto number = ours(expression);
    ASSERT_TRUE(number) << expression << ": " << number.error().message;
    compare(expression, *number);
  }
  void agree_all(std::initializer_list<const char*> expressions) {
    for (const char* expression : expressions) agree(expression);
  }
  void compare(const std::string& expression, const Number& number) {
    std::string text = told("print " + expression);
    auto type = number_type(told("ptype $"));
    if (!type || !type->is_floating()) {
      EXPECT_FALSE(number.type.is_floating()) << expression << " is " << text;
      EXPECT_EQ(number.integer, by_gdb(expression)) << expression << " is " << text;
      return;
    }
    EXPECT_EQ(number.type, *type) << expression << " is " << text;
    long double value = std::strtold(text.c_str(), nullptr);
    if (text.find("nan") != std::string::npos)
      EXPECT_TRUE(std::isnan(number.real)) << expression << " is " << text;
    else
      EXPECT_EQ(number.real, converted({*number_type("long double"), 0, value}, *type).real)
          << expression << " is " << text;
  }
  std::string trouble(const std::string& expression, const std::string& location = {}) {
    auto number = ours(expression, location);
    return number ? "none" : number.error().message;
  }
  std::vector<std::pair<uint64_t, uint32_t>> reads(const std::string& expression) {
    auto formula = compile_formula(*gdb_, expression);
    EXPECT_TRUE(formula) << expression << ": " << formula.error().message;
    return formula->evaluate(reader(), registers())->memory;
  }
};

TEST_F(FormulaTest, AgreesWithGdb) {
  run_to(GDB_SUBJECT_FLOATS, "44");
  agree_all({"d",
             "f",
             "ld",
             "large",
             "named",
             "fixed",
             "zero",
             "tiny",
             "nan_value",
             "infinite",
             "below",
             "g",
             "one.x",
             "one.y[1]",
             "head->z",
             "head->next->far",
             "head->next->y[i - 2]",
             "(*head).x",
             "head[0].x",
             "*numbers",
             "numbers[i]",
             "*(numbers + 2)",
             "*&d",
             "*(float*)&f",
             "((struct point*)head)->x",
             "local",
             "single",
             "extended",
             "row[1]",
             "of",
             "more",
             "row[u - 6] + local",
             "half::of"});
  agree_all({"1.5",
             "1.5f",
             "0.1L",
             "1e3",
             ".5",
             "1.f",
             "-1.5",
             "+1.5",
             "- -d",
             "-zero",
             "-minus_zero",
             "-f",
             "1 / zero",
             "1 / -zero",
             "1 / minus_zero",
             "-1 / zero",
             "zero / zero",
             "d / none",
             "huge * 10",
             "tiny / 2",
             "single_huge * 10",
             "single_huge * 10.0"});
  agree_all({"d + 1",       "d - f",           "f + f",        "f * 3",         "f / 3",
             "f * 3.0",     "f == 0.1",        "f == 0.1f",    "tenth == 0.1",  "tenth * 3 == 0.3",
             "f + 1",       "ld + d",          "ld * 3",       "ld == 0.1",     "ld == 0.1L",
             "d * i",       "d * u",           "d * minus",    "l * 1.0",       "l * 1.0f",
             "l * 1.0L",    "ul * 1.0",        "ul * 1.0f",    "ul + 0.0L",     "top + 0.5",
             "least - 0.5", "s * d",           "uc * d",       "c * d",         "color * d",
             "yes * d",     "GREEN / 2.0",     "'a' + 0.5",    "i / 2 * d",     "7 / 2 + 0.5",
             "u - 8 + 0.0", "minus + u + 0.0", "l + 0.0 == l", "g + 1.0f == g", "large == ul"});
  agree_all({"d > 2.5",
             "d >= 2.5",
             "d < 2.5",
             "d <= 2.5",
             "d == 2.5",
             "d != 2.5",
             "nan_value == nan_value",
             "nan_value != nan_value",
             "nan_value < 1",
             "nan_value > 1",
             "nan_value <= 1",
             "1 >= nan_value",
             "infinite > huge",
             "below < minus",
             "infinite == infinite",
             "infinite - infinite",
             "infinite + below",
             "zero == minus_zero",
             "i > 2.5",
             "2.5 < i",
             "u > -0.5",
             "ul > d",
             "minus < zero",
             "d > i",
             "f < d"});
  agree_all({"!d",
             "!zero",
             "!minus_zero",
             "!nan_value",
             "!!d",
             "d && f",
             "zero || f",
             "zero || none",
             "d && none",
             "d > 1 && i == 3",
             "d > 9 || i == 3",
             "d ? 1 : 2",
             "zero ? 1 : 2.5",
             "(i ? 1 : 2.5) / 2",
             "(none ? 1 : 2.5) / 2",
             "i > 2 ? d : f",
             "(d > 2) + 1",
             "(d > 2) * 1.5",
             "-(d > 2)",
             "~(d > 2)",
             "head && head->x < 0",
             "nothing && nothing->x > 0",
             "nothing == 0 || nothing->x",
             "1.5 <= 2 > 0",
             "d > 1 == i > 1",
             "(d > 1) & (f < 1)",
             "(d > 1) | none",
             "(d > 1) ^ 1",
             "(int)d % 2"});
  agree_all({"(int)d",
             "(int)-2.9",
             "(long)huge",
             "(unsigned long)1e19",
             "(unsigned long)large",
             "(unsigned)-1.5",
             "(int)3e9",
             "(char)300.5",
             "(unsigned char)300.5",
             "(short)d * 2",
             "(long)nan_value",
             "(long)infinite",
             "(long)below",
             "(int)infinite",
             "(float)tenth",
             "(float)tenth == tenth",
             "(double)f",
             "(double)f == tenth",
             "(long double)d / 3",
             "(float)l",
             "(double)ul",
             "(float)(double)l",
             "(real)i / 2",
             "(real)i",
             "(double)1 / 2",
             "(double)3 / 2 == 1.5",
             "i > (double)5 / 2",
             "(float)1 / 3",
             "(double)i / u",
             "(int)d + u",
             "(int)-d + u",
             "(unsigned)d - 3 > 0",
             "(long)d - 3 > 0",
             "(int)(d * 2) == 5",
             "(real)(float)tenth",
             "(const double)i",
             "sizeof(double) + d",
             "sizeof d * d",
             "(d)",
             "((d)) - (f)",
             "(d) - 1",
             "(i) * (d)"});
}

TEST_F(FormulaTest, AgreesWithGdbInCxx) {
  run_to(GDB_SUBJECT_FLOATS_CXX, "Derived::f");
  gdb_->console("next");
  agree_all({"value",
             "ref + 0",
             "ref > 1",
             "ref * 2",
             "constant + 1",
             "-ref",
             "!ref",
             "ns::inside + 0.5",
             "::value / 2",
             "weight * 2",
             "this->weight - 1",
             "part * 2",
             "part + weight",
             "local",
             "local > part",
             "other + 0",
             "other == ns::inside",
             "this->other > 4",
             "all * 1",
             "Derived::all + 1",
             "object.part + 1",
             "same.part + 1",
             "same.other * 2",
             "base->weight > 2",
             "((Derived*)base)->part + 0",
             "flag && part < 1",
             "flag + part",
             "(value > 1) + 0.5",
             "(value > 1) == true",
             "true + 0.5"});
  EXPECT_EQ(reads("ref > 1").back().first, static_cast<uint64_t>(by_gdb("&value")));
}

TEST_F(FormulaTest, StringsAsLibcComparesThem) {
  run_to(GDB_SUBJECT_FLOATS, "44");
  auto same = [&](const std::string& expression, const std::string& typed) {
    auto number = ours(expression);
    ASSERT_TRUE(number) << expression << ": " << number.error().message;
    EXPECT_EQ(number->is_true(), by_gdb(typed) != 0) << expression;
  };
  for (const char* args :
       {"name, \"abc\"", "name, \"abd\"", "name, \"ab\"", "name, \"\"", "empty, \"\"", "name, pointer",
        "pointer, name", "pointer + 1, \"bd\"", "&name[1], \"bc\"", "\"x\", name"})
    for (const char* compared : {"== 0", "!= 0", "< 0", "> 0", "<= 0", ">= 0"})
      same(fmt::format("strcmp({}) {}", args, compared), fmt::format("(int)strcmp({}) {}", args, compared));
  same("!strcmp(name, \"abc\")", "!(int)strcmp(name, \"abc\")");
  same("strncmp(name, \"abx\", 2) == 0", "(int)strncmp(name, \"abx\", 2) == 0");
  same("strncmp(name, \"abx\", i) == 0", "(int)strncmp(name, \"abx\", i) == 0");
  same("memcmp(name, pointer, 2) == 0", "(int)memcmp(name, pointer, 2) == 0");
  same("memcmp(name, pointer, 3) < 0", "(int)memcmp(name, pointer, 3) < 0");
  same("strlen(name) == 3", "(unsigned long)strlen(name) == 3");
  same("strlen(name) * 1.5 > 4", "(unsigned long)strlen(name) * 1.5 > 4");
  same("strnlen(name, 2) == 2 && d > 1", "(unsigned long)strnlen(name, 2) == 2 && d > 1");
  same("strlen(name) - 4 > 0", "(unsigned long)strlen(name) - 4 > 0");
  same("strstr(name, \"bc\")", "(char*)strstr(name, \"bc\") != 0");
  same("strstr(name, \"bd\") == 0", "(char*)strstr(name, \"bd\") == 0");
  same("strchr(name, 'b') != 0", "(char*)strchr(name, 'b') != 0");
  same("strcmp(name, \"abc\") == 0 ? d > 2 : 0", "d > 2");
  // In a program these are macros.
  same("null == NULL && name != NULL", "null == 0 && name != 0");
  same("(i == 3) == true && !false", "i == 3");
  EXPECT_EQ(trouble("TRUE"), "No symbol \"TRUE\" in current context.");
  EXPECT_EQ(trouble("strcmp(null, \"a\") == 0"), "Cannot access memory at address 0x0");
  for (const char* asked :
       {"strcmp(name, \"abd\") == -1", "strcmp(name, \"abd\") + 1", "strstr(name, \"b\") == name",
        "strcmp(name)", "half(1, 2) > 1", "compare(name, \"abc\") == 0"})
    EXPECT_TRUE(is_only_uncompiled(trouble(asked))) << asked << ": " << trouble(asked);
}

TEST_F(FormulaTest, CallsFunctionsThatAreInlinedElsewhere) {
  run_to(GDB_SUBJECT_FAST, "44");
  auto places = compile_all(*gdb_, "1", "doubled");
  ASSERT_TRUE(places && places->size() > 1);
  auto formula = compile_formula(*gdb_, "doubled(x) == 4");
  ASSERT_TRUE(formula) << formula.error().message;
  EXPECT_TRUE(formula->calls());
}

TEST_F(FormulaTest, KnowsWhatIsToBeCalled) {
  run_to(GDB_SUBJECT_FLOATS, "44");
  auto formula = compile_formula(*gdb_, "half(i, d) + length(\"four\") == 7.5 || length(name + 1) > i");
  ASSERT_TRUE(formula) << formula.error().message;
  EXPECT_TRUE(formula->calls());
  EXPECT_FALSE(formula->reads_nothing());
  std::vector<FunctionCall> made;
  std::vector<std::string> texts;
  CallFunction call = [&](const FunctionCall& one, Evaluation& into) -> Result<Number> {
    made.push_back(one);
    texts.push_back(one.arguments[0].text == nullptr ? "" : *one.arguments[0].text);
    into.memory.emplace_back(7, 1);
    return one.result.is_floating() ? *floating_constant("3.5") : integer_number(4, one.result);
  };
  Evaluation evaluation;
  ASSERT_TRUE(formula->evaluate(reader(), registers(), evaluation, call));
  EXPECT_EQ(evaluation.value, 1);
  ASSERT_EQ(made.size(), 2u);
  EXPECT_EQ(made[0].function, static_cast<uint64_t>(by_gdb("&half")));
  EXPECT_EQ(made[0].result, *number_type("double"));
  EXPECT_EQ(made[0].arguments[0].number.type, *number_type("double"));
  EXPECT_EQ(made[0].arguments[0].number.real, 3);
  EXPECT_EQ(made[0].arguments[1].number.type, *number_type("float"));
  EXPECT_EQ(made[0].arguments[1].number.real, 2.5L);
  EXPECT_EQ(texts[1], "four");
  EXPECT_EQ(evaluation.memory.size(), 4u) << "i, d, and what the functions read";
  EXPECT_FALSE(formula->evaluate(reader(), registers(), evaluation)) << "nobody calls them";
  for (const char* asked :
       {"half(1) > 1", "extend(1) > 1", "taking(one) > 1", "compare(name, name) == 0", "abs(i) > 1"})
    EXPECT_TRUE(is_only_uncompiled(trouble(asked))) << asked << ": " << trouble(asked);
}

TEST_F(FormulaTest, TellsWhatItHasRead) {
  run_to(GDB_SUBJECT_FLOATS, "44");
  auto at = [&](const char* what) { return static_cast<uint64_t>(by_gdb(what)); };
  using Reads = std::vector<std::pair<uint64_t, uint32_t>>;
  EXPECT_EQ(reads("d > f"), (Reads{{at("&d"), 8}, {at("&f"), 4}}));
  EXPECT_EQ(reads("ld > 1"), (Reads{{at("&ld"), 10}})) << "what is behind its ten bytes does not matter";
  EXPECT_EQ(reads("d > 9 && f > 0"), (Reads{{at("&d"), 8}}));
  EXPECT_EQ(reads("d > 9 || i > f"), (Reads{{at("&d"), 8}, {at("&i"), 4}, {at("&f"), 4}}));
  EXPECT_EQ(reads("head->next->x > 0"), (Reads{{at("&head"), 8}, {at("&head->next"), 8}, {at("&one.x"), 8}}));
  EXPECT_EQ(reads("strcmp(name, \"abx\") == 0"), (Reads{{at("&name[0]"), 3}})) << "up to where they differ";
  EXPECT_EQ(reads("strcmp(name, \"abc\") == 0"), (Reads{{at("&name[0]"), 4}}));
  auto failing = compile_formula(*gdb_, "nothing->x > 1 && d > 1");
  Evaluation evaluation;
  EXPECT_EQ(failing->evaluate(reader(), registers(), evaluation).error().message,
            "Cannot access memory at address 0x0");
  EXPECT_EQ(evaluation.memory, (Reads{{at("&nothing"), 8}, {0, 8}})) << "also what is not there";
  EXPECT_TRUE(compile_formula(*gdb_, "local > 1")->uses_registers());
  EXPECT_FALSE(compile_formula(*gdb_, "d > 1")->uses_registers());
  EXPECT_TRUE(compile_formula(*gdb_, "1.5 > 1")->reads_nothing());
  EXPECT_FALSE(compile_formula(*gdb_, "d > 1")->reads_nothing());
  constexpr int kThreadPointer = 58;
  EXPECT_FALSE(compile_formula(*gdb_, "own > 1.5")->uses_registers(kThreadPointer));
}

TEST_F(FormulaTest, ForSomewhereElse) {
  run_to(GDB_SUBJECT_FLOATS, "main");
  auto formula =
      compile_formula(*gdb_, "local > 1.0 && of < 5 && row[1] == local", "gdb_subject_floats.c:44");
  ASSERT_TRUE(formula) << formula.error().message;
  gdb_->console("break 44");
  std::string seen;
  for (int n = 0; n < 3; ++n) {
    gdb_->console("continue");
    EXPECT_EQ(reg(16), formula->scope());
    seen += formula->evaluate(reader(), registers())->value ? "1" : "0";
  }
  EXPECT_EQ(seen, "011");
}

TEST_F(FormulaTest, LeavesToGdbWhatItDoesNotUnderstand) {
  run_to(GDB_SUBJECT_FLOATS, "44");
  for (const char* asked :
       {"wide > 1", "half(1, 2)", "d << 1", "(yes ? head : 0) && d", "(_Bool)d", "(enum color)d",
        "numbers[(int)d] > 1", "1.5i == 1", "0x1p3 > 1", "$d + 1.5", "head + 1 > d", "d > 1, f"})
    EXPECT_TRUE(is_only_uncompiled(trouble(asked))) << asked << ": " << trouble(asked);
  EXPECT_EQ(trouble("d > nosuch"), "No symbol \"nosuch\" in current context.");
  EXPECT_EQ(trouble("d >"), "A syntax error in expression, near `'.");
  EXPECT_EQ(trouble("d > 1)"), "A syntax error in expression, near `)'.");
  EXPECT_EQ(trouble("d % 2"), "Integer-only operation on floating point number.");
  EXPECT_EQ(trouble("i / none + d"), "Division by zero");
  EXPECT_NE(trouble(std::string(500, '(') + "d"), "none");
  EXPECT_NE(trouble(std::string(500, '!') + "d > 1.5"), "none");
}

TEST_F(FormulaTest, AtNoPlaceOfATemplateThatMeansSeveralTypes) {
  run_to(GDB_SUBJECT_FLOATS_CXX, "main");
  EXPECT_FALSE(compile_formulas(*gdb_, "sum > 1.5", "twice"));
  auto of_all = compile_formulas(*gdb_, "1 > 0", "twice");
  ASSERT_TRUE(of_all) << of_all.error().message;
  EXPECT_EQ(of_all->size(), 2u);
}

/// Expressions of no meaning, but with one value.
class Random {
 public:
  explicit Random(unsigned seed) : random_(seed) {}

  std::string expression(int depth) {
    if (depth == 0) return operand();
    switch (random_() % 10) {
      case 0:
        return fmt::format("{}({})", one_of({"-", "!", "+"}), expression(depth - 1));
      case 1:
        return fmt::format("({})({})",
                           one_of({"int", "float", "double", "long double", "unsigned", "long", "short",
                                   "unsigned char", "real", "unsigned long"}),
                           expression(depth - 1));
      case 2: {
        // gdb leaves what is chosen as it is, where C gives it the type that goes for both.
        const std::string type = one_of({"int", "long", "unsigned", "unsigned long", "double", "long double"});
        return fmt::format("({} ? ({})({}) : ({})({}))", expression(depth - 1), type, expression(depth - 1), type,
                           expression(depth - 1));
      }
      case 3:
        return fmt::format("({} {} {})", expression(depth - 1), one_of({"&&", "||"}), expression(depth - 1));
      case 4:
      case 5:
        return fmt::format("({} {} {})", expression(depth - 1), one_of({"<", ">", "<=", ">=", "==", "!="}),
                           expression(depth - 1));
      default:
        return fmt::format("({} {} {})", expression(depth - 1), one_of({"+", "-", "*", "/"}),
                           expression(depth - 1));
    }
  }

 private:
  std::string one_of(std::initializer_list<const char*> all) { return all.begin()[random_() % all.size()]; }
  std::string operand() {
    return one_of({"d",     "f",         "ld",       "one.x",  "one.y[1]", "head->z", "numbers[1]", "i",
                   "minus", "u",         "top",      "l",      "ul",       "s",       "uc",         "c",
                   "zero",  "nan_value", "infinite", "tenth",  "local",    "single",  "1.5",        "0.1f",
                   "3",     "7u",        "2.5L",     "100000", "tiny",     "huge"});
  }
  std::mt19937 random_;
};

TEST_F(FormulaTest, AgreesWithGdbAboutRandomExpressions) {
  run_to(GDB_SUBJECT_FLOATS, "44");
  std::random_device device;
  unsigned seed = device();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  Random random(seed);
  int understood = 0;
  for (int n = 0; n < 120; ++n) {
    std::string expression = random.expression(1 + n % 3);
    Answer answer = *gdb_->run("-data-evaluate-expression " + c_string(expression));
    auto number = ours(expression);
    EXPECT_EQ(number.has_value(), answer.good)
        << expression << ": " << (number ? answer.error : number.error().message);
    if (!number || !answer.good) continue;
    ++understood;
    compare(expression, *number);
  }
  EXPECT_GT(understood, 80);
}

}  // namespace
}  // namespace pastcone::gdb
