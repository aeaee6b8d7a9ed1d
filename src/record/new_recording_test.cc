#include "pastcone/record/new_recording.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

namespace pastcone::record {
namespace {

class NewRecording : public testing::Test {
 protected:
  NewRecording() {
    char name[] = "/tmp/new_recording.XXXXXX";
    directory_ = mkdtemp(name);
    setenv("XDG_DATA_HOME", directory_.c_str(), 1);
  }
  ~NewRecording() override {
    unsetenv("XDG_DATA_HOME");
    std::filesystem::remove_all(directory_);
  }
  Path directory_;
};

TEST_F(NewRecording, AreNumbered) {
  Path data = directory_ / "pastcone";
  EXPECT_EQ(make_recording_directory({}, "/usr/bin/redis-server").value(), data / "redis-server-1");
  EXPECT_EQ(make_recording_directory({}, "redis-server").value(), data / "redis-server-2");
  std::filesystem::create_directory(data / "redis-server-41");
  std::filesystem::create_directory(data / "redis-server-x");
  EXPECT_EQ(make_recording_directory({}, "redis-server").value(), data / "redis-server-42");
  EXPECT_EQ(make_recording_directory({}, "redis").value(), data / "redis-1");
}

TEST_F(NewRecording, AreForTheirOwner) {
  Path path = make_recording_directory(directory_ / "a/b/", "x").value();
  EXPECT_EQ(path, directory_ / "a/b");
  struct stat info {};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
}

TEST_F(NewRecording, NeverOverwrite) {
  EXPECT_TRUE(make_recording_directory(directory_ / "a", "x"));
  EXPECT_TRUE(make_recording_directory(directory_ / "a", "x"));  // still empty
  ASSERT_TRUE(write_file_atomic(directory_ / "a" / "file", ""));
  EXPECT_FALSE(make_recording_directory(directory_ / "a", "x"));
  EXPECT_FALSE(make_recording_directory(directory_ / "a" / "file", "x"));
}

TEST_F(NewRecording, TheManifestSaysWhatAndWhere) {
  Manifest manifest = describe_run({"a", "b c"});
  EXPECT_EQ(manifest.command, (std::vector<std::string>{"a", "b c"}));
  EXPECT_EQ(manifest.machine, "x86_64");
  EXPECT_NE(std::find(manifest.cpu.begin(), manifest.cpu.end(), "sse2"), manifest.cpu.end());
  EXPECT_EQ(manifest.id.size(), 16u);
  EXPECT_TRUE(manifest.stack_limit);
  EXPECT_TRUE(manifest.open_files_limit);
}

}  // namespace
}  // namespace pastcone::record
