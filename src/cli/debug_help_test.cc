#include "pastcone/cli/debug_help.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "pastcone/base/files.h"
#include "pastcone/cli/program.h"
#include "pastcone/shell/help.h"
#include "pastcone/shell/session.h"

namespace pastcone::cli {
namespace {

using shell::CommandText;

class DebugHelpTest : public testing::Test {
 protected:
  DebugHelpTest() : session_(with_texts(), interrupt_) { add_help(commands_); }

  shell::Commands& with_texts() {
    add_debug_texts(commands_);
    return commands_;
  }

  /// The whole name of what is typed, or the error.
  std::string name_of(std::string_view typed) const {
    Result<const CommandText*> found = commands_.find(typed);
    if (!found) return found.error().message;
    return *found == nullptr ? "gdb" : std::string((*found)->name);
  }

  shell::Interrupt interrupt_;
  shell::Commands commands_;
  shell::Session session_;
};

TEST_F(DebugHelpTest, EveryCommandHasAllItsTexts) {
  for (const CommandText* text : commands_.texts()) {
    SCOPED_TRACE(text->name);
    EXPECT_FALSE(text->summary.empty());
    EXPECT_TRUE(text->summary.ends_with('.'));
    EXPECT_LE(text->summary.size(), 90u);
    EXPECT_EQ(text->summary.find('\n'), std::string_view::npos);
    if (text->prefix) continue;
    EXPECT_FALSE(text->group.empty());
    EXPECT_TRUE(text->usage.starts_with(text->name));
    EXPECT_EQ(text->example.front(), '(');
    EXPECT_NE(text->example.find(text->name), std::string_view::npos);
    EXPECT_FALSE(text->text.ends_with('\n'));
  }
}

TEST_F(DebugHelpTest, EveryNameLeadsToItsCommand) {
  for (const CommandText* text : commands_.texts()) {
    EXPECT_EQ(name_of(text->name), text->name);
    std::string before(text->name.substr(0, text->name.rfind(' ') + 1));
    for (std::string_view alias : shell::words_of(text->aliases)) {
      EXPECT_EQ(name_of(before + std::string(alias)), text->name);
    }
  }
}

TEST_F(DebugHelpTest, WhoKnowsGdbIsAtHome) {
  for (auto [typed, name] :
       std::initializer_list<std::pair<const char*, const char*>>{{"c", "continue"},
                                                                  {"n", "next"},
                                                                  {"s", "step"},
                                                                  {"b", "break"},
                                                                  {"p", "print"},
                                                                  {"bt", "bt"},
                                                                  {"l", "list"},
                                                                  {"fin", "finish"},
                                                                  {"u", "until"},
                                                                  {"si", "stepi"},
                                                                  {"ni", "nexti"},
                                                                  {"d", "delete"},
                                                                  {"tb", "tbreak"},
                                                                  {"t", "thread"},
                                                                  {"i b", "info breakpoints"},
                                                                  {"i r", "info registers"},
                                                                  {"i lo", "info locals"},
                                                                  {"f", "frame"},
                                                                  {"q", "quit"},
                                                                  {"h", "help"},
                                                                  {"i th", "info threads"},
                                                                  {"ptype", "gdb"},
                                                                  {"undisplay", "gdb"},
                                                                  {"info frame", "gdb"},
                                                                  {"cont", "continue"}}) {
    EXPECT_EQ(name_of(typed), name) << typed;
  }
}

/// With PASTCONE_UPDATE_DOCS in the environment it is written anew.
TEST_F(DebugHelpTest, TheReferenceSaysTheSame) {
  std::string reference = debug_reference(commands_);
  if (std::getenv("PASTCONE_UPDATE_DOCS") != nullptr) {
    ASSERT_TRUE(write_file_atomic(DEBUGGER_REFERENCE, reference, 0644));
  }
  Result<std::string> written = read_file(DEBUGGER_REFERENCE);
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_TRUE(*written == reference)
      << "docs/debugger.md is not what `help` says; write it anew with\n"
      << "  PASTCONE_UPDATE_DOCS=1 build/bin/cli_test --gtest_filter='DebugHelp*'";
}

TEST(ProgramScript, OptionsReachTheirCommandInOrder) {
  Program program;
  shell::Script script;
  std::string rec;
  CLI::App& debug = program.add("tried", "…", []() -> Result<int> { return 7; });
  debug.add_option("REC", rec, "…");
  program.take_script(debug, script);
  const char* line[] = {"pastcone", "tried", "-ex", "-1", "newest", "-x", "file", "--batch", "-ex", "bt"};
  EXPECT_EQ(program.run(10, line), 7);
  EXPECT_EQ(rec, "newest");
  ASSERT_EQ(script.steps.size(), 3u);
  EXPECT_EQ(script.steps[0].text, "-1");
  EXPECT_EQ(script.steps[1].text, "file");
  EXPECT_TRUE(script.batch);
  const char* wrong[] = {"pastcone", "tried", "-ex"};
  EXPECT_EQ(program.run(3, wrong), 2);
}

}  // namespace
}  // namespace pastcone::cli
