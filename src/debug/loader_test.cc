#include "pastcone/debug/loader.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/auxv.h>

#include <cstring>

namespace pastcone::debug {
namespace {

/// Of ourselves.
bool read_own(uint64_t address, void* to, size_t size) {
  std::memcpy(to, reinterpret_cast<const void*>(address), size);
  return true;
}

TEST(Loader, IsFoundWithWhatItHasLoaded) {
  auto loader = Loader::find(getauxval(AT_BASE), read_own);
  ASSERT_TRUE(loader);
  EXPECT_EQ(loader->notice(), reinterpret_cast<uint64_t>(dlsym(RTLD_DEFAULT, "_dl_debug_state")));
  EXPECT_NE(loader->libraries(read_own).find("/libc.so.6\n"), std::string::npos);
}

TEST(Loader, NoticesWhatIsLoadedLater) {
  auto loader = Loader::find(getauxval(AT_BASE), read_own);
  ASSERT_TRUE(loader);
  std::string before = loader->libraries(read_own);
  void* library = dlopen("libanl.so.1", RTLD_NOW);
  ASSERT_NE(library, nullptr) << dlerror();
  EXPECT_NE(loader->libraries(read_own), before);
  dlclose(library);
  EXPECT_EQ(loader->libraries(read_own), before);
}

TEST(Loader, IsNoneWhereThereIsNone) {
  EXPECT_FALSE(Loader::find(0, read_own));
  char zeros[4096] = {};
  EXPECT_FALSE(Loader::find(reinterpret_cast<uint64_t>(zeros), read_own));
  EXPECT_FALSE(Loader::find(0x1000, [](uint64_t, void*, size_t) { return false; }));
}

}  // namespace
}  // namespace pastcone::debug
