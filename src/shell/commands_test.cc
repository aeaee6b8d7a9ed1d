#include "pastcone/shell/commands.h"

#include <gtest/gtest.h>

namespace pastcone::shell {
namespace {

/// A small table whose handlers note what they were called with.
class CommandsTest : public testing::Test {
 protected:
  CommandsTest() {
    add("step", "s", Repeat::kSame);
    add("stop if");
    add("run to");
    add("restart", "r");
    add("break", "b br");
    add("break all");
    add("print", "p");
    add("list", "l", Repeat::kBare);
    commands_.add({.name = "info", .aliases = "i", .summary = "What there is.", .gdb = true, .prefix = true});
    add("info breakpoints", "b");
    add("info predicates");
    commands_.add({.name = "bt", .summary = "The stack.", .gdb = true});
    add("show message");
    add("show messages in-transit");
  }

  void add(std::string_view name, std::string_view aliases = "", Repeat repeat = Repeat::kNo) {
    commands_.add({.name = name, .aliases = aliases, .repeat = repeat},
                  [this, name](std::string_view arguments) -> Status {
                    called_ = fmt::format("{}({})", name, arguments);
                    return {};
                  });
  }

  void hand_on_all() {
    commands_.set_fallback([this](std::string_view line) -> Result<bool> {
      called_ = fmt::format("gdb: {}", line);
      return true;
    });
  }

  /// What a line called, or its error.
  std::string run(std::string_view line) {
    called_.clear();
    Status status = commands_.run(line);
    return status ? called_ : status.error().message;
  }

