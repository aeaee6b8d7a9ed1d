#include "pastcone/replay/standing.h"

#include <gtest/gtest.h>

namespace pastcone::replay {
namespace {

ThreadId thread(uint32_t number) { return ThreadId(ProcessId(1), number); }

TEST(Standing, EndsAsRecorded) {
  std::map<ThreadId, ThreadSummary> recorded = {
      {thread(1), {.events = 9}},
      {thread(2), {.events = 3, .complete = true}},
      {thread(3), {.events = 5, .complete = true, .left = format::StopReason::kLimit}},
      {thread(4), {.events = 0}},
  };
  std::vector<Standing> all = {
      {.last = EventId(thread(1), 4)},
      {.last = EventId(thread(2), 0), .ended = true},  // its process ended before it got to that
      {.last = EventId(thread(3), 4), .ended = true},
      {.last = EventId(thread(4), 0), .ended = true},
      {.last = EventId(thread(5), 0), .ended = true},  // killed before it wrote anything
  };
  end_as_recorded(all, recorded);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].last, EventId(thread(1), 4));
  EXPECT_EQ(all[1].last, EventId(thread(2), 3));
  EXPECT_FALSE(all[1].left);
  EXPECT_EQ(all[2].last, EventId(thread(3), 5));
  EXPECT_EQ(all[2].left, format::StopReason::kLimit);
}

}  // namespace
}  // namespace pastcone::replay
