#include "pastcone/cli/event_text.h"

#include <gtest/gtest.h>

#include "pastcone/trace/testing/recording_builder.h"

namespace pastcone::cli {
namespace {

using trace_testing::every_item;
using trace_testing::MemoryRecording;
using trace_testing::RecordingBuilder;

const ThreadId kThread(ProcessId(1), 1);

struct Lines {
  std::vector<std::string> text;
  std::vector<nlohmann::ordered_json> json;
};

Lines every_line() {
  RecordingBuilder builder;
  builder.packed(every_item(kThread));
  builder.files = "{\"id\":3,\"path\":\"/etc/hosts\"}\n";
  MemoryRecording memory(builder);
  EventText text(memory.recording->files());
  EventReader reader(*memory.recording, kThread);
  Lines lines;
  while (const Event* event = *reader.next()) {
    fmt::memory_buffer buffer;
    text.line(kThread, *event, reader, buffer);
    EXPECT_EQ(buffer.data()[buffer.size() - 1], '\n');
    lines.text.emplace_back(buffer.data(), buffer.size() - 1);
    lines.json.push_back(text.json(kThread, *event, reader));
  }
  return lines;
}

TEST(EventText, Lines) {
  std::vector<std::string> expected = {
      "p1:1          start             pid 4711  2023-11-14T22:13:20.123456789Z",
      "p1:2          exec              /usr/bin/tool --flag 'argument with spaces'",
      "p1:3          close             = 0",
      "p1:4          call 9999         = ENOSYS",
      "p1:5          read              \"hello\"  = 5",
      "p1:6          wait4             = ECHILD",
      "p1:7          write             ch 12->  = EAGAIN of 45 bytes  [turn 1#7, from byte 100]",
      "p1:8          sendto            ch 12->  = 4096  [stdout #3, obj 4#17, turn 1#9]",
      "p1:9          read              ch 13<-  = 45",
      "p1:10         recvmsg           ch 13<-  = ECONNRESET",
      "p1:11         read              file 3 /etc/hosts @4096  = 200",
      "p1:12         clone             p1.2  = 4712",
      "p1:13         fork              p2  = 4713",
      "p1:14         mmap              file 3 /etc/hosts  = 0x7ffff7a00000",
      "p1:15         brk               = 0x555555600000",
      "p1:16         mmap              = ENOMEM",
      "p1:17         recvmsg           ch 13<-  = 45",
      "p1:18         accept4           opens ch 14->  = 5",
      "p1:19         pipe2             = EMFILE",
      "p1:20         clock_gettime     2023-11-14T22:13:20.123456799Z",
      "p1:21         clock_gettime     2023-11-14T22:13:20.123456794Z",
      "p1:22         clock_gettime     monotonic 123.456789012 s",
      "p1:23         clock_gettime     boottime 0.000000042 s",
      "p1:24         clock_gettime     monotonic 123.456789100 s",
      "p1:25         clock_gettime     clock 4294967294 0.000000099 s",
      "p1:26         gettimeofday      2023-11-14T22:13:20.123456000Z",
      "p1:27         time              2023-11-14T22:13:20.000000000Z",
      "p1:28         rdtsc             = 1000000000000",
      "p1:29         rdrand            = 0xffffffffffffffff",
      "p1:30         async",
      "p1:31         signal            SIGTERM",
      "p1:32         fault             SIGSEGV",
      "p1:33         exec              /bin/sh -c true",
      "p1:34         stop              an unsupported call: io_uring_setup",
      "p1:35         exit              3",
      "p1:36         fatal             SIGABRT",
      "p1:37         exit_group        2",
  };
  EXPECT_EQ(every_line().text, expected);
}

TEST(EventText, Json) {
  auto json = every_line().json;
  EXPECT_EQ(
      json.at(6).dump(),
      R"({"event":"p1:7","kind":"write","call":1,"shape":"send","length":45,"channel":12,"result":-11,)"
      R"("error":"EAGAIN","corrected":true,"marks":[{"mark":"turn","group":1,"number":7,"after":false},)"
      R"({"mark":"offset","position":100}]})");
  EXPECT_EQ(json.at(1)["arguments"][2], "argument with spaces");
  EXPECT_EQ(json.at(1)["marks"][0]["path"], "/usr/bin/tool");
  EXPECT_EQ(json.at(17)["channel"], 14);
  EXPECT_TRUE(json.at(18)["channel"].is_null());
  EXPECT_EQ(json.back()["status"], 2);
}

TEST(EventText, StrangeTimesDoNotBreakIt) {
  trace_testing::StreamBuilder stream(kThread);
  for (int64_t time : {INT64_MIN, INT64_MAX, int64_t{-1}}) {
    stream.time(time);
    stream = trace_testing::StreamBuilder(kThread).realtime(time);
    stream.clock(9, time);
    MemoryRecording memory(RecordingBuilder().packed(stream));
    EventText text(memory.recording->files());
    EventReader reader(*memory.recording, kThread);
    fmt::memory_buffer buffer;
    while (const Event* event = *reader.next()) text.line(kThread, *event, reader, buffer);
    EXPECT_GT(buffer.size(), 0u);
  }
}

}  // namespace
}  // namespace pastcone::cli
