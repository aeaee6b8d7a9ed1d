#include "pastcone/trace/file_table.h"

#include <gtest/gtest.h>

#include "pastcone/trace/testing/recording_builder.h"

namespace pastcone {
namespace {

TEST(FileTable, WritesAndReads) {
  trace_testing::TemporaryDirectory directory;
  auto writer = FileTableWriter::open(directory.path());
  ASSERT_TRUE(writer);
  ASSERT_TRUE(writer->append({3, "/usr/lib/libc.so.6", 100, 17, "00ff", std::nullopt, "abcd"}));
  ASSERT_TRUE(writer->append({4, "/tmp/\xff\n\"odd", 1, -5, "", "files/4", ""}));
  ASSERT_TRUE(writer->append({3, "/usr/lib/libc.so.6", 200, 17, "00ff", "files/3", ""}));
  std::vector<std::string> damage;
  auto table = FileTable::read(directory.path(), damage);
  ASSERT_TRUE(table);
  EXPECT_TRUE(damage.empty());
  ASSERT_EQ(table->entries().size(), 2u);
  EXPECT_EQ(table->find(3)->size, 200u);
  EXPECT_EQ(table->find(3)->kept, "files/3");
  EXPECT_EQ(table->find(4)->path, "/tmp/\xff\n\"odd");
  EXPECT_EQ(table->find(4)->mtime_ns, -5);
  EXPECT_EQ(table->find(5), nullptr);
  EXPECT_EQ(table->find(uint64_t{1} << 32 | 3), nullptr);
}

TEST(FileTable, MissingIsEmpty) {
  trace_testing::TemporaryDirectory directory;
  std::vector<std::string> damage;
  EXPECT_TRUE(FileTable::read(directory.path(), damage)->entries().empty());
}

TEST(FileTable, TornAndDamagedLines) {
  std::vector<std::string> damage;
  auto table = FileTable::parse("{\"id\":1,\"path\":\"/a\"}\nnonsense\n{\"id\":0}\n{\"id\":2,\"pa", damage);
  EXPECT_EQ(table.entries().size(), 1u);
  EXPECT_EQ(damage,
            (std::vector<std::string>{"files.jsonl, line 2: is damaged", "files.jsonl, line 3: is damaged"}));
}

TEST(FileTable, KeptStaysInside) {
  for (const char* kept : {"../secret", "/etc/passwd", "files/", "files/../1", "files/1/2"}) {
    std::vector<std::string> damage;
    auto table = FileTable::parse(fmt::format("{{\"id\":1,\"kept\":\"{}\"}}\n", kept), damage);
    EXPECT_TRUE(table.entries().empty()) << kept;
  }
}

}  // namespace
}  // namespace pastcone
