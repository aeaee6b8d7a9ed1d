#include "pastcone/symbols/location.h"

#include <gtest/gtest.h>

namespace pastcone::symbols {
namespace {

Location in(const char* module, const char* function, const char* file = "", uint32_t line = 0) {
  Location location;
  location.module = module;
  location.function = function;
  location.file = file;
  location.line = line;
  location.offset = 0x1f;
  return location;
}

const Location kLibc = in("/usr/lib/x86_64-linux-gnu/libc.so.6", "recv", "/build/glibc/recv.c", 28);
const Location kLibstdcxx = in("/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "std::getline");
const Location kHeader = in("/home/me/server", "getline", "/usr/include/c++/12/bits/basic_string.h", 100);
const Location kOurs = in("/home/me/server", "handle", "/home/me/server.cc", 80);
const Location kPlugin = in("/home/me/plugin.so", "");

TEST(Location, Texts) {
  EXPECT_EQ(place_text(kOurs), "server.cc:80 in handle");
  EXPECT_EQ(place_text(kLibstdcxx), "std::getline+0x1f in libstdc++.so.6");
  EXPECT_EQ(place_text(kPlugin), "plugin.so+0x1f");
  EXPECT_EQ(place_text({}), "");
  EXPECT_EQ(to_string(kOurs), "at server.cc:80 in handle");
  EXPECT_EQ(to_string(kPlugin), "");
}

TEST(Location, WhoseCodeItIs) {
  EXPECT_TRUE(kLibc.in_c_library());
  EXPECT_TRUE(!kLibstdcxx.in_c_library() && kLibstdcxx.in_system());
  EXPECT_TRUE(!kHeader.in_c_library() && kHeader.in_system());
  EXPECT_FALSE(kOurs.in_system() || kPlugin.in_system());
  Location static_libc = in("/home/me/server", "__libc_recv");
  static_libc.linked_in = true;
  EXPECT_TRUE(static_libc.in_c_library());
  EXPECT_FALSE(in("/home/me/libclient.so", "f").in_c_library());
}

TEST(Location, TheUsersSourceIsChosen) {
  EXPECT_EQ(choose({kLibc, kLibstdcxx, kHeader, kOurs}), kOurs);
  EXPECT_EQ(choose({kLibc, kPlugin, kOurs}), kOurs);  // a library without debug information is in between
  EXPECT_EQ(choose({kLibc, kHeader, kPlugin}), kHeader);
}

TEST(Location, WithoutSourceTheFirstOutsideTheSystem) {
  Location stripped = in("/home/me/server", "");
  EXPECT_EQ(choose({kLibc, kLibstdcxx, stripped, kPlugin}), stripped);
  EXPECT_EQ(choose({kLibc, kLibstdcxx}), kLibstdcxx);
  EXPECT_EQ(choose({kLibc}), kLibc);
  EXPECT_EQ(choose({}), Location());
}

}  // namespace
}  // namespace pastcone::symbols
