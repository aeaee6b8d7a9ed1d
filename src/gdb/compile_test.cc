// Each expression is compiled by a real gdb, evaluated by us on the process's memory and registers, and
// compared with what gdb itself computes.
#include "pastcone/gdb/compile.h"

#include <gtest/gtest.h>

#include "pastcone/gdb/testing/stopped_subject.h"
#include "pastcone/gdb/translate.h"

namespace pastcone::gdb {
namespace {

class CompileTest : public StoppedSubject {
 protected:
  Result<Evaluation> evaluate(const std::string& expression, const std::string& location = {}) {
    auto compiled = TRY(compile(*gdb_, expression, location));
    return compiled.evaluate(reader(), registers());
  }
  void agree(std::initializer_list<const char*> expressions) {
    for (const char* expression : expressions) {
      auto evaluation = evaluate(expression);
      ASSERT_TRUE(evaluation) << expression << ": " << evaluation.error().message;
      EXPECT_EQ(evaluation->value, by_gdb(expression)) << expression;
    }
  }
  std::string trouble(const std::string& expression, const std::string& location = {}) {
    auto evaluation = evaluate(expression, location);
    return evaluation ? fmt::format("none: {}", evaluation->value) : evaluation.error().message;
  }
};

constexpr std::initializer_list<const char*> kGlobals = {
    "x", "u", "ch", "big", "one.x", "one.u", "one.l", "one.in.s", "one.in.uc", "one.in.sc", "one.a", "one.b",
    "one.c", "one.ok", "head->x", "head->next->l", "head->next->arr[2]", "head->next->arr[x]",
    "numbers[x - 1]", "*numbers", "*(numbers + 2)", "&numbers[1]", "&x", "name[1]", "*name", "hidden",
    "(*head).x", "head[0].x", "{int}&x", "*(char**)&name", "*&x", "x == 2 && u == 7", "x == 99 || u == 7",
    "x == 99 && u == 7", "!x", "!zero", "~x", "-x", "x + u", "x - u", "minus * u", "minus / 2", "minus % 3",
    "u / x", "u % x", "x & 3", "x | 4", "x ^ 3", "x << 3", "minus >> 1", "u >> 1", "(char)big",
    "(unsigned char)minus", "(short)big", "(long)minus", "(unsigned)minus", "sizeof(x)",
    "sizeof(struct thing)", "sizeof one", "zero ? u : 3", "x ? u : 3", "x < 3", "x <= 2", "x > u", "x >= 3",
    "minus < u", "minus < 0", "minus > 0u", "u < 3", "x != 3", "x == 0x100000000", "u == -1", "one.u == -1",
    "one.l == -5", "one.b == -3", "one.a == 5", "name == 0", "name != 0", "head == &two",
    "head != 0 && head->x == 2", "nothing == 0 || nothing->x", "head - &one", "&one - &two",
    "&one - head == -1", "head + 1 == &two + 1", "!head", "!nothing", "!(x == 1) && !!u", "-1", "- 1 + x",
    "(x + 1) * (u - 2)", "(x) - u", "(x) + 1", "(int) - u", "(x) * (u)", "(x) & (u)", "(numbers)[1]",
    "-5000000000 + big", "9223372036854775807", "x == 2, u",
    // What gdb's compiler needs help with.
    "ch == 'A'", "'A'", "*name == 'a' && name[1] == '\\x62'", "ch != '\\0'", "ch == '\\101'", "'\\n' + 1",
    "name[3] == '\\000'", "one.c == GREEN", "one.c == 5", "(int)one.c == GREEN", "one.c != BLUE",
    "one.c < BLUE && one.c > RED", "one.c + 1", "head->next->c == GREEN && x", "GREEN", "GREEN + BLUE",
    "(enum color)5 == GREEN", "one.ok == 1", "!one.ok", "!two.ok && x", "one.ok && one.c", "one.ok ? 3 : 4",
    "two.ok + 1", "-one.c", "numbers[one.ok]", "numbers[(one.c - 4)]", "function == inner",
    "function == &inner", "&inner", "inner == function && x"};

TEST_F(CompileTest, AgreesWithGdb) {
  run_to(GDB_SUBJECT, "inner");
  agree(kGlobals);
  agree({"depth", "p", "*p", "p[1] == 'b'", "depth * 2 + us", "inner::depth", "x == 1 && depth == 3", "$rsp",
         "$rip", "$rax", "$rbx", "$rdx", "*(long*)$rsp", "(int)$rdi == 3"});
  gdb_->console("next 3");
  agree({"local", "us", "vol", "local > 3", "x", "us == 65535"});
  gdb_->console("up");
  EXPECT_EQ(trouble("r"), "No symbol \"r\" in current context.") << "the innermost frame counts";
}

TEST_F(CompileTest, AgreesWithGdbWhereValuesAreInRegisters) {
  run_to(GDB_SUBJECT_FAST, "44");
  agree({"x", "head->next->l", "one.c == GREEN", "depth", "p", "*p", "vol", "local", "us",
         "depth == 3 && *p == 'a'"});
  EXPECT_TRUE(evaluate("depth")->used_registers);
  EXPECT_FALSE(evaluate("x")->used_registers);
}

TEST_F(CompileTest, AgreesWithGdbInCxx) {
  run_to(GDB_SUBJECT_CXX, "Derived::f");
  gdb_->console("next");
  agree({"d",
         "this->d",
         "b",
         "flag",
         "flag == false",
         "!flag",
         "!g",
         "g && x",
         "g ? 1 : 2",
         "flag == g",
         "(x == 1) == true",
         "!(x == 1)",
         "st",
         "st == State::kBusy",
         "o == kB",
         "o > kA",
         "ns::counter",
         "::x",
         "ns::counter == 3",
         "ns::Q::s",
         "bp->b",
         "((Derived*)bp)->d",
         "obj.d",
         "loc",
         "true",
         "static_cast<int>(st)",
         "bp == &obj",
         "this == &obj"});
  // What a reference refers to, and not its address.
  agree({"ref", "ref == 3", "ref + 1", "!ref", "-ref", "long_ref", "long_ref == 77",
         "state_ref == State::kBusy", "obj_ref.d", "obj_ref.ref", "(obj_ref).d", "(char)ref",
         "ref == ns::counter && obj_ref.flag == 0", "long_ref > ref"});
  // To a pointer or an array it is followed first.
  agree({"*pointer_ref", "*pointer_ref == 5", "(*pointer_ref) == 5", "five == *pointer_ref",
         "pointer_ref && *pointer_ref == 5", "*pointer_ref + 1", "**pointer_pointer_ref",
         "*pointer_pointer_ref == to_five", "*array_ref == 7", "*(array_ref + 1)", "*word_ref == 'a'",
         "*(word_ref + 1) == 'b'", "*to_five == *pointer_ref"});
  agree({"&ref == &ns::counter", "&ref != &ns::counter", "&obj_ref == &obj", "(unsigned long)&obj_ref",
         "&obj_ref == bp", "&pointer_ref == &to_five", "*&pointer_ref == to_five", "&*pointer_ref == to_five",
         "&(ref) == &ns::counter", "&obj_ref.d == &obj.d", "this == &obj_ref"});
  agree({"sizeof(ref)", "sizeof ref", "sizeof(obj_ref) == sizeof(obj)", "sizeof(word_ref)", "sizeof(array_ref)",
         "sizeof(obj_ref.ref) + 1", "sizeof(long_ref)", "sizeof(five)", "sizeof(Old)"});
  // What is shifted keeps its type.
  agree({"(hash << bits) == 0x10", "hash << bits >> bits", "minus >> 1u", "minus >> bits", "1 << bits + 1",
         "hash << bits | 1", "narrow << 4", "hash >> (bits & 3) << 1", "minus << 2 * 2 >> 1", "large << 2",
         "1ul << 40 >> 8", "x + 1 << ref", "(narrow << x) == 400", "minus >> narrow / 100"});
  // A choice has the type of both.
  agree({"(no ? hash : -1) == -1", "(no ? 0 : large) * 2 > 6000000000", "(five ? hash : minus) > 0",
         "no ? 0 : large", "(no ? narrow : minus) < 0", "(no ? 0 : huge) > 5", "five ? no ? 1 : 2 : 3",
         "(no ? 1 : 2, 3)", "(no ? to_five : 0) == 0", "(five ? to_five : 0) == to_five",
         "no ? 1 : five ? -1 : minus", "(no ? hash == 0 : minus) < 0", "(five ? large : x) + hash"});
  agree({"(five ? minus : fields.three) < 0", "(no ? fields.three : minus) < 0", "(five ? minus : narrow) > -1"});
  agree({"static_cast<long>(minus) < 0"});
  // For gdb's print, of the one that is chosen.
  EXPECT_EQ(evaluate("(no ? hash : minus) < 0")->value, 0);
  EXPECT_EQ(evaluate("(no ? x : no ? hash : minus) / 2")->value, 2147483646);
  EXPECT_EQ(evaluate("no ? 1 : five ? -1 : hash")->value, 0xffffffff);
  agree({"(bool)five == true", "(bool)(hash & 1) + 1", "(bool)five + 0", "(bool)to_five == (bool)bp",
         "!(bool)five", "(bool)ref == true", "(bool)x", "-(bool)narrow"});
  agree({"fields.old - 1 < 0", "fields.three - 4 < 0", "fields.old == kA", "fields.three << 3"});
  agree({"unsigned_fields.five - 4 < 0", "unsigned_fields.all - 4 < 0", "unsigned_fields.wide - 4 < 0",
         "unsigned_fields.byte - 4 < 0", "-unsigned_fields.five", "large_one > 5000000000", "large_one * 2",
         "kLarge + 1", "kLarge / 2 == 549755813888", "small_one == Small::kBelow", "(int)small_one < 0"});
  EXPECT_EQ(trouble("wide"), "gdb cannot compile a value of this size.");
  EXPECT_EQ(gdb_->console("print x")->console.substr(0, 1), "$") << "and goes on";
}

// It does not look into members that have no name.
TEST_F(CompileTest, FindsMembersOfAnonymousUnionsAndStructures) {
  run_to(GDB_SUBJECT, "inner");
  agree({"mixed.whole", "mixed.whole == 0x70005 && x", "mixed.low", "mixed.high == 7", "to_mixed->whole",
         "to_mixed->high + 1", "(*to_mixed).low", "mixed.letters[1] == 'b'", "to_mixed->letters[x - 1]",
         "&mixed.high", "mixed.pair.second", "to_mixed->pair.second == -6", "mixed.kind", "to_mixed->both"});
  std::string tagless = trouble("tagless.inside == 12");
  EXPECT_TRUE(is_only_uncompiled(tagless)) << tagless;
  EXPECT_EQ(trouble("mixed.nosuch"), "Couldn't find member named `nosuch' in struct/union/class `mixed'");
  std::string bits = trouble("mixed.nibble == 9");
  EXPECT_TRUE(is_only_uncompiled(bits)) << bits;
}

TEST_F(CompileTest, CutsToTheSizeOfAnEnumeration) {
  run_to(GDB_SUBJECT, "inner");
  agree({"(enum color)minus < 0", "(enum color)minus > 5", "(enum color)big == big", "(enum color)big < big",
         "(long)(enum color)minus", "(enum color)u == 7", "(enum tiny)big == big", "(enum tiny)minus",
         "(enum sided)minus < 0", "(enum vast)minus > 0", "(enum vast)big == big", "FAR_OUT <= minus", "(~FAR_OUT) / 3 < 0",
         "FAR_OUT > 0", "(sized_t)minus < 0", "(sized_t)big == 3",
         "(const enum color)big < big", "(volatile sized_t)minus < 0", "(const enum vast)minus > 0"});
}

TEST_F(CompileTest, ShiftsByMoreThanThereIs) {
  run_to(GDB_SUBJECT, "inner");
  for (const char* expression : {"x << thousand", "big << thousand * 64", "u >> thousand", "x << 256",
                                 "x << 65536", "u >> 300"}) {
    auto evaluation = evaluate(expression);
    ASSERT_TRUE(evaluation) << expression << ": " << evaluation.error().message;
    EXPECT_EQ(evaluation->value, 0) << expression;
  }
  agree({"x << u", "big >> x", "1 << 3", "u >> x + 1"});
}

TEST_F(CompileTest, LeavesSizesThatChangeToGdb) {
  run_to(GDB_SUBJECT, "sized");
  gdb_->console("next 2");
  for (const char* expression : {"sizeof(room)", "sizeof room == 3", "1 + sizeof(room) / sizeof(room[0])"}) {
    std::string why = trouble(expression);
    EXPECT_TRUE(is_only_uncompiled(why)) << expression << ": " << why;
  }
  agree({"sizeof(room[0])", "number"});
}

// What gdb's compiler gets wrong, and cannot be told.
TEST_F(CompileTest, RefusesWhatGdbWouldTakeForSomethingElse) {
  run_to(GDB_SUBJECT_CXX, "Derived::f");
  gdb_->console("next");
  agree({"both.shared", "both_ref.shared", "Both::shared + 1", "(Truth)five + 1", "(Truth)hash == true",
         "((Derived*)bp)->d", "((Base*)&both)->b", "(Both*)&both == &both", "(long)second - (long)&both",
         "(unsigned)(&sevens[0] - &sevens[2]) == 4294967294"});
  constexpr const char* kStatic = "gdb compiles a static member that an object has only by itself";
  EXPECT_EQ(trouble("both.shared + 1"), kStatic);
  EXPECT_EQ(trouble("x == 1 && both.shared == 6"), kStatic);
  EXPECT_EQ(trouble("((Other*)&both)->other"),
            "gdb cannot compile a cast to Other*, which lies elsewhere in the object");
  EXPECT_EQ(trouble("((Both*)second)->own"),
            "gdb cannot compile a cast to Both*, which lies elsewhere in the object");
  EXPECT_EQ(trouble("((Other&)both).other"),
            "gdb cannot compile a cast to Other&, which lies elsewhere in the object");
  EXPECT_EQ(trouble("((B2*)to_two)->b2"), "gdb cannot compile a cast to B2*, which lies elsewhere in the object");
  EXPECT_EQ(trouble("((Virtual*)to_two)->v"),
            "gdb cannot compile a cast to Virtual*, which lies elsewhere in the object");
  EXPECT_EQ(trouble("static_cast<B2*>(to_two)->b2"), "gdb cannot compile casts within objects");
  EXPECT_EQ(trouble("static_cast<Other&>(both).other"), "gdb cannot compile casts within objects");
  EXPECT_EQ(trouble("static_cast<Of<int>*>(to_two)->b2"), "gdb cannot compile casts within objects");
  for (const char* cast : {"(B2* const)", "(B2p)", "(Other* const)"})
    EXPECT_TRUE(trouble(fmt::format("({}to_two)->b2", cast)).starts_with("gdb cannot compile a cast to ")) << cast;
  EXPECT_EQ(trouble("pointing->own"), "gdb cannot compile pointing->, of an object");
  EXPECT_EQ(trouble("Derived::d == 12"), "gdb cannot compile Derived::d");
}

TEST_F(CompileTest, KnowsAddressesWithoutTypes) {
  run_to(GDB_SUBJECT, "inner");
  agree({"*(int*)&bare", "*(int*)((char*)&bare + 4) == 43", "(int)bare", "*(long*)&bare != 0 && x",
         "(long)&bare == (long)( &bare)", "x & (int)bare"});
  EXPECT_EQ(evaluate("*((int*)&bare + 1)")->value, 43);
  EXPECT_EQ(evaluate("*(int*)&bare")->memory.size(), 1u);
  EXPECT_EQ(trouble("bare == 42"), "'bare' has unknown type; cast it to its declared type");
  EXPECT_EQ(trouble("*(int*)&nosuch"), "No symbol \"nosuch\" in current context.");
}

TEST_F(CompileTest, TellsWhatItHasRead) {
  run_to(GDB_SUBJECT, "inner");
  auto both = evaluate("x == 1 && u == 7");
  ASSERT_TRUE(both);
  auto x = static_cast<uint64_t>(by_gdb("&x"));
  auto u = static_cast<uint64_t>(by_gdb("&u"));
  using Reads = std::vector<std::pair<uint64_t, uint32_t>>;
  EXPECT_EQ(both->memory, (Reads{{x, 4}, {u, 4}}));
  EXPECT_EQ(evaluate("x == 2 && u == 7")->memory, (Reads{{x, 4}}));
  EXPECT_EQ(evaluate("x == 1 || u == 7")->memory, (Reads{{x, 4}}));
  EXPECT_EQ(trouble("nothing->x"), "Cannot access memory at address 0x0");
  EXPECT_EQ(trouble("nothing && nothing->x"), "none: 0");
  EXPECT_EQ(trouble("x / zero"), "Division by zero");
}

TEST_F(CompileTest, NeedsNoProcessButAPlace) {
  open(GDB_SUBJECT);
  EXPECT_EQ(trouble("x"), "No process: say where (a function, or FILE:LINE).");
  auto compiled = compile(*gdb_, "x == 2 && local > 3 && one.c == GREEN && *p == 'a'", "inner");
  ASSERT_TRUE(compiled) << compiled.error().message;
  EXPECT_TRUE(compiled->uses_registers());
  EXPECT_EQ(gdb_->run("-break-insert inner")->results["bkpt"]["addr"].number(), compiled->scope());
  compiled = compile(*gdb_, "x == 2", "gdb_subject.c:44");
  ASSERT_TRUE(compiled) << compiled.error().message;
  EXPECT_FALSE(compiled->uses_registers());
  EXPECT_EQ(trouble("x", "nosuch"), "Function \"nosuch\" not defined.");
  EXPECT_EQ(trouble("r", "inner"), "No symbol \"r\" in current context.");
}

TEST_F(CompileTest, ForSomewhereElse) {
  run_to(GDB_SUBJECT, "inner");
  gdb_->console("finish");
  auto compiled = compile(*gdb_, "local == 6 && *p == 'a' && x == 2", "gdb_subject.c:44");
  ASSERT_TRUE(compiled) << compiled.error().message;
  gdb_->console("break 44");
  ASSERT_TRUE(gdb_->console("delete 1")->good);
  gdb_->console("continue");
  EXPECT_EQ(reg(16), compiled->scope());
  EXPECT_EQ(compiled->evaluate(reader(), registers())->value, 0);
  EXPECT_EQ(compile(*gdb_, "local == 8 && *p == 'a' && x == 3", "gdb_subject.c:44")
                ->evaluate(reader(), registers())
                ->value,
            1);
}

TEST_F(CompileTest, ForEachPlaceOfATemplate) {
  open(GDB_SUBJECT_CXX);
  auto all = compile_all(*gdb_, "x == 1 && g == true", "tmpl");
  ASSERT_TRUE(all) << all.error().message;
  ASSERT_EQ(all->size(), 2u);
  EXPECT_NE(all->at(0).scope(), all->at(1).scope());
  EXPECT_EQ(trouble("x", "tmpl"), "tmpl means 2 places");
}

TEST_F(CompileTest, ThreadLocalVariablesByTheThreadPointer) {
  run_to(GDB_SUBJECT, "inner");
  constexpr int kThreadPointer = 58;
  auto compiled = compile(*gdb_, "tls");
  ASSERT_TRUE(compiled) << compiled.error().message;
  EXPECT_TRUE(compiled->uses_registers());
  EXPECT_FALSE(compiled->uses_registers(kThreadPointer));
}

TEST_F(CompileTest, RefusesInOneLine) {
  run_to(GDB_SUBJECT, "inner");
  EXPECT_EQ(trouble("nosuch"), "No symbol \"nosuch\" in current context.");
  EXPECT_EQ(trouble("one.nosuch"), "Couldn't find member named `nosuch' in struct/union/class `thing'");
  EXPECT_EQ(trouble("x =="), "A syntax error in expression, near `'.");
  EXPECT_EQ(trouble("(x"), "A syntax error in expression, near `'.");
  EXPECT_EQ(trouble("f > 1"), "gen_fetch: Unsupported type code `float'.");
  EXPECT_EQ(trouble("(int)one.d"), "gen_fetch: Unsupported type code `double'.");
  EXPECT_EQ(trouble("1.5"), "floating-point numbers such as 1.5 cannot be compiled");
  EXPECT_EQ(trouble("x > (double)3 / 2"), "floating-point numbers such as (double)1 cannot be compiled");
  EXPECT_EQ(trouble("x == 1e3"), "floating-point numbers such as 1e3 cannot be compiled");
  EXPECT_FALSE(is_only_uncompiled(trouble("nosuch")));
  EXPECT_EQ(trouble("inner(1, name)"), "Cannot translate to agent expression");
  EXPECT_EQ(trouble("x = 3"), "May only assign to trace state variables");
  EXPECT_EQ(trouble("one"), "Value not scalar: cannot be an rvalue.");
  EXPECT_EQ(trouble("$pc"), "'pc' is a user-register; GDB cannot yet trace user-register contents.");
  EXPECT_NE(trouble(""), "none: 0");
  EXPECT_NE(trouble(std::string(500, '(')).substr(0, 4), "none");
  EXPECT_NE(trouble(std::string(500, '!')).substr(0, 4), "none");
  EXPECT_EQ(trouble("x\n== 1 )"), "A syntax error in expression, near `)'.");
  EXPECT_EQ(trouble("x == 1) || (u == 9"), "A syntax error in expression, near `)'.");
  EXPECT_EQ(trouble("x == 1 if u"), "A syntax error in expression, near `if'.");
  EXPECT_EQ(trouble("x == 1 thread 1"), "A syntax error in expression, near `thread'.");
  EXPECT_EQ(trouble("x @ 2"), "Value not scalar: cannot be an rvalue.");
}

TEST(Tokens, KeepTheText) {
  for (std::string text : {"a->b == 'x'&&c", " 's.c'::v + 1.5e-3 ", "\"un", "'", "'\\", "a<<=b>>c::d", ""}) {
    std::string joined;
    for (const Token& token : tokens_of(text)) joined += token.space + token.text;
    EXPECT_EQ(joined, text);
  }
}

}  // namespace
}  // namespace pastcone::gdb
