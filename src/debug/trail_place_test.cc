#include "pastcone/debug/trail_place.h"

#include <gtest/gtest.h>

namespace pastcone::debug {
namespace {

Move hits(uint64_t count, uint64_t address = 0x1000) { return {Move::Kind::kWatch, 4, count, address}; }

const Move kStep{Move::Kind::kSteps, 0, 1, 0};

TEST(TrailPlace, PlaceOnATrailIsBehindTheMovesThatWereMade) {
  EXPECT_EQ(place_on({hits(2), kStep}, {}), (TrailPlace{0, 0}));
  EXPECT_EQ(place_on({hits(2), kStep}, {hits(2)}), (TrailPlace{1, 0}));
  EXPECT_EQ(place_on({hits(2), kStep}, {hits(2), kStep}), (TrailPlace{2, 0}));
  EXPECT_EQ(place_on({hits(2)}, {hits(2), kStep}), std::nullopt);
}

TEST(TrailPlace, WhoHasCountedLessIsOnTheWay) {
  EXPECT_EQ(place_on({kStep, hits(9)}, {kStep, hits(4)}), (TrailPlace{1, 4}));
  EXPECT_EQ(place_on({hits(9), kStep}, {hits(4)}), (TrailPlace{0, 4}));
  EXPECT_EQ(place_on({hits(4)}, {hits(9)}), std::nullopt);
  EXPECT_EQ(place_on({hits(9)}, {hits(4, 0x2000)}), std::nullopt);
  EXPECT_EQ(place_on({hits(9)}, {hits(4), kStep}), std::nullopt);
}

TEST(TrailPlace, PointsOfLocksAndWhatIsLostAreNoBeginning) {
  Move lost{Move::Kind::kLost, 0, 0, 0};
  EXPECT_EQ(place_on({{Move::Kind::kPoints, 0, 9, 0}}, {{Move::Kind::kPoints, 0, 4, 0}}), std::nullopt);
  EXPECT_EQ(place_on({lost, kStep}, {lost}), std::nullopt);
  EXPECT_EQ(place_on({lost}, {lost}), (TrailPlace{1, 0}));
}

}  // namespace
}  // namespace pastcone::debug
