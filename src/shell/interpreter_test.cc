#include "pastcone/shell/interpreter.h"

#include <gtest/gtest.h>

namespace pastcone::shell {
namespace {

class InterpreterTest : public ::testing::Test {
 protected:
  InterpreterTest() {
    commands_.add({.name = "say"}, [this](std::string_view text) -> Status {
      if (text == "wrong") return fail("no");
      said_ += fmt::format("{};", text);
      ++count_;
      return {};
    });
    commands_.set_evaluator([this](std::string_view condition) -> Result<bool> {
      return condition == "few" ? count_ < 3 : condition == "yes";
    });
    commands_.bind_block("commands", [this](std::string_view arguments, const Lines& body) -> Status {
      said_ += fmt::format("[{}: {}]", arguments, fmt::join(body, ","));
      return {};
    });
    commands_.bind_block("python", [this](std::string_view, const Lines& body) -> Status {
      said_ += fmt::format("py[{}]", fmt::join(body, "|"));
      return {};
    });
  }

  std::string run(Lines lines) {
    said_.clear();
    for (size_t at = 0; at < lines.size(); ++at) {
      Status status = interpreter_.run(lines[at], [&]() -> std::optional<std::string> {
        return ++at < lines.size() ? std::optional(lines[at]) : std::nullopt;
      });
      if (!status) return said_ + "!" + status.error().message;
    }
    return said_;
  }

  Commands commands_;
  Interrupt interrupt_;
  Interpreter interpreter_{commands_, interrupt_};
  std::string said_;
  int count_ = 0;
};

TEST_F(InterpreterTest, ConditionsNest) {
  EXPECT_EQ(
      run({"if yes", "say a", "if no", "say b", "else", "say c", "end", "else", "say d", "end", "say e"}),
      "a;c;e;");
  EXPECT_EQ(run({"if no", "if yes", "say a", "else", "say b", "end", "end"}), "");
}

TEST_F(InterpreterTest, WhatIsToBeDoneAfterACommandIsDoneBeforeTheNext) {
  commands_.set_after([this]() -> Status {
    said_ += "after;";
    return {};
  });
  EXPECT_EQ(run({"define two", "say a", "say b", "end", "two"}), "a;after;b;after;after;");
}

TEST_F(InterpreterTest, Loops) {
  EXPECT_EQ(run({"while few", "say a", "end"}), "a;a;a;");
  count_ = 0;
  EXPECT_EQ(run({"while few", "say a", "if yes", "loop_break", "end", "say b", "end", "say c"}), "a;c;");
  count_ = 0;
  EXPECT_EQ(run({"while few", "say a", "loop_continue", "say b", "end"}), "a;a;a;");
}

TEST_F(InterpreterTest, DefinitionsTakeArguments) {
  EXPECT_EQ(run({"define both", "say $arg1, $arg0 of $argc", "say $argument", "end", "both x y"}),
            "y, x of 2;$argument;");
  EXPECT_EQ(run({"define both", "say again", "end", "both"}), "again;");
  EXPECT_EQ(run({"define say", "say a", "end"}), "!say is a command already; choose another name.");
  EXPECT_EQ(run({"define ever", "ever", "end", "ever"}), "!ever is the 100th call in a call.");
}

TEST_F(InterpreterTest, DocumentsAreShownByHelp) {
  EXPECT_EQ(run({"define mine", "say a", "end", "document mine", "What it does.", "if at all", "end"}), "");
  const CommandText* text = *commands_.find("mine");
  EXPECT_EQ(text->summary, "What it does.");
  EXPECT_EQ(text->text, "if at all");
}

TEST_F(InterpreterTest, BodiesOfOthersAreHandedOn) {
  EXPECT_EQ(run({"commands 1 2", "if yes", "say a", "end", "end"}), "[1 2: if yes,say a,end]");
  EXPECT_EQ(run({"python", "if True:", "  x = 1", "end"}), "py[if True:|  x = 1]");
}

TEST_F(InterpreterTest, ErrorsEndIt) {
  EXPECT_EQ(run({"if yes", "say wrong", "say b", "end"}), "!no");
  EXPECT_EQ(run({"while few", "say a"}), "!\"while\" needs lines after it, up to one that says end.");
}

}  // namespace
}  // namespace pastcone::shell
