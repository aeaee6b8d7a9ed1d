// The commands as a user types them, on recordings made for the purpose.
#include "pastcone/cli/testing/commands.h"

namespace pastcone::cli {
namespace {

using cli_testing::Ran;
using trace_testing::every_item;
using trace_testing::family;
using trace_testing::RecordingBuilder;

class Commands : public cli_testing::Commands {
  void add_commands(Program& program) const override {
    add_ls(program);
    add_info(program);
    add_ps(program);
    add_events(program);
    add_sql(program);
    add_export(program);
    add_doctor(program);
    add_version(program);
  }
};

TEST_F(Commands, MistypedOnesAreErrorsWithAHint) {
  Ran ran = run({"evnets"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(ran.error, "pastcone: there is no command 'evnets'; did you mean `pastcone events`?\n");
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(run({}).status, 2);
  EXPECT_EQ(run({"--help"}).status, 0);
  EXPECT_EQ(run({"version"}).status, 0);
  ran = run({"ls", "--nonsense"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(std::count(ran.error.begin(), ran.error.end(), '\n'), 1);
}

TEST_F(Commands, WithoutRecordings) {
  EXPECT_NE(run({"ls"}).out.find("no recordings in"), std::string::npos);
  EXPECT_EQ(json({"ls"}), nlohmann::json::array());
  Ran ran = run({"ps"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_NE(ran.error.find("make one: `pastcone record"), std::string::npos);
}

TEST_F(Commands, TheNewestIsMeant) {
  RecordingBuilder older = family(), newer = family();
  older.manifest.started_ns -= 1;
  older.manifest.command = {"older"};
  older.write(place("tool-2"));
  newer.write(place("tool-1"));
  std::filesystem::create_directories(place("not-a-recording"));
  EXPECT_EQ(json({"info"})["name"], "tool-1");
  EXPECT_EQ(json({"info", "tool-2"})["command"][0], "older");
  EXPECT_EQ(json({"info", place("tool-2").c_str()})["name"], "tool-2");
  EXPECT_EQ(json({"info", (place("tool-2").native() + "/").c_str()})["name"], "tool-2");
  auto list = json({"ls"});
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0]["name"], "tool-1");
  EXPECT_EQ(list[0]["processes"], 2);
  Ran ran = run({"info", "tol-1"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_NE(ran.error.find("did you mean tool-1?"), std::string::npos);
  ran = run({"info", place("not-a-recording").c_str()});
  EXPECT_NE(ran.error.find("has no manifest.json"), std::string::npos);
}

TEST_F(Commands, Ps) {
  family().write(place("r"));
  EXPECT_EQ(run({"ps"}).out,
            "PROCESS  PID  HOST  THREADS  EVENTS  END     PROGRAM\n"
            "p1       100  lab         2      11  exit 3  /usr/bin/tool --flag\n"
            "└ p2     101  lab         1       5  killed  /bin/cat -n\n");
  auto processes = json({"ps"});
  EXPECT_EQ(processes[1]["parent"], "p1:3");
  EXPECT_EQ(processes[0]["threads"][1]["thread"], "p1.2");
  EXPECT_EQ(processes[0]["end"]["status"], 3);
}

TEST_F(Commands, Info) {
  family().write(place("r"));
  auto info = json({"info"});
  EXPECT_EQ(info["events"], 16);
  EXPECT_EQ(info["kinds"]["read"], 3);
  EXPECT_EQ(info["channels"]["sent"], 45);
  EXPECT_EQ(info["channels"]["count"], 1);
  EXPECT_EQ(info["files"]["kept"], 1);
  EXPECT_EQ(info["state"], "complete");
  EXPECT_EQ(info["duration_ns"], 2'500'000'000);
  EXPECT_NE(run({"info"}).out.find("            16  events"), std::string::npos);
}

TEST_F(Commands, Events) {
  family().write(place("r"));
  auto lines = [](const Ran& ran) { return std::count(ran.out.begin(), ran.out.end(), '\n'); };
  EXPECT_EQ(lines(run({"events"})), 16);
  EXPECT_EQ(lines(run({"events", "p1"})), 11);
  EXPECT_EQ(lines(run({"events", "r", "p1.1"})), 8);
  EXPECT_EQ(lines(run({"events", "r", "p1.2", "p2"})), 8);
  EXPECT_EQ(lines(run({"events", "p1.1", "--from", "3", "--to", "5"})), 3);
  EXPECT_EQ(run({"events", "--kind", "send"}).out, "p1:5          write             ch 12->  = 45\n");
  EXPECT_EQ(lines(run({"events", "--kind", "send", "--kind", "signal", "p2"})), 1);
  EXPECT_EQ(lines(run({"events", "--json"})), 16);
  EXPECT_EQ(run({"events", "p9"}).status, 1);
  EXPECT_EQ(run({"events", "r", "q9"}).status, 1);
  EXPECT_EQ(run({"events", "--kind", "raed"}).status, 1);
  EXPECT_EQ(run({"events", "--from", "x"}).status, 2);
}

TEST_F(Commands, Sql) {
  family().write(place("r"));
  EXPECT_EQ(run({"sql", "SELECT process, events, parent FROM processes"}).out,
            "process\tevents\tparent\np1\t11\t\np2\t5\tp1:3\n");
  EXPECT_EQ(run({"sql", "r", "SELECT hb('p1:5', 'p2:3') AS before"}).out, "before\n1\n");
  EXPECT_EQ(
      run({"sql", "--json", "SELECT event, error, result * 0.5 AS half FROM events WHERE error IS NOT NULL"})
          .out,
      "{\"event\":\"p2:4\",\"error\":\"EAGAIN\",\"half\":-5.5}\n");
  Ran ran = run({"sql", "r", "DROP TABLE events"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(std::count(ran.error.begin(), ran.error.end(), '\n'), 1);
  EXPECT_EQ(run({"sql", "no-such-recording", "SELECT 1"}).status, 1);
  EXPECT_EQ(run({"sql", "r", "SELECT", "1"}).status, 1);
  EXPECT_NE(run({"sql", "--help"}).out.find("messages(channel, begin, end, send, receive"),
            std::string::npos);
}

TEST_F(Commands, Export) {
  family().write(place("r"));
  Path file = directory_.path() / "out";
  Ran ran = run({"export", "--format=perfetto", "-o", file.c_str()});
  EXPECT_EQ(ran.status, 0) << ran.error;
  EXPECT_NE(ran.out.find("ui.perfetto.dev"), std::string::npos);
  EXPECT_TRUE(nlohmann::json::parse(*read_file(file)).contains("traceEvents"));
  EXPECT_EQ(run({"export", "p2", "--format=shiviz"}).out.substr(0, 11), "p2:1 start\n");
  EXPECT_EQ(run({"export", "r", "p9", "--format=dot"}).status, 1);
  EXPECT_EQ(run({"export", "--format=dot", "-o", "/no/such/directory/file"}).status, 1);
  EXPECT_EQ(run({"export", "--format=pdf"}).status, 2);
  EXPECT_EQ(run({"export"}).status, 2);
}

TEST_F(Commands, UnfinishedOnesAreShownToo) {
  RecordingBuilder builder;
  builder.living(every_item(ThreadId(ProcessId(1), 1), 100)).write(place("r"));
  EXPECT_EQ(json({"ls"})[0]["state"], "unfinished");
  EXPECT_EQ(json({"ls"})[0]["processes"], 1);
  EXPECT_EQ(json({"info"})["events"], every_item(ThreadId(ProcessId(1), 1)).events());
  EXPECT_EQ(run({"events"}).status, 0);
  EXPECT_EQ(run({"ps"}).status, 0);
}

TEST_F(Commands, DamageIsOneLine) {
  RecordingBuilder builder;
  builder.packed(every_item(ThreadId(ProcessId(1), 1), 80));
  builder.packed_chunks().erase(builder.packed_chunks().begin() + 2);
  builder.write(place("r"));
  for (const char* command : {"ps", "info"}) {
    Ran ran = run({command});
    EXPECT_EQ(ran.status, 1);
    EXPECT_NE(ran.error.find("chunk 2 of its events is missing"), std::string::npos);
    EXPECT_EQ(std::count(ran.error.begin(), ran.error.end(), '\n'), 1);
    EXPECT_FALSE(ran.out.empty());
  }
  EXPECT_EQ(run({"events"}).status, 1);
}

TEST_F(Commands, UnreadableOnesAreListed) {
  std::filesystem::create_directories(place("r"));
  ASSERT_TRUE(write_file_atomic(place("r") / "manifest.json", "{}"));
  EXPECT_EQ(json({"ls"})[0]["state"], "unreadable");
  EXPECT_EQ(run({"ls"}).status, 0);
}

TEST_F(Commands, Doctor) {
  auto report = json({"doctor"});
  EXPECT_EQ(report["recording_possible"], run({"doctor"}).status == 0);
  EXPECT_GT(report["checks"].size(), 8u);
}

}  // namespace
}  // namespace pastcone::cli
