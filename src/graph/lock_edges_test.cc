#include "pastcone/graph/lock_edges.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "pastcone/graph/steps.h"

namespace pastcone::graph {
namespace {

using causal::EdgeKind;
using stage::ObjectKind;

ThreadId thread(uint32_t number) { return {ProcessId(1), number}; }
/// Threads do ten points after each event here.
Place at(uint32_t number, uint64_t point) { return {thread(number), leaving(point / 10 + 1), point}; }

Use use(uint32_t by, uint64_t from, uint64_t until, bool write = true) {
  return {at(by, from), until != 0 ? at(by, until) : Place(), write, false, 0};
}
Use instant(uint32_t by, uint64_t point, bool gives, uint64_t began_with) {
  return {at(by, point), at(by, point), true, gives, began_with};
}

class LockEdgesOf : public ::testing::Test {
 protected:
  void object(ObjectKind kind, std::vector<Use> uses) {
    facts_.objects.push_back({kind, false, std::move(uses)});
  }
  void fact(uint32_t by, uint64_t point, FactKind kind, uint64_t key, uint64_t number = 0) {
    facts_.list.push_back({thread(by), point / 10 + 1, kind, key, number, 0, leaving(point / 10 + 1), point});
  }
  /// "1@5 2@7", an arrow each: point 5 of the first thread to point 7 of the second; sorted.
  std::vector<std::string> edges(EdgeKind kind, bool parallel = true) const {
    std::vector<std::string> found;
    for (const LockEdge& edge : find_lock_edges(facts_, parallel).edges) {
      if (edge.kind == kind) found.push_back(name(edge.from) + " " + name(edge.to));
    }
    std::ranges::sort(found);
    return found;
  }
  static std::string name(const Place& place) {
    if (place.point == kItsEnd) return fmt::format("end of {}", place.thread.number());
    if (place.point == 0) return fmt::format("{}:{}", place.thread.number(), place.step);
    return fmt::format("{}@{}", place.thread.number(), place.point);
  }

