#include "pastcone/base/ids.h"

#include <gtest/gtest.h>

#include <unordered_set>

namespace pastcone {
namespace {

TEST(Ids, FormatAsInTheCommandLine) {
  ProcessId p3(3);
  EXPECT_EQ(to_string(p3), "p3");
  EXPECT_EQ(to_string(ThreadId(p3, 2)), "p3.2");
  EXPECT_EQ(to_string(ThreadId(p3, 1)), "p3");
  EXPECT_EQ(to_string(EventId(ThreadId(p3, 1), 1041)), "p3:1041");
  EXPECT_EQ(to_string(EventId(ThreadId(p3, 2), 17)), "p3.2:17");
  EXPECT_EQ(fmt::format("{}|{:>6}|{:<8}|", p3, ThreadId(p3, 2), EventId(ThreadId(p3, 2), 1)),
            "p3|  p3.2|p3.2:1  |");
}

TEST(Ids, ParseTakesWhatFormatGives) {
  for (const char* text : {"p1", "p4294967295"}) EXPECT_EQ(to_string(ProcessId::parse(text).value()), text);
  for (const char* text : {"p1", "p3.2", "p7.4294967295"}) {
    EXPECT_EQ(to_string(ThreadId::parse(text).value()), text);
  }
  for (const char* text : {"p3:1041", "p3.2:17", "p1:18446744073709551615"}) {
    EXPECT_EQ(to_string(EventId::parse(text).value()), text);
  }
}

TEST(Ids, TheFirstThreadMayBeSpelledOut) {
  EXPECT_EQ(ThreadId::parse("p3.1").value(), ThreadId(ProcessId(3), 1));
  EXPECT_EQ(EventId::parse("p3.1:5").value(), EventId::parse("p3:5").value());
}

TEST(Ids, ParseRefusesTheRest) {
  for (const char* text :
       {"", "p", "3", "P3", "p0", "p03", "p-1", "p+1", "p3 ", " p3", "p3x", "p4294967296"}) {
    EXPECT_FALSE(ProcessId::parse(text)) << text;
    EXPECT_FALSE(ThreadId::parse(text)) << text;
    EXPECT_FALSE(EventId::parse(std::string(text) + ":1")) << text;
  }
  for (const char* text : {"p3.", "p3.0", "p3.2.1", "p3.x", "p3.4294967296"}) {
    EXPECT_FALSE(ThreadId::parse(text)) << text;
  }
  for (const char* text :
       {"p3", "p3:", "p3:0", "p3:1:1", "p3:-1", "p3:18446744073709551616", "p3.:1", ":1"}) {
    EXPECT_FALSE(EventId::parse(text)) << text;
  }
}

TEST(Ids, TheErrorQuotesTheTextAndShowsHow) {
  EXPECT_EQ(EventId::parse("p3;7").error().message,
            "'p3;7' is not an event: write it like p3:1041 or p3.2:17, counted from 1");
}

TEST(Ids, OrderIsProcessThreadIndex) {
  auto event = [](const char* text) { return EventId::parse(text).value(); };
  EXPECT_LT(event("p1.9:9"), event("p2:1"));
  EXPECT_LT(event("p2:9"), event("p2.2:1"));
  EXPECT_LT(event("p2.2:1"), event("p2.2:2"));
}

TEST(Ids, DefaultIsNone) {
  EXPECT_FALSE(ProcessId().valid());
  EXPECT_FALSE(ThreadId().valid());
  EXPECT_FALSE(EventId().valid());
  EXPECT_FALSE(EventId(ThreadId(ProcessId(1), 1), 0).valid());
  EXPECT_TRUE(EventId(ThreadId(ProcessId(1), 1), 1).valid());
}

TEST(Ids, HashTellsNeighboursApart) {
  std::unordered_set<size_t> hashes;
  for (uint32_t process = 1; process <= 20; ++process) {
    for (uint32_t thread = 1; thread <= 20; ++thread) {
      for (uint64_t index = 0; index < 20; ++index) {
        hashes.insert(std::hash<EventId>()(EventId(ThreadId(ProcessId(process), thread), index)));
      }
    }
  }
  EXPECT_EQ(hashes.size(), 8000u);
}

}  // namespace
}  // namespace pastcone
