#include "pastcone/debug/waits.h"

#include <gtest/gtest.h>


namespace pastcone::debug {
namespace {

ThreadId id(uint32_t process, uint32_t thread = 1) { return {ProcessId(process), thread}; }

Sleep waiting(std::vector<ThreadId> whom, bool for_end = false) {
  Sleep sleep;
  sleep.call = "read";
  sleep.waits_for = std::move(whom);
  sleep.for_end = for_end;
  return sleep;
}

using Cycles = std::vector<std::vector<ThreadId>>;

TEST(Deadlock, TwoThatWaitForEachOther) {
  Sleeps sleeps{{id(2), waiting({id(3)})}, {id(3), waiting({id(2)})}};
  EXPECT_EQ(find_cycles(sleeps), (Cycles{{id(2), id(3)}}));
}

TEST(Deadlock, NoneIfSomebodyCouldWakeOne) {
  Sleeps sleeps{{id(2), waiting({id(1), id(3)})}, {id(3), waiting({id(2)})}};
  EXPECT_TRUE(find_cycles(sleeps).empty()) << "p1 runs";
  sleeps[id(1)] = waiting({});
  EXPECT_TRUE(find_cycles(sleeps).empty()) << "nobody knows what p1 waits for";
  sleeps[id(1)] = waiting({id(2), id(3)}, true);
  EXPECT_EQ(find_cycles(sleeps), (Cycles{{id(2), id(3)}})) << "and not by the wait for an end";
  EXPECT_EQ(deadlocked(sleeps).size(), 3u);
  sleeps[id(3)].for_ever = false;
  EXPECT_TRUE(find_cycles(sleeps).empty()) << "p3 goes on after a while";
}

TEST(Deadlock, ByAWaitForAnEnd) {
  Sleeps sleeps{{id(1), waiting({id(2)}, true)}, {id(2), waiting({id(1)})}};
  EXPECT_EQ(find_cycles(sleeps), (Cycles{{id(1), id(2)}}));
}

TEST(Deadlock, ItselfIsACycleToo) {
  EXPECT_EQ(find_cycles({{id(1), waiting({id(1)})}}), (Cycles{{id(1)}}));
}

TEST(Deadlock, TheShortestCycle) {
  Sleeps sleeps{{id(1), waiting({id(2)})},
                {id(2), waiting({id(3)})},
                {id(3), waiting({id(1), id(4)})},
                {id(4), waiting({id(3)})}};
  EXPECT_EQ(find_cycles(sleeps), (Cycles{{id(3), id(4)}}));
}

TEST(Deadlock, SeveralAtOnce) {
  Sleeps sleeps{{id(1), waiting({id(2)})},       {id(2), waiting({id(3)})},
                {id(3), waiting({id(1)})},       {id(4), waiting({id(5)})},
                {id(5), waiting({id(4)})},       {id(6), waiting({id(1), id(5)})},
                {id(7), waiting({id(6)}, true)}, {id(8), waiting({id(9)})}};
  EXPECT_EQ(find_cycles(sleeps), (Cycles{{id(4), id(5)}, {id(1), id(2), id(3)}})) << "p6 waits for both";
  EXPECT_EQ(deadlocked(sleeps).size(), 7u);
}

}  // namespace
}  // namespace pastcone::debug
