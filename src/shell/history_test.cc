#include "pastcone/shell/history.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

namespace pastcone::shell {
namespace {

class HistoryTest : public testing::Test {
 protected:
  HistoryTest() {
    char pattern[] = "/tmp/pastcone-history-XXXXXX";
    directory_ = mkdtemp(pattern);
  }
  ~HistoryTest() override { std::filesystem::remove_all(directory_); }

  Path directory_;
};

TEST_F(HistoryTest, IsThereInTheNextSession) {
  Path path = directory_ / "state" / "pastcone" / "debug_history";
  HistoryFile first(path);
  EXPECT_TRUE(first.load().empty());
  first.append("run to p3:1041");
  HistoryFile(path).append("cause");  // another one at the same time
  first.append("where");
  EXPECT_EQ(HistoryFile(path).load(), (std::vector<std::string>{"run to p3:1041", "cause", "where"}));
  EXPECT_EQ(std::filesystem::status(path).permissions() & std::filesystem::perms::all,
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(HistoryTest, DoesNotGrowForEver) {
  Path path = directory_ / "history";
  std::string lines;
  size_t count = 2 * HistoryFile::kKept + 1;
  for (size_t i = 1; i <= count; ++i) lines += fmt::format("print {}\n", i);
  ASSERT_TRUE(write_file_atomic(path, lines));
  std::vector<std::string> loaded = HistoryFile(path).load();
  ASSERT_EQ(loaded.size(), HistoryFile::kKept);
  EXPECT_EQ(loaded.back(), fmt::format("print {}", count));
  Result<std::string> kept = read_file(path);
  ASSERT_TRUE(kept);
  EXPECT_TRUE(kept->starts_with(loaded.front() + "\n"));
}

TEST_F(HistoryTest, MayBeImpossible) {
  HistoryFile nowhere{Path()};
  nowhere.append("x");
  EXPECT_TRUE(nowhere.load().empty());
  HistoryFile impossible("/proc/none/history");
  impossible.append("x");
  EXPECT_TRUE(impossible.load().empty());
}

}  // namespace
}  // namespace pastcone::shell
