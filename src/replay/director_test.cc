// A whole replay, but for what the runtime does: see record/fake_runtime.cc. The pid in the first event says
// what it does.
#include "pastcone/replay/director.h"

#include <gtest/gtest.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "pastcone/record/digest.h"
#include "pastcone/replay/surroundings.h"
#include "pastcone/trace/checksum.h"
#include "pastcone/trace/testing/recording_builder.h"

namespace pastcone::replay {
namespace {

using trace_testing::RecordingBuilder;
using trace_testing::StreamBuilder;
using trace_testing::TemporaryDirectory;

class DirectorTest : public testing::Test {
 protected:
  DirectorTest() {
    setenv("XDG_CACHE_HOME", (directory_.path() / "cache").c_str(), 1);
    setenv("PASTCONE_RUNTIME", FAKE_RUNTIME, 1);
    builder_.manifest.machine = "x86_64";
    builder_.manifest.cpu.clear();
  }
  ~DirectorTest() override { unsetenv("PASTCONE_RUNTIME"); }

  Result<ReplayOutcome> run(uint32_t pid) {
    StreamBuilder stream(ThreadId(ProcessId(1), 1));
    stream.start(pid, pid, {}, format::kStartProcess, 1).output(1, 0, 0).result(1, 6).exit_group(0);
    builder_.packed(stream);
    builder_.write(recording_);
    return replay(TRY(Recording::open(recording_)));
  }

  TemporaryDirectory directory_;
  Path recording_ = directory_.path() / "recording";
  RecordingBuilder builder_;
};

TEST_F(DirectorTest, AnExactReplayShowsTheOutput) {
  testing::internal::CaptureStdout();
  auto outcome = run(1);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "hello\n");
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_TRUE(outcome->exact());
  EXPECT_EQ(outcome->processes, 1u);
  EXPECT_EQ(outcome->events, 3u);
}

TEST_F(DirectorTest, AWaitForNothingIsFound) {
  ReplayOutcome outcome = run(2).value();
  ASSERT_EQ(outcome.divergences.size(), 1u);
  EXPECT_EQ(to_string(outcome.divergences[0]),
            "p1:5 diverged: it waits for bytes of channel 12 up to 345 that nobody sends; likely reason: the one "
            "it waits for went another way without a difference that shows");
}

TEST_F(DirectorTest, ACrashInsideIsReported) {
  ReplayOutcome outcome = run(3).value();
  ASSERT_EQ(outcome.divergences.size(), 1u);
  EXPECT_EQ(to_string(outcome.divergences[0]),
            "p1:1 diverged: it ended by SIGKILL before its recording does; likely reason: somebody killed it, or "
            "this machine is out of memory");
}

TEST_F(DirectorTest, AReportIsPassedOn) {
  ReplayOutcome outcome = run(4).value();
  ASSERT_EQ(outcome.divergences.size(), 1u);
  EXPECT_EQ(to_string(outcome.divergences[0]),
            "p1:9 diverged: sends other bytes; likely reason: an input that pastcone does not record");
  EXPECT_FALSE(outcome.exact());
}

TEST_F(DirectorTest, AReportSaysIfTheProcessorIsAnother) {
  builder_.manifest.cpu = {"fpu"};
  ReplayOutcome outcome = run(4).value();
  ASSERT_EQ(outcome.divergences.size(), 1u);
  EXPECT_NE(outcome.divergences[0].reason.find("this processor can do"), std::string::npos);
}

TEST_F(DirectorTest, AReportSaysIfThePastconeIsAnother) {
  builder_.manifest.pastcone = "0.0.1";
  EXPECT_EQ(run(4).value().divergences.at(0).reason, "it was recorded by another version of pastcone");
}

TEST_F(DirectorTest, AnInterruptEndsEverything) {
  pid_t self = getpid();
  pid_t sender = fork();
  if (sender == 0) {
    usleep(300'000);
    kill(self, SIGINT);
    _exit(0);
  }
  ReplayOutcome outcome = run(5).value();
  EXPECT_TRUE(outcome.interrupted);
  EXPECT_FALSE(outcome.exact());
}

TEST_F(DirectorTest, WhatIsMissingIsNamedBeforeAnythingRuns) {
  builder_.manifest.cpu = {"sse2", "avx9000"};
  auto outcome = run(1);
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().message.find("avx9000"), std::string::npos);
}

TEST_F(DirectorTest, FilesMustBeAsTheyWere) {
  FileEntry entry;
  entry.id = 3;
  entry.path = (directory_.path() / "library").native();
  entry.size = 8;
  entry.mtime_ns = 1;
  entry.hash = record::to_hex(xxh64(as_bytes("contents")));
  builder_.files = entry.to_json() + "\n";
  auto why = [&] {
    builder_.write(recording_);
    Recording recording = Recording::open(recording_).value();
    record::HashCache hashes(directory_.path());
    auto found = find_file(recording, *recording.files().find(3), hashes);
    return found ? found->native() : found.error().message;
  };
  EXPECT_NE(why().find("cannot be read"), std::string::npos);
  ASSERT_TRUE(write_file_atomic(entry.path, "contents"));
  EXPECT_EQ(why(), entry.path);  // another time, the same bytes
  ASSERT_TRUE(write_file_atomic(entry.path, "Contents"));
  EXPECT_NE(why().find("has changed"), std::string::npos);
  ASSERT_TRUE(write_file_atomic(entry.path, "more contents"));
  EXPECT_NE(why().find("another size"), std::string::npos);

  entry.kept = "files/3";
  builder_.files = entry.to_json() + "\n";
  ASSERT_TRUE(make_directories(recording_ / "files"));
  ASSERT_TRUE(write_file_atomic(recording_ / "files/3", "contents"));
  EXPECT_EQ(why(), (recording_ / "files/3").native());
  ASSERT_TRUE(write_file_atomic(recording_ / "files/3", "c0ntents"));
  EXPECT_NE(why().find("is damaged"), std::string::npos);
}

}  // namespace
}  // namespace pastcone::replay
