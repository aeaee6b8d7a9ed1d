#include "pastcone/graph/open_graph.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "pastcone/causal/flat.h"
#include "pastcone/trace/file_names.h"
#include "pastcone/trace/testing/recording_builder.h"

namespace pastcone::graph {
namespace {

using trace_testing::RecordingBuilder;
using trace_testing::StreamBuilder;
using trace_testing::TemporaryDirectory;

/// p1 forks p2 and sends `messages` times to it.
RecordingBuilder two_processes(int messages) {
  ThreadId p1(ProcessId(1), 1), p2(ProcessId(2), 1);
  StreamBuilder parent(p1), child(p2);
  parent.start(100, 100, EventId(), format::kStartProcess | format::kStartRoot, 1).create(57, 101, p2);
  child.start(101, 101, EventId(p1, 2), format::kStartProcess, 2);
  for (int i = 0; i < messages; ++i) {
    parent.send(1, 12, 10);
    child.receive(0, 12, 10);
  }
  parent.exit_group(0);
  child.exit_group(0);
  return RecordingBuilder().packed(parent).packed(child);
}

class KeptGraph : public ::testing::Test {
 protected:
  void write(int messages, const char* id = "one") {
    RecordingBuilder builder = two_processes(messages);
    builder.manifest.id = id;
    builder.write(recording_);
  }

  /// The bytes of what open_graph() gives; how it came by it is in `kept`.
  Bytes open() {
    auto recording = Recording::open(recording_);
    EXPECT_TRUE(recording) << recording.error().message;
    auto opened = open_graph(*recording);
    EXPECT_TRUE(opened) << opened.error().message;
    kept = opened->kept;
    return causal::flat_bytes(opened->graph, {});
  }

  Path file() const { return recording_ / kGraphName; }
  std::string contents() const { return read_file(file()).value_or(""); }

  bool kept = false;

 private:
  TemporaryDirectory directory_;
  Path recording_ = directory_.path() / "r";
};

TEST_F(KeptGraph, IsTheOneThatWasMade) {
  write(5);
  Bytes made = open();
  EXPECT_FALSE(kept);
  struct stat info {};
  ASSERT_EQ(stat(file().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
  EXPECT_EQ(open(), made);
  EXPECT_TRUE(kept);
}

TEST_F(KeptGraph, OfSomethingElseIsMadeAgain) {
  write(5);
  Bytes five = open();
  write(6);  // the same recording went on
  EXPECT_NE(open(), five);
  EXPECT_FALSE(kept);
  open();
  EXPECT_TRUE(kept);
  write(6, "two");  // another recording in its place
  open();
  EXPECT_FALSE(kept);
}

TEST_F(KeptGraph, ThatIsDamagedIsMadeAgain) {
  write(5);
  Bytes made = open();
  std::string good = contents();
  ASSERT_FALSE(good.empty());
  for (size_t at = 0; at < good.size(); at += 7) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    ASSERT_TRUE(write_file_atomic(file(), bad));
    ASSERT_EQ(open(), made) << at;
    ASSERT_FALSE(kept) << at;
    ASSERT_EQ(contents(), good) << at;
  }
  for (size_t length : {size_t{0}, size_t{9}, good.size() / 2, good.size() - 1}) {
    ASSERT_TRUE(write_file_atomic(file(), good.substr(0, length)));
    ASSERT_EQ(open(), made) << length;
    ASSERT_FALSE(kept) << length;
  }
  open();
  EXPECT_TRUE(kept);
}

TEST_F(KeptGraph, IsNotNeeded) {
  write(5);
  Bytes made = open();
  std::filesystem::remove(file());
  std::filesystem::create_directories(file() / "in the way");  // nobody can write it, root neither
  EXPECT_EQ(open(), made);
  EXPECT_FALSE(kept);
}

}  // namespace
}  // namespace pastcone::graph