  Facts facts_;
};

using Names = std::vector<std::string>;

TEST_F(LockEdgesOf, MutexesLeadFromTheReleaseToWhoTakesItNext) {
  object(ObjectKind::kMutex, {use(1, 1, 2), use(1, 3, 4), use(2, 1, 5), use(1, 9, 0)});
  EXPECT_EQ(edges(EdgeKind::kObject), (Names{"1@4 2@1", "2@5 1@9"}));
}

TEST_F(LockEdgesOf, AMutexThatAnotherThreadGaveBackLeadsFromThere) {
  Use taken = use(1, 1, 0);
  taken.until = at(3, 7);
  object(ObjectKind::kMutex, {taken, use(2, 1, 2)});
  EXPECT_EQ(edges(EdgeKind::kObject), (Names{"3@7 2@1"}));
}

TEST_F(LockEdgesOf, ReadersComeAfterTheLastWriteAndBeforeTheNext) {
  object(ObjectKind::kRwLock,
         {use(1, 1, 2), use(2, 1, 4, false), use(3, 1, 2, false), use(2, 2, 3, false), use(4, 1, 2)});
  EXPECT_EQ(edges(EdgeKind::kObject), (Names{"1@2 2@1", "1@2 2@2", "1@2 3@1", "2@4 4@1", "3@2 4@1"}));
}

TEST_F(LockEdgesOf, SemaphoresAreInOneOrderAndTheirWaitsNeedPosts) {
  object(ObjectKind::kSemaphore, {instant(1, 1, true, 0), instant(2, 1, true, 0), instant(3, 1, false, 0)});
  EXPECT_EQ(edges(EdgeKind::kObject), (Names{"1@1 2@1", "2@1 3@1"}));
  EXPECT_EQ(edges(EdgeKind::kCondition), (Names{"1@1 3@1"}));
}

TEST_F(LockEdgesOf, SemaphoresThatKeepThreadsApartNeedNobody) {
  object(ObjectKind::kSemaphore, {instant(1, 1, false, 1), instant(1, 2, true, 1), instant(2, 1, false, 1)});
  EXPECT_EQ(edges(EdgeKind::kObject), (Names{"1@2 2@1"}));
  EXPECT_EQ(edges(EdgeKind::kCondition), Names());
}

TEST_F(LockEdgesOf, BarriersHaveRoundsAndAreLeftBeforeTheyGo) {
  auto come = [](uint32_t by, uint64_t from, uint64_t all) {
    Use arrival = use(by, from, from + 1);
    arrival.writes = all;
    return arrival;
  };
  Use gone = use(1, 20, 20, false);
  object(ObjectKind::kBarrier, {come(1, 1, 2), come(2, 1, 2), come(2, 5, 4), come(1, 5, 4), gone});
  LockEdges found = find_lock_edges(facts_, true);
  ASSERT_EQ(found.meetings.size(), 2u);
  EXPECT_EQ(found.meetings[0].arrivals, (std::vector{at(1, 1), at(2, 1)}));
  EXPECT_EQ(found.meetings[0].departures, (std::vector{at(1, 2), at(2, 2)}));
  EXPECT_EQ(found.meetings[1].arrivals, (std::vector{at(2, 5), at(1, 5)}));
  EXPECT_EQ(edges(EdgeKind::kHandOver), (Names{"1@1 2@1", "2@5 1@5"}));
  EXPECT_EQ(edges(EdgeKind::kBarrier), (Names{"2@6 1@20"}));
}

TEST_F(LockEdgesOf, TheHeapIsOnlyHandedOver) {
  object(ObjectKind::kHeap, {use(1, 1, 2), use(2, 1, 2)});
  EXPECT_EQ(edges(EdgeKind::kHandOver), (Names{"1@2 2@1"}));
  EXPECT_EQ(edges(EdgeKind::kObject), Names());
}

TEST_F(LockEdgesOf, WhoFindsThatItIsDoneNeedsWhoDidIt) {
  object(ObjectKind::kOnce, {use(1, 1, 2), use(2, 1, 1, false), use(3, 4, 4, false)});
  EXPECT_EQ(edges(EdgeKind::kObject), (Names{"1@2 2@1", "1@2 3@4"}));
}

TEST_F(LockEdgesOf, TheFirstSignalWithTheMutexWakes) {
  // The third waits from 3 to 4; the first signals with the mutex, and once without; the second later.
  object(ObjectKind::kMutex, {use(1, 1, 3), use(3, 1, 3), use(1, 5, 7), use(2, 1, 3), use(3, 4, 6)});
  fact(1, 2, FactKind::kSignalled, 0x99);
  fact(1, 4, FactKind::kSignalled, 0x99);
  fact(1, 6, FactKind::kSignalled, 0x99);
  fact(2, 2, FactKind::kSignalled, 0x99);
  fact(2, 2, FactKind::kSignalled, 0x77);
  fact(3, 4, FactKind::kWoken, 0x99);
  EXPECT_EQ(edges(EdgeKind::kCondition), (Names{"1@6 3@4"}));
}

TEST_F(LockEdgesOf, JoinsComeAfterTheEnd) {
  fact(1, 12, FactKind::kJoined, 2);
  EXPECT_EQ(edges(EdgeKind::kJoin), (Names{"end of 2 1@12"}));
}

TEST_F(LockEdgesOf, CallsThatMeetAreInTheOrderOfTheirNumbers) {
  facts_.list = {{thread(2), 4, FactKind::kMet, 5, 1, 0, entering(5), 0},
                 {thread(1), 6, FactKind::kMet, 5, 0, 0, entering(7), 0},
                 {thread(3), 6, FactKind::kMet, 6, 0, 0, entering(7), 0}};
  EXPECT_EQ(edges(EdgeKind::kObject), (Names{"1:14 2:10"}));
}

TEST_F(LockEdgesOf, SharedMemoryIsThereWhenSomebodyHasMappedIt) {
  facts_.list = {{thread(1), 4, FactKind::kPagesThere, 5, 2, 0, entering(4), 0},
                 {thread(3), 9, FactKind::kPagesThere, 5, 8, 0, entering(9), 0},
                 {thread(2), 6, FactKind::kPagesAwaited, 5, 3, 0, entering(6), 0}};
  EXPECT_EQ(edges(EdgeKind::kHandOver), (Names{"3:18 2:12"}));
}

TEST_F(LockEdgesOf, SerialModeHasNoPoints) {
  object(ObjectKind::kNamed, {use(1, 1, 12), use(2, 1, 2)});
  EXPECT_EQ(edges(EdgeKind::kObject, false), (Names{"1:5 2:3"}));
}

TEST_F(LockEdgesOf, ObjectsSaySinceWhenTheyWereHad) {
  object(ObjectKind::kMutex, {use(1, 1, 12), use(2, 1, 2)});
  LockEdges found = find_lock_edges(facts_, true);
  ASSERT_EQ(found.edges.size(), 1u);
  EXPECT_EQ(found.edges[0].since_point, 1u);
  EXPECT_EQ(found.edges[0].since_step, leaving(1));
}

/// Two threads of ten events each, and edges between their points.
class LockStepsOf : public ::testing::Test {
 protected:
  LockStepsOf() {
    for (uint32_t i = 1; i <= 2; ++i)
      execution_.threads.push_back({thread(i), leaving(10), {}, i == 1, true});
    execution_.threads[1].creator = {0, leaving(2)};
    execution_.edges = {{{0, leaving(3)}, {1, leaving(4)}, EdgeKind::kMessage, causal::kNone},
                        {{1, leaving(10)}, {0, leaving(9)}, EdgeKind::kWait, causal::kNone}};
  }
  static Place place(uint32_t number, uint64_t step, uint64_t point) { return {thread(number), step, point}; }

