#include "pastcone/trace/manifest.h"

#include <gtest/gtest.h>

#include "pastcone/trace/json.h"
#include "pastcone/trace/testing/recording_builder.h"

namespace pastcone {
namespace {

using trace_testing::RecordingBuilder;
using trace_testing::TemporaryDirectory;

TEST(Manifest, SurvivesTheDisk) {
  Manifest manifest = RecordingBuilder().manifest;
  manifest.state = Manifest::State::kIncomplete;
  manifest.why = "the disk is full";
  manifest.exit_status = 130;
  manifest.pack_bytes = 4711;
  manifest.processes = 3;
  TemporaryDirectory directory;
  ASSERT_TRUE(manifest.write(directory.path()));
  auto read = Manifest::read(directory.path());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->to_json(), manifest.to_json());
  EXPECT_EQ(read->state, Manifest::State::kIncomplete);
  EXPECT_EQ(read->why, "the disk is full");
  EXPECT_EQ(read->command, manifest.command);
  EXPECT_EQ(read->started_ns, manifest.started_ns);
  EXPECT_EQ(read->exit_status, 130);
}

TEST(Manifest, WhileRecordingThereIsNoEnd) {
  Manifest manifest;
  manifest.command = {
      "a\xff"
      "b"};  // not UTF-8
  auto read = Manifest::parse(manifest.to_json());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->state, Manifest::State::kRecording);
  EXPECT_EQ(read->ended_ns, 0);
  EXPECT_FALSE(read->exit_status);
  EXPECT_EQ(read->command, std::vector<std::string>{"a\xef\xbf\xbd"
                                                    "b"});
}

std::string refusal(std::string_view text) {
  auto read = Manifest::parse(text);
  return read ? "accepted" : read.error().message;
}

TEST(Manifest, RefusesWhatIsNotOurs) {
  std::string ours = fmt::format(R"("format":"pastcone recording","version":{})", format::kVersion);
  EXPECT_NE(refusal("").find("not a JSON object"), std::string::npos);
  EXPECT_NE(refusal("[]").find("not a JSON object"), std::string::npos);
  EXPECT_NE(refusal("{}").find("not written by pastcone"), std::string::npos);
  EXPECT_NE(refusal(std::string(100000, '[')).find("not a JSON object"), std::string::npos);
  EXPECT_NE(refusal("{" + ours + "}").find("no state"), std::string::npos);
  EXPECT_NE(refusal(R"({"format":"pastcone recording","version":77,"pastcone":"9.0"})").find("has format 77"),
            std::string::npos);
  EXPECT_EQ(refusal("{" + ours + R"(,"state":"complete","cpu":[[[[1]]],2,"a"],
                        "started_ns":1e300,"exit_status":"x","id":{"a":[]}})"),
            "accepted");
}

TEST(Manifest, RefusesWhatIsNotAFile) {
  TemporaryDirectory directory;
  std::filesystem::create_directory(directory.path() / "manifest.json");
  auto read = Manifest::read(directory.path());
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("not a regular file"), std::string::npos);
}

TEST(Time, Formats) {
  EXPECT_EQ(format_time(0), "1970-01-01T00:00:00.000000000Z");
  EXPECT_EQ(format_time(1'700'000'000'123'456'789), "2023-11-14T22:13:20.123456789Z");
  EXPECT_EQ(format_time(-1), "1969-12-31T23:59:59.999999999Z");
  format_time(INT64_MIN);
  format_time(INT64_MAX);
}

TEST(Json, PrintableIsOneHarmlessLine) {
  EXPECT_EQ(printable("plain, äöü €"), "plain, äöü €");
  EXPECT_EQ(printable("a\nb\x1b[31m"), "a\\x0ab\\x1b[31m");
  EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");
  EXPECT_TRUE(is_utf8("€"));
  EXPECT_FALSE(is_utf8("\xed\xa0\x80"));
  EXPECT_FALSE(is_utf8("\xe2\x82"));
}

}  // namespace
}  // namespace pastcone
