#include "pastcone/causal/event_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "pastcone/causal/radix.h"

namespace pastcone::causal {
namespace {

TEST(EventSet, KnowsHowManyComeBefore) {
  std::mt19937 random(2);
  for (int round = 0; round < 100; ++round) {
    std::vector<Thread> threads(1 + random() % 5);
    for (Thread& thread : threads) thread.events = static_cast<uint32_t>(random() % 200);
    Column<Thread> column(threads);
    EventSet set(column);
    std::set<Node> truth;
    for (int i = 0; i < 100; ++i) {
      auto thread = static_cast<uint32_t>(random() % threads.size());
      if (threads[thread].events == 0) continue;
      Node node{thread, static_cast<uint32_t>(1 + random() % threads[thread].events)};
      set.add(node);
      truth.insert(node);
    }
    ASSERT_EQ(set.count(), truth.size());
    for (uint32_t thread = 0; thread < threads.size(); ++thread) {
      for (uint32_t event = 1; event <= threads[thread].events; ++event) {
        Node node{thread, event};
        ASSERT_EQ(set.before(node), std::distance(truth.begin(), truth.lower_bound(node)));
        ASSERT_EQ(set.up_to(node), std::distance(truth.begin(), truth.upper_bound(node)));
      }
    }
    std::set<Node> seen;
    set.each([&](Node node) {
      EXPECT_TRUE(seen.empty() || *seen.rbegin() < node);
      seen.insert(node);
    });
    ASSERT_EQ(seen, truth);
  }
}

TEST(SortedPlaces, AreThoseOfAStableSort) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<uint64_t> keys(random() % 300);
    uint64_t shift = random() % 64, spread = 1 + random() % 63;
    for (uint64_t& key : keys) key = (random() >> (64 - spread)) << shift % (65 - spread);
    std::vector<uint32_t> truth(keys.size());
    for (uint32_t i = 0; i < truth.size(); ++i) truth[i] = i;
    std::ranges::stable_sort(truth, {}, [&](uint32_t place) { return keys[place]; });
    auto count = static_cast<uint32_t>(keys.size());
    ASSERT_EQ(sorted_places(count, [&](uint32_t place) { return keys[place]; }), truth);
  }
}

}  // namespace
}  // namespace pastcone::causal
