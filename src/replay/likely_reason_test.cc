#include "pastcone/replay/likely_reason.h"

#include <gtest/gtest.h>

namespace pastcone::replay {
namespace {

using stage::Cause;

bool says(const Facts& facts, std::string_view text) {
  return likely_reason(facts).find(text) != std::string::npos;
}

TEST(LikelyReason, NothingKnownIsAnUnrecordedInput) {
  EXPECT_EQ(likely_reason({}), "an input that pastcone does not record");
  EXPECT_EQ(likely_reason({.cause = Cause::kData}), "an input that pastcone does not record");
  EXPECT_TRUE(says({.has_threads = true}, "race between threads"));
}

TEST(LikelyReason, WhatIsCertainComesBeforeWhatMayBe) {
  Facts facts{.generated_code = true, .shares_memory = true, .has_threads = true};
  EXPECT_TRUE(says(facts, "generates code"));
  facts.abilities = {"avx512f", "avx512bw", "gfni", "vaes", "sha_ni"};
  EXPECT_TRUE(says(facts, "(avx512f avx512bw gfni vaes …)"));
  facts.other_version = true;
  EXPECT_TRUE(says(facts, "another version"));
  EXPECT_TRUE(says({.shares_memory = true, .has_threads = true}, "shares memory"));
  EXPECT_FALSE(says({.shares_memory = true}, "without --threads=parallel"));
  EXPECT_TRUE(says({.shares_memory = true, .parallel = true}, "shares memory"));
  EXPECT_TRUE(says({.shares_memory = true, .parallel = true}, "without --threads=parallel"));
}

TEST(LikelyReason, DependsOnTheKindOfDifference) {
  EXPECT_TRUE(says({.cause = Cause::kMachine, .generated_code = true}, "disk space"));
  EXPECT_TRUE(says({.cause = Cause::kMemory}, "laid out"));
  EXPECT_TRUE(says({.cause = Cause::kInterrupt}, "vector registers"));
  EXPECT_TRUE(says({.cause = Cause::kEnd, .killed = true}, "killed"));
  EXPECT_TRUE(says({.cause = Cause::kEnd}, "pastcone itself"));
}

}  // namespace
}  // namespace pastcone::replay
