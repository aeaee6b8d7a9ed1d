#include "pastcone/cli/debug_completion.h"

#include <gtest/gtest.h>

namespace pastcone::cli {
namespace {

using Candidates = std::vector<std::string>;

/// A gdb that knows some names, and notes what it was asked.
struct Asked {
  std::string thread, line;
};

GdbCompletion gdb_that_notes(Asked& asked) {
  return [&asked](ThreadId thread, const std::string& line) {
    asked = {thread.valid() ? to_string(thread) : "", line};
    Candidates lines;
    for (const char* name : {"total", "total_sent", "work", "x.c:work"}) {
      size_t blank = line.find_last_of(' ');
      if (std::string_view(name).starts_with(line.substr(blank + 1)))
        lines.push_back(line.substr(0, blank + 1) + name);
    }
    return lines;
  };
}

std::string completed(const shell::Completer& completer, std::string_view text) {
  shell::Completion found = completer(text);
  return fmt::format("{}|{}", text.substr(0, found.start), fmt::join(found.candidates, ","));
}

TEST(DebugCompletion, OfPlaces) {
  Asked asked;
  auto places = like_in_gdb(gdb_that_notes(asked), "break");
  EXPECT_EQ(completed(places, "wo"), "|work");
  EXPECT_EQ(asked.line, "break wo");
  EXPECT_EQ(completed(places, "p2: x.c:"), "p2: |x.c:work");
  EXPECT_EQ(asked.thread, "p2");
  EXPECT_EQ(asked.line, "break x.c:");
  EXPECT_EQ(completed(places, "server: wo"), "server: |work");
  EXPECT_EQ(asked.thread, "");
  EXPECT_EQ(completed(places, "work if tot"), "work if |total,total_sent");
  EXPECT_EQ(asked.line, "print tot");
}

TEST(DebugCompletion, OfPredicates) {
  Asked asked;
  auto predicates = predicate_completer(gdb_that_notes(asked), {"p1", "p2"});
  EXPECT_EQ(completed(predicates, ""), "|any,p1:,p2:");
  EXPECT_EQ(completed(predicates, "p1: x == 1 && p"), "p1: x == 1 && |p1:,p2:");
  EXPECT_EQ(completed(predicates, "p1: tot"), "p1: |total,total_sent");
  EXPECT_EQ(asked.thread, "p1");
  EXPECT_EQ(completed(predicates, "p1: x == 1 || p2: 1 + tot"), "p1: x == 1 || p2: 1 + |total,total_sent");
  EXPECT_EQ(asked.thread, "p2");
  EXPECT_EQ(asked.line, "print 1 + tot");
  EXPECT_EQ(completed(predicates, "p1: total > 3 in wo"), "p1: total > 3 in |work");
  EXPECT_EQ(asked.line, "break wo");
  EXPECT_EQ(completed(predicates, "p1: total, p2: total_sent if p"), "p1: total, p2: total_sent if |p1:,p2:");
}

TEST(DebugCompletion, OfWhatCanBeRunTo) {
  auto events = [](std::string_view text) { return shell::complete_last_word(text, {"p1:", "p2:"}); };
  auto demand = demand_completer(events, [] { return Candidates{"4", "queue"}; });
  EXPECT_EQ(completed(demand, ""), "|p1:,p2:,obj,recv,send,state");
  EXPECT_EQ(completed(demand, "o"), "|obj");
  EXPECT_EQ(completed(demand, "p"), "|p1:,p2:");
  EXPECT_EQ(completed(demand, "obj q"), "obj |queue#");
  EXPECT_EQ(completed(demand, "send 1 "), "send 1 |");
}

}  // namespace
}  // namespace pastcone::cli
