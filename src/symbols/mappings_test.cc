#include "pastcone/symbols/mappings.h"

#include <gtest/gtest.h>

namespace pastcone::symbols {
namespace {

constexpr const char* kMaps =
    "555555554000-555555555000 r--p 00000000 fe:00 100 /tmp/a program\n"
    "7ffff7fb0000-7ffff7fb1000 ---p 00000000 00:00 0 \n"
    "7ffff7fc2000-7ffff7fc3000 r--p 00000000 fe:00 200 /usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2\n"
    "7ffff7fc3000-7ffff7fe9000 r-xp 00001000 fe:00 300 /root/.cache/pastcone/patched/78682b4ea61a0954\n"
    "7ffff7fe9000-7ffff7ff3000 r--p 00027000 fe:00 200 /usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2\n"
    "7ffff7ff4000-7ffff7ff5000 rw-s 00000000 00:01 1153 /memfd:x (deleted)\n"
    "7ffff7ff5000-7ffff7ff7000 r-xp 00000000 fe:00 300 /root/.cache/pastcone/patched/78682b4ea61a0954\n";

TEST(MappingsTest, SaysWhatMayBeDone) {
  std::vector<Mapping> all = parse_mappings(kMaps);
  ASSERT_EQ(all.size(), 7u);
  EXPECT_TRUE(all[0].readable && !all[0].writable && !all[0].executable && !all[0].shared);
  EXPECT_EQ(all[0].file, "/tmp/a program");
  EXPECT_FALSE(all[1].readable);
  EXPECT_TRUE(all[3].readable && all[3].executable);
  EXPECT_TRUE(all[5].writable && all[5].shared);
}

}  // namespace
}  // namespace pastcone::symbols
