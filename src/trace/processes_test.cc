#include "pastcone/trace/processes.h"

#include <gtest/gtest.h>

#include "pastcone/trace/testing/recording_builder.h"

namespace pastcone {
namespace {

using trace_testing::every_item;
using trace_testing::family;
using trace_testing::MemoryRecording;
using trace_testing::RecordingBuilder;
using trace_testing::StreamBuilder;

ThreadId first(uint32_t process) { return ThreadId(ProcessId(process), 1); }

TEST(Processes, Family) {
  MemoryRecording memory(family());
  ProcessTable table = ProcessTable::read(*memory.recording);
  ASSERT_EQ(table.processes().size(), 2u);
  const ProcessRecord& p1 = *table.find(ProcessId(1));
  EXPECT_EQ(p1.pid, 100u);
  EXPECT_FALSE(p1.parent.valid());
  ASSERT_EQ(p1.threads.size(), 2u);
  EXPECT_EQ(p1.threads[1].tid, 102u);
  EXPECT_EQ(p1.threads[1].parent, EventId(first(1), 4));
  EXPECT_EQ(to_string(p1.end), "exit 3");
  EXPECT_EQ(p1.events, 8u + 3u);
  const ProcessRecord& p2 = *table.find(ProcessId(2));
  EXPECT_EQ(p2.parent, EventId(first(1), 3));
  ASSERT_EQ(p2.programs.size(), 1u);
  EXPECT_EQ(p2.programs[0].path, "/bin/cat");
  EXPECT_EQ(p2.programs[0].arguments, (std::vector<std::string>{"/bin/cat", "-n"}));
  EXPECT_EQ(to_string(p2.end), "killed");
  EXPECT_EQ(table.events(), 16u);
  EXPECT_EQ(table.find(ProcessId(3)), nullptr);
}

TEST(Processes, Ends) {
  auto end_of = [](StreamBuilder& stream) {
    MemoryRecording memory(RecordingBuilder().packed(stream));
    return to_string(ProcessTable::read(*memory.recording).find(ProcessId(1))->end);
  };
  auto started = [] {
    StreamBuilder stream(first(1));
    stream.start(1, 1, EventId(), format::kStartProcess, 5);
    return stream;
  };
  EXPECT_EQ(end_of(started().fatal(11)), "SIGSEGV");
  EXPECT_EQ(end_of(started().fatal(36)), "SIGRTMIN+2");
  EXPECT_EQ(end_of(started().fatal(99)), "signal 99");
  EXPECT_EQ(end_of(started().thread_exit(7)), "exit 7");
  EXPECT_EQ(end_of(started().stop(format::StopReason::kUnsupportedCall, "io_uring_setup")),
            "stopped: an unsupported call, io_uring_setup");
  EXPECT_EQ(end_of(started().stop(format::StopReason::kByUser, "")), "stopped: interrupted by the user");
  EXPECT_EQ(end_of(started().result(3, 0)), "killed");
  EXPECT_EQ(end_of(started().raw(Bytes{0})), "damaged");
}

TEST(Processes, AForkedProcessRunsItsParentsProgram) {
  StreamBuilder parent(first(1)), child(first(2)), orphan(first(3));
  parent.start(1, 1, EventId(), format::kStartProcess, 5)
      .exec({"/bin/sh"})
      .create(57, 2, first(2))
      .exec({"/bin/ls"});
  child.start(2, 2, EventId(first(1), 3), format::kStartProcess, 6);
  orphan.start(3, 3, EventId(first(3), 3), format::kStartProcess, 6);
  MemoryRecording memory(RecordingBuilder().packed(parent).packed(child).packed(orphan));
  ProcessTable table = ProcessTable::read(*memory.recording);
  EXPECT_EQ(table.program(ProcessId(1))->path, "/bin/ls");
  EXPECT_EQ(table.program(ProcessId(2))->path, "/bin/sh");
  EXPECT_EQ(table.program(ProcessId(3)), nullptr);
}

TEST(ProgramImage, ThereAndBack) {
  ProgramImage image;
  image.path = "/bin/x";
  image.cwd = "/";
  image.arguments = {"x", "", "z"};
  image.auxiliary = {{25, 0x7ffffffff000}};
  image.info.brk = 77;
  auto read = ProgramImage::parse(image.to_payload());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->arguments, image.arguments);
  EXPECT_EQ(read->auxiliary, image.auxiliary);
  EXPECT_EQ(read->info.brk, 77u);
  Bytes payload = image.to_payload();
  for (size_t cut = 0; cut < payload.size(); ++cut) {
    EXPECT_FALSE(ProgramImage::parse(ByteView(payload).first(cut))) << cut;
  }
}

}  // namespace
}  // namespace pastcone
