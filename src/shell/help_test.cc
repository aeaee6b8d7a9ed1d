#include "pastcone/shell/help.h"

#include <gtest/gtest.h>

namespace pastcone::shell {
namespace {

class HelpTest : public testing::Test {
 protected:
  HelpTest() {
    commands_.add({.name = "step",
                   .aliases = "s",
                   .group = "Running",
                   .summary = "Run to another line.",
                   .usage = "step\nstep N",
                   .example = "(p1:4) step\n12\tx = 1;",
                   .text = "Into functions too."});
    commands_.add(
        {.name = "info", .aliases = "i", .summary = "Say what there is.", .gdb = true, .prefix = true});
    commands_.add({.name = "info breakpoints",
                   .aliases = "b",
                   .group = "Stopping",
                   .summary = "List breakpoints.",
                   .usage = "info breakpoints",
                   .example = ""});
    add_help(commands_);
  }

  std::string run(std::string_view line) {
    testing::internal::CaptureStdout();
    Status status = commands_.run(line);
    std::string output = testing::internal::GetCapturedStdout();
    return status ? output : status.error().message;
  }

  Commands commands_;
};

TEST_F(HelpTest, OfACommand) {
  EXPECT_EQ(run("help step"),
            "step, s -- Run to another line.\nUsage: step\n       step N\n\nInto functions too.\n\nExample:\n"
            "  (p1:4) step\n  12\tx = 1;\n");
  EXPECT_EQ(run("h i b"), "info breakpoints, info b -- List breakpoints.\nUsage: info breakpoints\n");
}

TEST_F(HelpTest, OfAPrefix) {
  std::string list =
      "info breakpoints, info b -- List breakpoints.\n\nAny other \"info\" is handed to gdb.\n";
  EXPECT_EQ(run("help info"), "info, i -- Say what there is.\n\n" + list);
  EXPECT_EQ(run("info"), "Say what there is.\n\n" + list);
}

TEST_F(HelpTest, OfAll) {
  EXPECT_TRUE(run("help").starts_with(
      "Running:\n  step\nStopping:\n  info breakpoints\nThe session:\n  help, apropos\n"));
  EXPECT_TRUE(run("help all")
                  .starts_with("Running:\n  step, s -- Run to another line.\n\nStopping:\n  info "
                               "breakpoints, info b -- List breakpoints.\n"));
}

TEST_F(HelpTest, OfWhatIsNotThere) {
  EXPECT_EQ(run("help stpe"), "Undefined command: \"stpe\".  Did you mean \"step\"?");
  std::string asked;
  commands_.set_fallback([&asked](std::string_view line) -> Result<bool> {
    asked = line;
    return true;
  });
  EXPECT_EQ(run("help ptype"), "");
  EXPECT_EQ(asked, "help ptype");
}

TEST_F(HelpTest, Apropos) {
  EXPECT_EQ(run("apropos FUNCTIONS"), "step, s -- Run to another line.\n");
  EXPECT_EQ(run("apropos zebra"), "Nothing about \"zebra\".\n");
  EXPECT_EQ(run("apropos"), "Which word?  Try \"apropos message\".");
}

TEST_F(HelpTest, Completes) {
  EXPECT_EQ(commands_.complete("help st").candidates, std::vector<std::string>{"step"});
  Completion below = commands_.complete("help info br");
  EXPECT_EQ(below.start, 10u);
  EXPECT_EQ(below.candidates, std::vector<std::string>{"breakpoints"});
}

TEST_F(HelpTest, Markdown) {
  EXPECT_TRUE(help_markdown(commands_).starts_with(
      "## Running\n\n### step\n\nRun to another line.\n\n```\nstep\nstep N\n```\n\nAlso: `s`.\n\nInto "
      "functions too.\n\n"
      "```\n(p1:4) step\n12\tx = 1;\n```\n\n## Stopping\n\n### info breakpoints\n"));
}

}  // namespace
}  // namespace pastcone::shell
