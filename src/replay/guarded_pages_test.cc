#include "pastcone/replay/guarded_pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

namespace pastcone::replay {
namespace {

TEST(GuardedPagesTest, ShowsWhatIsMappedAsItIsWithoutThem) {
  GuardedPages pages;
  std::vector<symbols::Mapping> mappings(2);
  mappings[0].start = 0x10000, mappings[0].end = 0x14000, mappings[0].offset = 0x3000;
  mappings[1].start = 0x20000, mappings[1].end = 0x21000;
  EXPECT_EQ(pages.undo(mappings).size(), 2u);
  pages.note_guarded({0x11000, 0x2000, PROT_READ, false});
  pages.note_guarded({0x20000, 0x1000, PROT_READ, false});
  std::vector<symbols::Mapping> all = pages.undo(mappings);
  struct {
    uint64_t start, end, offset;
    bool writable;
  } expected[] = {{0x10000, 0x11000, 0x3000, false},
                  {0x11000, 0x12000, 0x4000, true},
                  {0x12000, 0x13000, 0x5000, true},
                  {0x13000, 0x14000, 0x6000, false},
                  {0x20000, 0x21000, 0, true}};
  ASSERT_EQ(all.size(), std::size(expected));
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].start, expected[i].start);
    EXPECT_EQ(all[i].end, expected[i].end);
    EXPECT_EQ(all[i].offset, expected[i].offset);
    EXPECT_EQ(all[i].writable, expected[i].writable);
  }
}

}  // namespace
}  // namespace pastcone::replay
