#include "pastcone/gdb/text_functions.h"

#include <gtest/gtest.h>

namespace pastcone::gdb {
namespace {

TEST(TextFunctions, ReadNoMoreThanTheyMust) {
  std::string page(128, 'x');
  page[70] = '\0';
  auto read = [&](uint64_t address, void* to, size_t size) {
    if (address < 4096 || address + size > 4096 + page.size()) return false;
    page.copy(static_cast<char*>(to), size, address - 4096);
    return true;
  };
  std::vector<std::pair<uint64_t, uint32_t>> memory;
  using Reads = std::vector<std::pair<uint64_t, uint32_t>>;
  EXPECT_EQ(*call_text_function(TextFunction::kStrlen, {{4096, nullptr}}, 0, read, memory), 70);
  EXPECT_EQ(memory, (Reads{{4096, 71}}));
  memory.clear();
  EXPECT_FALSE(call_text_function(TextFunction::kStrlen, {{4096 + 71, nullptr}}, 0, read, memory))
      << "it goes on";
  EXPECT_EQ(memory, (Reads{{4096 + 71, 57}}));
  memory.clear();
  std::string literal = "xy";
  EXPECT_EQ(*call_text_function(TextFunction::kMemcmp, {{4096, nullptr}, {0, &literal}}, 1, read, memory), 0);
  EXPECT_EQ(memory, (Reads{{4096, 1}}));
  EXPECT_FALSE(call_text_function(TextFunction::kMemcmp, {{4096, nullptr}, {0, &page}}, 1000, read, memory));
}

}  // namespace
}  // namespace pastcone::gdb