  causal::Execution execution_;
};

TEST_F(LockStepsOf, AreCountedWithTheEvents) {
  LockEdges locks;
  locks.edges = {{place(1, leaving(2), 40), place(2, leaving(3), 7), EdgeKind::kObject, 3},
                 {place(1, leaving(2), 30), place(2, leaving(10), 9), EdgeKind::kObject, 3},
                 {place(2, 0, kItsEnd), place(1, leaving(9), 50), EdgeKind::kJoin, causal::kNone},
                 {place(2, leaving(11), 12), place(1, leaving(9), 50), EdgeKind::kObject, 3}};
  add_lock_steps(locks, execution_);
  EXPECT_EQ(execution_.threads[0].events, leaving(10) + 3);
  EXPECT_EQ(execution_.threads[1].events, leaving(10) + 2);
  EXPECT_EQ(execution_.threads[1].creator, (causal::Node{0, leaving(2)}));
  ASSERT_EQ(execution_.edges.size(), 5u);  // that of an event which is not there is left out
  EXPECT_EQ(execution_.edges[0].from, (causal::Node{0, leaving(3) + 2}));
  EXPECT_EQ(execution_.edges[0].to, (causal::Node{1, leaving(4) + 1}));
  EXPECT_EQ(execution_.edges[1].from, (causal::Node{1, leaving(10) + 2}));
  EXPECT_EQ(execution_.edges[1].to, (causal::Node{0, leaving(9) + 2}));
  EXPECT_EQ(execution_.edges[2].from, (causal::Node{0, leaving(2) + 2}));
  EXPECT_EQ(execution_.edges[2].to, (causal::Node{1, leaving(3) + 1}));
  EXPECT_EQ(execution_.edges[3].from, (causal::Node{0, leaving(2) + 1}));
  EXPECT_EQ(execution_.edges[4].from, (causal::Node{1, leaving(10) + 2}));
  EXPECT_EQ(execution_.edges[4].to, (causal::Node{0, leaving(9) + 3}));
}

TEST_F(LockStepsOf, HaveAnObjectSinceTheFirstStepBehindWhereItWasTaken) {
  LockEdges locks;
  locks.edges = {{place(1, leaving(4), 40), place(2, leaving(3), 7), EdgeKind::kObject, 3, leaving(2), 30},
                 {place(1, leaving(5), 50), place(2, leaving(4), 8), EdgeKind::kObject, 3, leaving(5), 49}};
  add_lock_steps(locks, execution_);
  ASSERT_EQ(execution_.between.size(), 4u);
  EXPECT_EQ(execution_.between[0].since, entering(3));
  EXPECT_EQ(execution_.between[1].since, execution_.between[1].at.event);
  EXPECT_EQ(execution_.between[2].since, 0u);
}

}  // namespace
}  // namespace pastcone::graph
