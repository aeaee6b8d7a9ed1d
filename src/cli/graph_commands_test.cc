// The commands that ask the event graph, on a recording whose answers are known.
#include "pastcone/cli/testing/commands.h"
#include "pastcone/trace/file_names.h"

namespace pastcone::cli {
namespace {

using cli_testing::Ran;
using trace_testing::RecordingBuilder;
using trace_testing::StreamBuilder;

constexpr uint32_t kRead = 0, kWrite = 1, kFork = 57;

/// p1 forks p2 and p3, which both write into the pipe (channel 12) that p1 reads; then p1 answers p2 alone
/// (channel 14), and sends 7 bytes more that nobody reads.
RecordingBuilder family_of_three(uint32_t reads = 2) {
  ThreadId p1(ProcessId(1), 1), p2(ProcessId(2), 1), p3(ProcessId(3), 1);
  StreamBuilder parent(p1), second(p2), third(p3);
  parent.start(100, 100, EventId(), format::kStartProcess | format::kStartRoot, 1)
      .exec({"/bin/three"})
      .create(kFork, 101, p2)                                                         // p1:3
      .create(kFork, 102, p3);                                                        // p1:4
  for (uint32_t i = 0; i < reads; ++i) parent.offset(10 * i).receive(kRead, 12, 10);  // p1:5, p1:6
  parent.send(kWrite, 14, 5).send(kWrite, 14, 7).exit_group(0);                       // p1:7, p1:8, p1:9
  second.start(101, 101, EventId(p1, 3), format::kStartProcess, 2)
      .offset(0)
      .send(kWrite, 12, 10)   // p2:2
      .receive(kRead, 14, 5)  // p2:3
      .exit_group(0);
  third.start(102, 102, EventId(p1, 4), format::kStartProcess, 3)
      .offset(10)
      .send(kWrite, 12, 10)  // p3:2
      .exit_group(0);
  return RecordingBuilder().packed(parent).packed(second).packed(third);
}

class GraphCommands : public cli_testing::Commands {
 protected:
  GraphCommands() { family_of_three().write(place("r")); }

  void add_commands(Program& program) const override {
    add_cone(program);
    add_cut(program);
    add_hb(program);
    add_info(program);
    add_path(program);
    add_races(program);
  }

