#include "pastcone/base/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "pastcone/base/own_directories.h"

namespace pastcone {
namespace {

mode_t mode_of(const Path& path) {
  struct stat info {};
  EXPECT_EQ(stat(path.c_str(), &info), 0) << path;
  return info.st_mode & 07777;
}

/// Every test has a directory of its own.
class Files : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "pastcone-files-XXXXXX").native();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  Path directory_;
};

TEST_F(Files, UniqueFdClosesOnce) {
  int raw = open("/dev/null", O_RDONLY | O_CLOEXEC);
  {
    UniqueFd first(raw);
    UniqueFd second(std::move(first));
    EXPECT_FALSE(first.valid());  // NOLINT(bugprone-use-after-move): that is what is tested
    EXPECT_EQ(second.get(), raw);
    UniqueFd& self = second;
    second = std::move(self);
    EXPECT_EQ(fcntl(raw, F_GETFD), FD_CLOEXEC);
  }
  EXPECT_EQ(fcntl(raw, F_GETFD), -1);
  EXPECT_EQ(errno, EBADF);
}

TEST_F(Files, UniqueFdKeepsErrno) {
  UniqueFd fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
  errno = ENOTTY;
  fd.reset();
  EXPECT_EQ(errno, ENOTTY);
}

TEST_F(Files, WriteThenRead) {
  Path path = directory_ / "f";
  std::string contents(100000, 'x');
  contents[5] = '\0';
  ASSERT_TRUE(write_file_atomic(path, "old"));
  ASSERT_TRUE(write_file_atomic(path, contents, 0640));
  EXPECT_EQ(read_file(path).value(), contents);
  EXPECT_EQ(mode_of(path), 0640u);
  ASSERT_TRUE(write_file_atomic(path, ""));
  EXPECT_EQ(read_file(path).value(), "");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory_), {}), 1)
      << "a temporary file is left";
}

TEST_F(Files, AFailedWriteLeavesNothingBehind) {
  Path path = directory_ / "d";
  ASSERT_TRUE(make_directories(path / "inside"));
  EXPECT_FALSE(write_file_atomic(path, "x"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory_), {}), 1);
}

TEST_F(Files, ReadsFilesThatHaveNoSize) {
  EXPECT_NE(read_file("/proc/self/status").value().find("Pid:"), std::string::npos);
}

TEST_F(Files, ErrorsNameThePathAndTheReason) {
  Path path = directory_ / "none";
  EXPECT_EQ(read_file(path).error().message, "cannot open " + path.native() + ": No such file or directory");
  EXPECT_EQ(MappedFile::open(path).error().message, read_file(path).error().message);
  EXPECT_EQ(read_file(directory_).error().message, "cannot read " + directory_.native() + ": Is a directory");
  EXPECT_EQ(MappedFile::open(directory_).error().message,
            "cannot read " + directory_.native() + ": not a regular file");
}

TEST_F(Files, MappedFileShowsTheContents) {
  Path path = directory_ / "f";
  ASSERT_TRUE(write_file_atomic(path, "hello"));
  MappedFile file = MappedFile::open(path).value();
  MappedFile moved = std::move(file);
  EXPECT_EQ(as_text(moved.bytes()), "hello");
  EXPECT_TRUE(file.bytes().empty());  // NOLINT(bugprone-use-after-move): that is what is tested
}

TEST_F(Files, AnEmptyFileMapsToNothing) {
  Path path = directory_ / "f";
  ASSERT_TRUE(write_file_atomic(path, ""));
  EXPECT_TRUE(MappedFile::open(path).value().bytes().empty());
}

TEST_F(Files, MakeDirectoriesIsMkdirP) {
  Path path = directory_ / "a" / "b" / "c";
  ASSERT_TRUE(make_directories(path));
  EXPECT_EQ(mode_of(path), 0700u);
  EXPECT_EQ(mode_of(directory_ / "a"), 0700u);
  EXPECT_TRUE(make_directories(path));
  EXPECT_TRUE(make_directories(directory_ / "d" / "e" / ""));
  EXPECT_TRUE(std::filesystem::is_directory(directory_ / "d" / "e"));

  ASSERT_TRUE(write_file_atomic(directory_ / "f", ""));
  EXPECT_FALSE(make_directories(directory_ / "f"));
  EXPECT_FALSE(make_directories(directory_ / "f" / "g"));
}

/// Sets an environment variable (or unsets it, nullptr) for one test.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old, had_ = true;
    value != nullptr ? setenv(name, value, 1) : unsetenv(name);
  }
  ~ScopedVariable() { had_ ? setenv(name_, old_.c_str(), 1) : unsetenv(name_); }

 private:
  const char* name_;
  std::string old_;
  bool had_ = false;
};

TEST(XdgDirectories, FollowTheVariables) {
  ScopedVariable data("XDG_DATA_HOME", "/x/data"), cache("XDG_CACHE_HOME", "/x/cache");
  EXPECT_EQ(data_directory().value(), "/x/data/pastcone");
  EXPECT_EQ(cache_directory().value(), "/x/cache/pastcone");
}

TEST_F(Files, WhatCannotBeMadeNamesTheVariable) {
  ASSERT_TRUE(write_file_atomic(directory_ / "f", ""));
  Path below = directory_ / "f" / "pastcone";
  auto data = make_data_directories(below), cache = make_cache_directories(below);
  ASSERT_TRUE(!data && !cache);
  EXPECT_TRUE(data.error().message.ends_with("; set XDG_DATA_HOME to a directory that you can write to"));
  EXPECT_TRUE(cache.error().message.ends_with("; set XDG_CACHE_HOME to a directory that you can write to"));
}

TEST(XdgDirectories, DefaultToHome) {
  ScopedVariable home("HOME", "/home/someone");
  for (const char* unset : {static_cast<const char*>(nullptr), "", "relative/path"}) {
    ScopedVariable data("XDG_DATA_HOME", unset), cache("XDG_CACHE_HOME", unset);
    EXPECT_EQ(data_directory().value(), "/home/someone/.local/share/pastcone");
    EXPECT_EQ(cache_directory().value(), "/home/someone/.cache/pastcone");
  }
}

}  // namespace
}  // namespace pastcone
