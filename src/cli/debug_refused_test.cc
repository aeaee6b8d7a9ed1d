#include "pastcone/cli/debug_refused.h"

#include <gtest/gtest.h>

namespace pastcone::cli {
namespace {

TEST(Refused, WhatTakesAProcessAway) {
  for (const char* line :
       {"attach 1", "attach\t1", "atta 1", "kill", "exec /x", "file /x", "detach", "detach inferiors 1", "target native",
        "core /x", "disconnect", "reverse-next 3", "rsi", "checkpoint", "interpreter-exec mi -exec-continue",
        "layout src", "tui enable", "dprintf x.c:3,\"%d\", n", "handle SIGUSR1 stop", "tp work", "save breakpoints x", "edit",
        "explore total"})
    EXPECT_TRUE(why_refused(line)) << line;
}

TEST(Refused, NothingElse) {
  for (const char* line : {"", "info target", "inferior 1", "disassemble", "signal 0", "print kill", "r",
                           "rev", "att 1", "det", "call x()", "symbol-file"})
    EXPECT_FALSE(why_refused(line)) << line;
}

}  // namespace
}  // namespace pastcone::cli