  void expect_one_line(std::vector<const char*> arguments, const char* says) const {
    Ran ran = run(std::move(arguments));
    EXPECT_EQ(ran.status, 1);
    EXPECT_EQ(ran.out, "");
    EXPECT_NE(ran.error.find(says), std::string::npos) << ran.error;
    // The program of this recording does not exist, so the graph is made without replaying it, which is said
    // first.
    auto begin = ran.error.starts_with("pastcone: readiness") ? ran.error.find('\n') + 1 : 0;
    EXPECT_EQ(std::count(ran.error.begin() + static_cast<ptrdiff_t>(begin), ran.error.end(), '\n'), 1)
        << ran.error;
  }
};

TEST_F(GraphCommands, Cone) {
  EXPECT_EQ(run({"cone", "p1:5"}).out,
            "WHERE             LAST EVENT\n"
            "p1:5              read              ch 12<-  = 10  [from byte 0]\n"
            "p2:2              write             ch 12->  = 10  [from byte 0]\n"
            "p3 has not begun\n");
  auto cone = json({"cone", "p2:3", "r"});
  EXPECT_EQ(cone["cone"], "past");
  EXPECT_EQ(cone["threads"][0]["event"], "p1:7");
  EXPECT_EQ(cone["threads"][0]["last"]["channel"], 14);
  EXPECT_EQ(cone["threads"][2]["event"], "p3:2");
  EXPECT_EQ(cone["threads"][2]["ended"], false);
  EXPECT_EQ(cone["in_transit"].size(), 0u);
}

TEST_F(GraphCommands, ConeSaysWhatIsInTransit) {
  EXPECT_NE(run({"cone", "p1:9"})
                .out.find("\nin transit: 5 bytes of p1:7, channel 14\nin transit: 7 bytes of p1:8"),
            std::string::npos);
  auto cone = json({"cone", "p1:9"});
  ASSERT_EQ(cone["in_transit"].size(), 2u);
  EXPECT_EQ(cone["in_transit"][1]["send"], "p1:8");
  EXPECT_EQ(cone["in_transit"][1]["begin"], 5);
  EXPECT_EQ(cone["in_transit"][1]["end"], 12);
  EXPECT_EQ(cone["threads"][0]["ended"], true);
}

TEST_F(GraphCommands, FutureCone) {
  EXPECT_EQ(run({"cone", "--future", "p3:2"}).out,
            "FROM  FIRST EVENT\n"
            "p1:6  read              ch 12<-  = 10  [from byte 10]\n"
            "p2:3  read              ch 14<-  = 5\n"
            "p3:2  write             ch 12->  = 10  [from byte 10]\n");
  auto future = json({"cone", "--future", "p2:3"});
  ASSERT_EQ(future["threads"].size(), 1u);
  EXPECT_EQ(future["threads"][0]["event"], "p2:3");
  auto all = json({"cone", "--future", "p1:4"});
  EXPECT_EQ(all["threads"][2]["event"], "p3:1");
  EXPECT_EQ(all["threads"][2]["entering"], true);
}

TEST_F(GraphCommands, Cut) {
  Ran ran = run({"cut", "p1:6", "p2:2", "r"});
  EXPECT_EQ(ran.out.substr(0, 11), "consistent\n") << ran.out << ran.error;
  ran = run({"cut", "p1:5", "p3:2"});
  EXPECT_NE(ran.out.find("in transit: 10 bytes of p3:2, channel 12"), std::string::npos);

  ran = run({"cut", "p2:3", "p1:6"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.out.substr(0, ran.out.find('\n')),
            "not consistent: p1:7 → p2:3 (message, channel 14) comes from outside");
  EXPECT_NE(ran.out.find("orphan: 5 bytes of p1:7, channel 14, received by p2:3\n"), std::string::npos);
  auto cut = json({"cut", "r", "p2:3", "p1:6"});
  EXPECT_EQ(cut["consistent"], false);
  EXPECT_EQ(cut["witness"]["from"], "p1:7");
  EXPECT_EQ(cut["witness"]["to"], "p2:3");
  EXPECT_EQ(cut["threads"][0]["event"], "p1:6");
  EXPECT_EQ(cut["orphans"][0]["receive"], "p2:3");
}

TEST_F(GraphCommands, HappenedBefore) {
  EXPECT_EQ(run({"hb", "p3:2", "p2:3"}).out,
            "p3:2 happened before p2:3\n"
            "FROM        TO         BY\n"
            "p3:2 write  p1:6 read  message, channel 12\n"
            "p1:7 write  p2:3 read  message, channel 14\n");
  EXPECT_EQ(run({"hb", "p1:4", "p1:2"}).out, "p1:2 happened before p1:4, in the same thread\n");
  EXPECT_EQ(run({"hb", "p3:2", "p2:2", "r"}).out,
            "p3:2 and p2:2 are concurrent: neither could know of the other\n");
  auto answer = json({"hb", "p2:1", "p1:3"});
  EXPECT_EQ(answer["relation"], "after");
  EXPECT_EQ(answer["chain"][0]["kind"], "fork");
  EXPECT_EQ(answer["chain"][0]["to_entering"], true);
  EXPECT_EQ(json({"hb", "p1:3", "p1:3"})["relation"], "same");
}

TEST_F(GraphCommands, Path) {
  // By p1:3 to p1:7 the program's own order is longer than by way of p2.
  Ran ran = run({"path", "p1:3", "p2:4"});
  EXPECT_EQ(ran.out,
            "8 events from p1:3 to p2:4, in 3 threads, by 3 arrows\n"
            "FROM        TO               BY\n"
            "p1:4 fork   into p3:1 start  fork\n"
            "p3:2 write  p1:6 read        message, channel 12\n"
            "p1:7 write  p2:3 read        message, channel 14\n");
  EXPECT_EQ(json({"path", "p1:3", "p2:4"})["events"], 8);
  EXPECT_NE(run({"path", "p2:4", "p1:3"}).out.find("try `pastcone path p1:3 p2:4`"), std::string::npos);
  EXPECT_EQ(json({"path", "p2:2", "p3:2"})["chain"], nullptr);
}

/// Two that answer each other 150 times: 301 arrows.
TEST_F(GraphCommands, PathOfManyArrowsShowsBothEnds) {
  constexpr uint32_t kTimes = 150;
  ThreadId p1(ProcessId(1), 1), p2(ProcessId(2), 1);
  StreamBuilder first(p1), second(p2);
  first.start(100, 100, EventId(), format::kStartProcess | format::kStartRoot, 1).create(kFork, 101, p2);
  second.start(101, 101, EventId(p1, 2), format::kStartProcess, 2);
  for (uint32_t i = 0; i < kTimes; ++i) {
    first.send(kWrite, 12, 1).receive(kRead, 14, 1);
    second.receive(kRead, 12, 1).send(kWrite, 14, 1);
  }
  first.exit_group(0);
  second.exit_group(0);
  RecordingBuilder().packed(first).packed(second).write(place("long"));
  auto lines = [&](std::vector<const char*> arguments) {
    std::string out = run(std::move(arguments)).out;
    return std::count(out.begin(), out.end(), '\n');
  };
  auto arrows = static_cast<ptrdiff_t>(json({"path", "p2:1", "p1:303", "long"})["chain"].size());
  ASSERT_GT(arrows, 200);
  EXPECT_EQ(lines({"path", "p2:1", "p1:303", "long", "--all"}), arrows + 2);
  EXPECT_EQ(lines({"path", "p2:1", "p1:303", "long"}), 200 + 4);
  std::string out = run({"path", "p2:1", "p1:303", "long"}).out;
  EXPECT_NE(out.find(fmt::format("and {} more", arrows - 200)), std::string::npos) << out;
  EXPECT_NE(out.find("p2:301 write  p1:302 read"), std::string::npos) << out;
}

TEST_F(GraphCommands, Races) {
  auto races = json({"races"});
  EXPECT_EQ(races["receives"], 1);
  ASSERT_EQ(races["groups"].size(), 1u);
  EXPECT_EQ(races["groups"][0]["call"], "read");
  EXPECT_EQ(races["groups"][0]["program"], "/bin/three");
  EXPECT_EQ(races["groups"][0]["channel"], 12);
  auto receive = races["groups"][0]["receives"][0];
  EXPECT_EQ(receive["receive"], "p1:5");
  EXPECT_EQ(receive["took"], "p2:2");
  EXPECT_EQ(receive["raced"], nlohmann::json::array({"p3:2"}));
  EXPECT_EQ(
      run({"races"}).out,
      "1 of 2 receives at contested places could have taken another message; keeping 1 in order would be "
      "enough\n\n"
      "1 receive by read in /bin/three, channel 12\n"
      "  p1:5          took that of p2:2; could have had that of p3:2\n");
}

TEST_F(GraphCommands, RacesInFigures) {
  auto races = json({"info", "--races"})["races"];
  EXPECT_EQ(races, (nlohmann::json{{"receives", 3}, {"raced", 1}, {"traced", 1}, {"traced_on_the_fly", 1}}));
  EXPECT_EQ(json({"info"})["races"], nullptr);
  EXPECT_NE(
      run({"info", "--races"})
          .out.find("\nraces       1 of 3 receives could have taken another message; to keep in order: 1 "
                    "(told on the fly: 1)\n"),
      std::string::npos);
  EXPECT_EQ(run({"info"}).out.find("\nraces"), std::string::npos);
}

TEST_F(GraphCommands, MistakesAreOneLine) {
  expect_one_line({"cone", "p1:10"}, "there is no event p1:10: the last of p1 is 9");
  expect_one_line({"cone", "p9:1"}, "there is no p9 in this recording; `pastcone ps`");
  expect_one_line({"cone", "p1"}, "'p1' is not an event: write it like");
  expect_one_line({"hb", "p1:1", "nothing"}, "'nothing' is not an event");
  expect_one_line({"cut", "p1:1", "p2:x", "r"}, "'p2:x' is not an event");
  expect_one_line({"cut", "p1:1", "p1:2"}, "p1:1 and p1:2 are of one thread");
  expect_one_line({"path", "p1:1", "p1:2", "q"}, "there is no recording 'q'");
  auto manifest = read_file(place("r") / kManifestName);
  ASSERT_TRUE(manifest);
  auto version = nlohmann::json::parse(*manifest);
  version["version"] = 9999;
  ASSERT_TRUE(write_file_atomic(place("r") / kManifestName, version.dump()));
  expect_one_line({"races"}, "9999");
}

TEST_F(GraphCommands, WithAnEndThatWasCutOff) {
  ThreadId p1(ProcessId(1), 1);
  StreamBuilder stream(p1);
  stream.start(100, 100, EventId(), format::kStartProcess | format::kStartRoot, 1)
      .send(kWrite, 12, 10)
      .receive(kRead, 12, 4);
  RecordingBuilder().packed(stream, false).write(place("cut-off"));
  auto cone = json({"cone", "p1:3", "cut-off"});
  EXPECT_EQ(cone["threads"][0]["event"], "p1:3");
  EXPECT_EQ(cone["threads"][0]["ended"], false);
  EXPECT_EQ(cone["in_transit"][0]["begin"], 4);
}

}  // namespace
}  // namespace pastcone::cli