  Commands commands_;
  std::string called_;
};

TEST_F(CommandsTest, NamesAliasesAndArguments) {
  EXPECT_EQ(run("step"), "step()");
  EXPECT_EQ(run("  s   3  "), "step(3)");
  EXPECT_EQ(run("run to p3:1041"), "run to(p3:1041)");
  EXPECT_EQ(run("run\t to   obj 4#17"), "run to(obj 4#17)");
  EXPECT_EQ(run("i b"), "info breakpoints()");
  EXPECT_EQ(run("b srv.c:80 if x == 1"), "break(srv.c:80 if x == 1)");
  EXPECT_EQ(run("p/x $rip"), "print(/x $rip)");
  EXPECT_EQ(run("p*head"), "print(*head)");
  EXPECT_EQ(run("show messages in-transit"), "show messages in-transit()");
}

TEST_F(CommandsTest, NothingToDo) {
  EXPECT_EQ(run(""), "");
  EXPECT_EQ(run("   "), "");
  EXPECT_EQ(run("# step"), "");
}

TEST_F(CommandsTest, UniquePrefixes) {
  EXPECT_EQ(run("ste"), "step()");
  EXPECT_EQ(run("inf pred"), "info predicates()");
  EXPECT_EQ(run("ru t p1:1"), "run to(p1:1)");
  EXPECT_EQ(run("sto i p1: x"), "stop if(p1: x)");
  EXPECT_EQ(run("r"), "restart()");                  // an alias, though `run` begins so too
  EXPECT_EQ(run("show message"), "show message()");  // a whole word, though `messages` begins so too
}

TEST_F(CommandsTest, AmbiguousOnesAreRefusedWithTheList) {
  EXPECT_EQ(run("st"), "Ambiguous command \"st\": step, stop.");
  EXPECT_EQ(run("show mess"), "Ambiguous show command \"mess\": message, messages.");
}

TEST_F(CommandsTest, ArgumentsAreNoSubcommands) {
  EXPECT_EQ(run("break all srv.c:80"), "break all(srv.c:80)");
  EXPECT_EQ(run("break al"), "break(al)");
  EXPECT_EQ(run("break all.c:3"), "break(all.c:3)");
  EXPECT_EQ(run("break all:3"), "break(all:3)");
}

TEST_F(CommandsTest, UnknownOnesSuggestTheNearest) {
  EXPECT_EQ(run("brek main"), "Undefined command: \"brek\".  Did you mean \"break\"?");
  EXPECT_EQ(run("frobnicate"), "Undefined command: \"frobnicate\".  Try \"help\".");
  EXPECT_EQ(run("info breakpionts"),
            "Undefined info command: \"breakpionts\".  Did you mean \"info breakpoints\"?");
  EXPECT_EQ(run("info zzzzzzzz"), "Undefined info command: \"zzzzzzzz\".  Try \"help info\".");
  EXPECT_EQ(run("?"), "Undefined command: \"?\".  Try \"help\".");
  EXPECT_EQ(run("stop"), "\"stop\" must be followed by if.");
  EXPECT_EQ(run("run away"), "\"run\" must be followed by to.");
}

TEST_F(CommandsTest, EverythingElseIsForGdb) {
  hand_on_all();
  EXPECT_EQ(run("ptype struct server"), "gdb: ptype struct server");
  EXPECT_EQ(run("bt full 3"), "gdb: bt full 3");
  EXPECT_EQ(run("i sharedlibrary"), "gdb: info sharedlibrary");
  EXPECT_EQ(run("!ls"), "gdb: !ls");
  EXPECT_EQ(run("st"), "Ambiguous command \"st\": step, stop.");
  EXPECT_EQ(run("stop"), "\"stop\" must be followed by if.");  // gdb has a hook of that name
}

TEST_F(CommandsTest, WhatGdbDoesNotKnowEitherIsUndefined) {
  commands_.set_fallback([](std::string_view) -> Result<bool> { return false; });
  EXPECT_EQ(run("brek main"), "Undefined command: \"brek\".  Did you mean \"break\"?");
  commands_.set_fallback([](std::string_view) -> Result<bool> { return fail("No symbol \"x\"."); });
  EXPECT_EQ(run("ptype x"), "No symbol \"x\".");
}

TEST_F(CommandsTest, WhatAnEmptyLineRepeats) {
  EXPECT_EQ(commands_.repeated("s 3"), "s 3");
  EXPECT_EQ(commands_.repeated("l 10,20"), "list");
  EXPECT_EQ(commands_.repeated("print x"), "");
  EXPECT_EQ(commands_.repeated("ptype x"), "");
  EXPECT_EQ(commands_.repeated("st"), "");
  EXPECT_EQ(commands_.repeated(""), "");
}

TEST_F(CommandsTest, UnboundOnesAreKnown) {
  EXPECT_TRUE(commands_.unbound().empty());
  commands_.add({.name = "cause"});
  EXPECT_EQ(commands_.unbound(), std::vector<std::string>{"cause"});
  EXPECT_EQ(run("cause"), "\"cause\" is not possible here.");
  commands_.bind("cause", [](std::string_view) -> Status { return {}; });
  EXPECT_TRUE(commands_.unbound().empty());
}

using Words = std::vector<std::string>;

TEST_F(CommandsTest, CompletesNames) {
  EXPECT_EQ(commands_.complete("st").candidates, (Words{"step", "stop"}));
  EXPECT_EQ(commands_.complete("  st").start, 2u);
  EXPECT_EQ(commands_.complete("info ").candidates, (Words{"breakpoints", "predicates"}));
  EXPECT_EQ(commands_.complete("i pr").candidates, (Words{"predicates"}));
  EXPECT_EQ(commands_.complete("i pr").start, 2u);
  EXPECT_EQ(commands_.complete("show messages ").candidates, (Words{"in-transit"}));
  EXPECT_TRUE(commands_.complete("nothing ").candidates.empty());
  EXPECT_TRUE(commands_.complete("step ").candidates.empty());
}

TEST_F(CommandsTest, CompletesArguments) {
  commands_.bind(
      "break", [](std::string_view) -> Status { return {}; },
      word_completer(
          [] {
            return Words{"alpha", "main", "main_loop"};
          },
          ":"));
  EXPECT_EQ(commands_.complete("break ma").candidates, (Words{"main", "main_loop"}));
  EXPECT_EQ(commands_.complete("b al").candidates, (Words{"all", "alpha"}));
  Completion behind = commands_.complete("b p2:mai");
  EXPECT_EQ(behind.start, 5u);
  EXPECT_EQ(behind.candidates, (Words{"main", "main_loop"}));
}

TEST_F(CommandsTest, CompletesByGdb) {
  std::string asked;
  commands_.set_fallback_completer([&asked](std::string_view line) {
    asked = line;
    return Words{"bt full", "bt frame"};
  });
  Completion completion = commands_.complete("bt f");
  EXPECT_EQ(asked, "bt f");
  EXPECT_EQ(completion.start, 3u);
  EXPECT_EQ(completion.candidates, (Words{"frame", "full"}));
}

}  // namespace
}  // namespace pastcone::shell
