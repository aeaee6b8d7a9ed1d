// What a probe is made of; the whole is tested against programs that log what they do (tests/e2e).
#include <gtest/gtest.h>

#include "pastcone/causal/testing/random_execution.h"
#include "pastcone/debug/parts.h"
#include "pastcone/debug/testing/random_world.h"
#include "pastcone/debug/truth_log.h"
#include "pastcone/debug/watch_words.h"

namespace pastcone::debug {
namespace {

TEST(Conjuncts, AreSplitWhereNothingBindsLess) {
  EXPECT_EQ(conjuncts_of("a==1&&b").size(), 2u);
  EXPECT_EQ(conjuncts_of("f(a && b) && s[i && j]").size(), 2u);
  EXPECT_EQ(conjuncts_of("a && b || c"), std::vector<std::string>{"a && b || c"});
  EXPECT_EQ(conjuncts_of("a && b ? c : d").size(), 1u);
  EXPECT_EQ(conjuncts_of("s[0] == '&' && c").size(), 2u);
  EXPECT_EQ(conjuncts_of("a &&").size(), 1u);
}

TEST(WatchWords, ArePiecesThatRegistersCanHold) {
  std::set<Word> words;
  add_words(0x1006, 12, words);
  EXPECT_EQ(words, (std::set<Word>{{0x1006, 2}, {0x1008, 8}, {0x1010, 2}}));
  EXPECT_EQ(fit(words), words);
}

TEST(WatchWords, AreMergedOnlyIfTheyMustBe) {
  std::set<Word> ints;
  for (uint64_t i = 0; i < 8; ++i) ints.insert({0x1000 + 4 * i, 4});
  EXPECT_EQ(fit(ints), (std::set<Word>{{0x1000, 8}, {0x1008, 8}, {0x1010, 8}, {0x1018, 8}}));
  ints.insert({0x1020, 4});
  EXPECT_FALSE(fit(ints));
  EXPECT_EQ(fit({{0x1000, 8}, {0x1004, 4}}), (std::set<Word>{{0x1000, 8}}));
}

TEST(WatchWords, AreNotMergedWithWhatHasToBeSeenByItself) {
  std::set<Word> ints, exact = {{0x1004, 4}};
  for (uint64_t i = 0; i < 5; ++i) ints.insert({0x1000 + 4 * i, 4});
  EXPECT_EQ(fit(ints, exact), (std::set<Word>{{0x1000, 4}, {0x1004, 4}, {0x1008, 8}, {0x1010, 8}}));
  ints.insert({0x1018, 4});
  EXPECT_FALSE(fit(ints, exact));
  EXPECT_EQ(whole(ints, exact),
            (std::set<Word>{{0x1000, 4}, {0x1004, 4}, {0x1008, 8}, {0x1010, 8}, {0x1018, 8}}));
}

class TruthLogTest : public testing::Test {
 protected:
  TruthLogTest()
      : random_(1), world_(random_, {.threads = 1, .steps = 20, .serial = false, .truth = 3, .parts = 1}) {}

  TruthLog::Answer ask(Moment from, bool beyond, bool holds, bool passed, bool ended) const {
    return log_.answer(world_.graph(), {0, from, beyond, holds}, passed, ended);
  }
  static Moment at(uint32_t step, uint64_t detail) { return {{0, step}, detail}; }

  std::mt19937 random_;
  debug_testing::World world_;
  TruthLog log_;
};

TEST_F(TruthLogTest, SaysWhenItHoldsNext) {
  ASSERT_GE(world_.graph().threads[0].events, 8u);
  log_.note(world_.graph(), at(2, 4), true, nullptr);
  log_.note(world_.graph(), at(2, 4), true, nullptr);
  log_.note(world_.graph(), at(4, 0), false, nullptr);
  log_.note(world_.graph(), at(4, 2), true, nullptr);
  EXPECT_EQ(log_.times(), 2u);
  EXPECT_EQ(ask(at(0, 0), false, true, true, false).moment, at(2, 4));
  EXPECT_EQ(ask(at(3, 0), false, true, true, false).moment, at(3, 0));
  EXPECT_EQ(ask(at(4, 0), false, true, true, false).moment, at(4, 2));
  EXPECT_EQ(ask(at(2, 4), true, true, true, false).moment, at(2, 5));
  EXPECT_EQ(ask(at(2, 4), true, false, true, false).moment, at(4, 0));
}

TEST_F(TruthLogTest, ForgetsWhatWasSoForNoTime) {
  log_.note(world_.graph(), at(2, 0), true, nullptr);
  log_.note(world_.graph(), at(2, 0), false, nullptr);
  EXPECT_EQ(log_.times(), 0u);
  log_.note(world_.graph(), at(4, 0), true, nullptr);
  log_.note(world_.graph(), at(6, 0), false, nullptr);
  log_.note(world_.graph(), at(6, 0), true, nullptr);
  EXPECT_EQ(log_.times(), 1u);
  EXPECT_EQ(ask(at(0, 0), false, true, true, false).moment, at(4, 0));
  EXPECT_EQ(ask(at(4, 0), false, false, true, true).kind, TruthLog::Kind::kNever);
}

TEST_F(TruthLogTest, WaitsForWhatIsNotKnownYet) {
  EXPECT_EQ(ask(at(0, 0), false, true, true, false).kind, TruthLog::Kind::kNotYet);
  EXPECT_EQ(ask(at(0, 0), false, true, true, true).kind, TruthLog::Kind::kNever);
  log_.note(world_.graph(), at(2, 0), true, nullptr);
  EXPECT_EQ(ask(at(6, 0), false, true, false, false).kind, TruthLog::Kind::kNotYet);
  EXPECT_EQ(ask(at(6, 0), false, true, true, false).kind, TruthLog::Kind::kAt);
  EXPECT_EQ(ask(at(6, 0), false, false, true, false).kind, TruthLog::Kind::kNotYet);
}

TEST_F(TruthLogTest, HoldsBehindEveryMomentButTheLast) {
  uint32_t last = world_.graph().threads[0].events;
  log_.note(world_.graph(), at(2, 0), true, nullptr);
  EXPECT_EQ(ask(at(last - 1, 2), true, true, true, true).moment, at(last - 1, 3));
  EXPECT_EQ(ask(at(last, 0), true, true, true, true).kind, TruthLog::Kind::kNever);
}

TEST_F(TruthLogTest, KnowsTheWayToItsMoments) {
  auto first = std::make_shared<Route>(Route{nullptr, {Move::Kind::kBreak, 0, 3, 0x10}});
  log_.note(world_.graph(), at(2, 4), true,
            std::make_shared<Route>(Route{first, {Move::Kind::kWatch, 4, 2, 0x20}}));
  Trail trail{{Move::Kind::kBreak, 0, 3, 0x10}, {Move::Kind::kWatch, 4, 2, 0x20}};
  EXPECT_EQ(log_.trail(at(2, 4)), trail);
  EXPECT_FALSE(log_.trail(at(2, 5)));
  EXPECT_FALSE(log_.trail(at(2, 3)));
}

}  // namespace
}  // namespace pastcone::debug
