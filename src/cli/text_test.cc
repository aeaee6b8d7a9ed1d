#include "pastcone/cli/text.h"

#include <gtest/gtest.h>

#include "pastcone/cli/kind_filter.h"

namespace pastcone::cli {
namespace {

TEST(Text, Numbers) {
  EXPECT_EQ(size_text(0), "0 B");
  EXPECT_EQ(size_text(999), "999 B");
  EXPECT_EQ(size_text(1234), "1.2 KB");
  EXPECT_EQ(size_text(9'960), "10 KB");
  EXPECT_EQ(size_text(999'600), "1.0 MB");
  EXPECT_EQ(size_text(UINT64_MAX), "18447 PB");
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(1'002'003), "1,002,003");
  EXPECT_EQ(duration_text(45'000'000), "45 ms");
  EXPECT_EQ(duration_text(2'500'000'000), "2.5 s");
  EXPECT_EQ(duration_text(200'000'000'000), "3 min 20 s");
  EXPECT_EQ(duration_text(7'500'000'000'000), "2 h 5 min");
  EXPECT_EQ(plural(1, "process", "processes"), "1 process");
  EXPECT_EQ(plural(0, "process", "processes"), "0 processes");
}

TEST(Text, Commands) {
  EXPECT_EQ(command_text({"ls", "-l", "a b", "it's", ""}), "ls -l 'a b' 'it'\\''s' ''");
  EXPECT_EQ(command_text({"a\nb"}), "'a\\x0ab'");
}

TEST(Table, LinesUpAndIsCut) {
  Table table({{"NAME", Table::Align::kLeft}, {"N", Table::Align::kRight}, {"REST", Table::Align::kLeft}});
  table.add({"└ é", "1000", "long text"});
  EXPECT_EQ(table.text(), "NAME     N  REST\n└ é   1000  long text\n");
  EXPECT_EQ(table.text(16), "NAME     N  REST\n└ é   1000  long\n");
}

TEST(KindFilter, CallsOpsAndGroups) {
  Item read, start, clock;
  read.op = format::Op::kCall;
  read.shape = format::Shape::kReceive;
  start.op = format::Op::kStart;
  clock.op = format::Op::kTimeOfDay;
  auto matches = [](const char* kind, const Item& item) { return KindFilter::parse({kind})->matches(item); };
  EXPECT_TRUE(KindFilter::parse({})->matches(read));
  EXPECT_TRUE(matches("read", read));
  EXPECT_FALSE(matches("write", read));
  EXPECT_TRUE(matches("receive", read));
  EXPECT_FALSE(matches("send", read));
  EXPECT_TRUE(matches("start", start));
  EXPECT_FALSE(matches("start", read));
  EXPECT_TRUE(matches("clock", clock));
  EXPECT_TRUE(matches("gettimeofday", clock));
  EXPECT_NE(KindFilter::parse({"raed"}).error().message.find("did you mean read?"), std::string::npos);
}

}  // namespace
}  // namespace pastcone::cli
