#include "pastcone/gdb/value.h"

#include <gtest/gtest.h>

#include <random>

namespace pastcone::gdb {
namespace {

TEST(Record, OfAResultIsATree) {
  Record record = parse_record(
      R"(17^done,bkpt={number="1",addr="0x1158",times="0",groups=["i1","i2"]},stack=[frame={level="0"},frame={level="1"}],e=[],t={})");
  EXPECT_TRUE(record.whole);
  EXPECT_EQ(record.kind, RecordKind::kResult);
  EXPECT_EQ(record.token, 17u);
  EXPECT_EQ(record.name, "done");
  EXPECT_EQ(record.results["bkpt"]["addr"].number(), 0x1158u);
  EXPECT_EQ(record.results["bkpt"]["number"].number(), 1u);
  EXPECT_EQ(record.results["bkpt"]["groups"].items.at(1).second.text, "i2");
  ASSERT_EQ(record.results["stack"].items.size(), 2u);
  EXPECT_EQ(record.results["stack"].items[1].first, "frame");
  EXPECT_EQ(record.results["stack"].items[1].second["level"].text, "1");
  EXPECT_EQ(record.results["e"].kind, Value::Kind::kList);
  EXPECT_EQ(record.results["t"].kind, Value::Kind::kTuple);
  EXPECT_EQ(record.results["no"]["such"]["thing"].text, "");
  EXPECT_FALSE(record.results.has("no"));
  EXPECT_EQ(record.results["bkpt"]["groups"].number(), std::nullopt);
}

TEST(Record, OfAStreamIsDecoded) {
  Record record = parse_record(R"(~"14\t\"a\\b\" \303\244\n")");
  EXPECT_EQ(record.kind, RecordKind::kConsole);
  EXPECT_EQ(record.text, "14\t\"a\\b\" \xc3\xa4\n");
  EXPECT_EQ(parse_record(R"(@"out")").kind, RecordKind::kTarget);
  EXPECT_EQ(parse_record(R"(&"log\n")").text, "log\n");
}

TEST(Record, HasAKind) {
  EXPECT_EQ(parse_record("(gdb) ").kind, RecordKind::kPrompt);
  EXPECT_EQ(parse_record("*stopped,reason=\"exited-normally\"").results["reason"].text, "exited-normally");
  EXPECT_EQ(parse_record("=library-loaded,id=\"x\"").kind, RecordKind::kNotify);
  EXPECT_EQ(parse_record("+download,{section=\".text\"}").kind, RecordKind::kStatus);
  EXPECT_EQ(parse_record("^running").name, "running");
  for (const char* text : {"hello", "", "42", "* a list", "~tilde", "= 3"}) {
    EXPECT_EQ(parse_record(text).kind, RecordKind::kText) << text;
    EXPECT_EQ(parse_record(text).text, text);
  }
}

TEST(Record, CutOffAnywhereIsNotWhole) {
  const std::string line = R"(17^done,a={b="1\"\303\244",c=[{d="e"},"f"]})";
  ASSERT_TRUE(parse_record(line).whole);
  for (size_t length = 8; length < line.size(); ++length)
    EXPECT_FALSE(parse_record(line.substr(0, length)).whole) << length;
  for (size_t length = 0; length < 8; ++length) parse_record(line.substr(0, length));
}

TEST(Record, OfNonsenseDoesNoHarm) {
  std::mt19937 random(1);
  const std::string alphabet = "^*+=~@&\"\\{}[],=0123456789ab(gdb) \n\t";
  for (int i = 0; i < 200'000; ++i) {
    std::string line(random() % 40, ' ');
    for (char& c : line) c = i % 2 ? alphabet[random() % alphabet.size()] : static_cast<char>(random());
    parse_record(line);
  }
  EXPECT_FALSE(parse_record("^done,a=" + std::string(1'000'000, '[')).whole);
  EXPECT_FALSE(parse_record("^done,a=" + std::string(1'000'000, '{')).whole);
}

TEST(CString, SurvivesTheWayToGdbAndBack) {
  EXPECT_EQ(c_string("print \"a\\n\"\nrun"), R"("print \"a\\n\" run")");
  EXPECT_EQ(parse_record("~" + c_string("a\"\\b")).text, "a\"\\b");
}

}  // namespace
}  // namespace pastcone::gdb
