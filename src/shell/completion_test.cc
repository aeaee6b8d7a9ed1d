#include "pastcone/shell/completion.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace pastcone::shell {
namespace {

using Words = std::vector<std::string>;

TEST(Completion, LastWord) {
  Completion completion = complete_last_word("p1 p", {"p2", "p1", "q", "p2"});
  EXPECT_EQ(completion.start, 3u);
  EXPECT_EQ(completion.candidates, (Words{"p1", "p2"}));
  EXPECT_EQ(complete_last_word("", {"b", "a"}).candidates, (Words{"a", "b"}));
  EXPECT_EQ(complete_last_word("p1:x", {"xs"}).candidates, Words{});
  EXPECT_EQ(complete_last_word("p1:x", {"xs"}, ":").candidates, Words{"xs"});
}

TEST(Completion, CommonPrefix) {
  EXPECT_EQ(common_prefix({}), "");
  EXPECT_EQ(common_prefix({"step"}), "step");
  EXPECT_EQ(common_prefix({"step", "stepi", "stop"}), "st");
  EXPECT_EQ(common_prefix({"aä", "aö"}), "a");  // ä and ö begin with the same byte
}

TEST(Completion, Columns) {
  EXPECT_EQ(columns_text({}, 80), "");
  EXPECT_EQ(columns_text({"a", "b", "c", "d", "e"}, 7), "a  c  e\nb  d\n");
  EXPECT_EQ(columns_text({"ää", "b"}, 80), "ää  b\n");
  EXPECT_EQ(columns_text({"longer", "than"}, 3), "longer\nthan\n");
  std::string many = columns_text(Words(1234, "x"), 80);
  EXPECT_NE(many.find("… and 1034 more\n"), std::string::npos);
}

TEST(Completion, Files) {
  char pattern[] = "/tmp/pastcone-completion-XXXXXX";
  std::filesystem::path directory = mkdtemp(pattern);
  std::filesystem::create_directory(directory / "sub");
  std::ofstream(directory / "some.pc").put('\n');
  std::string start = directory.native() + "/";
  Completion completion = file_completer()("x " + start + "s");
  EXPECT_EQ(completion.start, 2u);
  EXPECT_EQ(completion.candidates, (Words{start + "some.pc", start + "sub/"}));
  EXPECT_TRUE(file_completer()(start + "none/x").candidates.empty());
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace pastcone::shell
