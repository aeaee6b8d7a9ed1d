// A whole recording, but for what the runtime does: see fake_runtime.cc.
#include "pastcone/record/recorder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "pastcone/trace/recording.h"

namespace pastcone::record {
namespace {

class RecorderTest : public testing::Test {
 protected:
  RecorderTest() {
    char name[] = "/tmp/recorder_test.XXXXXX";
    directory_ = mkdtemp(name);
    setenv("XDG_CACHE_HOME", (directory_ / "cache").c_str(), 1);
    setenv("XDG_DATA_HOME", (directory_ / "data").c_str(), 1);
    setenv("PASTCONE_RUNTIME", FAKE_RUNTIME, 1);
  }
  ~RecorderTest() override {
    unsetenv("PASTCONE_RUNTIME");
    std::filesystem::remove_all(directory_);
  }
  Result<RecordOutcome> run(const std::string& what) {
    RecordOptions options;
    options.command = {"true", what};
    return record(options);
  }
  Path directory_;
};

TEST_F(RecorderTest, PassesTheStatusOnAndLeavesAFinishedRecording) {
  RecordOutcome outcome = run("").value();
  EXPECT_EQ(WEXITSTATUS(outcome.status), 7);
  EXPECT_EQ(outcome.processes, 1u);
  EXPECT_EQ(outcome.events, 2u);
  EXPECT_TRUE(outcome.events_exact);
  EXPECT_TRUE(outcome.why.empty());
  EXPECT_TRUE(outcome.remarks.empty()) << outcome.remarks.front();
  EXPECT_EQ(outcome.directory, directory_ / "data/pastcone/true-1");
  EXPECT_GT(outcome.bytes, 0u);

  Recording recording = Recording::open(outcome.directory).value();
  EXPECT_TRUE(recording.complete());
  EXPECT_TRUE(recording.damage().empty());
  EXPECT_EQ(recording.manifest().exit_status, 7);
  EXPECT_FALSE(std::filesystem::exists(outcome.directory / "live"));
}

TEST_F(RecorderTest, WaitsForOrphansAndPacksWhatTheyDidNotClose) {
  RecordOutcome outcome = run("fork").value();
  EXPECT_EQ(WEXITSTATUS(outcome.status), 7);
  EXPECT_EQ(outcome.processes, 2u);
  Recording recording = Recording::open(outcome.directory).value();
  EXPECT_EQ(recording.process_count(), 2u);
  EXPECT_FALSE(recording.threads().at(ThreadId(ProcessId(2), 1)).events.last);
}

TEST_F(RecorderTest, ASignalIsAStatusToo) {
  RecordOutcome outcome = run("kill").value();
  EXPECT_TRUE(WIFSIGNALED(outcome.status));
  EXPECT_EQ(WTERMSIG(outcome.status), SIGTERM);
  EXPECT_EQ(Recording::open(outcome.directory)->manifest().exit_status, 128 + SIGTERM);
}

TEST_F(RecorderTest, HandsThePathOver) {
  testing::internal::CaptureStdout();
  ASSERT_TRUE(run("handoff"));
  std::string text = testing::internal::GetCapturedStdout();
  EXPECT_NE(text.find("/true "), std::string::npos) << text;
}

TEST_F(RecorderTest, ASecondInterruptEndsTheRecording) {
  pid_t self = getpid();
  pid_t sender = fork();
  if (sender == 0) {
    for (int i = 0; i < 2; ++i) {
      usleep(60'000);
      kill(self, SIGINT);
    }
    _exit(0);
  }
  // The orphan of "fork" lives for 200 ms.
  RecordOutcome outcome = run("fork").value();
  EXPECT_EQ(outcome.interrupted_by, SIGINT);
  EXPECT_FALSE(outcome.why.empty());
  Recording recording = Recording::open(outcome.directory).value();
  EXPECT_EQ(recording.manifest().state, Manifest::State::kIncomplete);
  while (wait(nullptr) > 0) {
  }
}

TEST_F(RecorderTest, NothingIsLeftIfNothingRan) {
  Path runtime = directory_ / "runtime";  // which cannot be executed
  std::filesystem::copy_file(FAKE_RUNTIME, runtime);
  std::filesystem::permissions(runtime, std::filesystem::perms::owner_read);
  setenv("PASTCONE_RUNTIME", runtime.c_str(), 1);
  EXPECT_FALSE(run(""));
  EXPECT_TRUE(std::filesystem::is_empty(directory_ / "data/pastcone"));
}

TEST_F(RecorderTest, ARuntimeOfAnotherBuildIsNotStarted) {
  setenv("PASTCONE_RUNTIME", "/bin/true", 1);
  auto outcome = run("");
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().message.find("different builds"), std::string::npos) << outcome.error().message;
}

}  // namespace
}  // namespace pastcone::record
