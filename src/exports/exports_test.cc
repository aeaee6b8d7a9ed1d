// What the formats look like, on a small recording.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "pastcone/causal/build.h"
#include "pastcone/exports/dot.h"
#include "pastcone/exports/p3.h"
#include "pastcone/exports/perfetto.h"
#include "pastcone/exports/shiviz.h"
#include "pastcone/graph/execution.h"
#include "pastcone/trace/testing/recording_builder.h"

namespace pastcone::exports {
namespace {

using trace_testing::family;
using trace_testing::MemoryRecording;
using trace_testing::RecordingBuilder;
using trace_testing::StreamBuilder;

class Exports : public ::testing::Test {
 protected:
  explicit Exports(const RecordingBuilder& builder = family())
      : made_(builder),
        graph_(causal::build(graph::read_execution(*made_.recording).value()).value()),
        subject_{*made_.recording, graph_, std::vector<bool>(graph_.real_threads, true)} {}

  /// What `write` writes; an error's message.
  template <typename Write>
  std::string text(Write write) {
    char* bytes = nullptr;
    size_t size = 0;
    std::FILE* file = open_memstream(&bytes, &size);
    Out out(file);
    Status status = write(subject_, out);
    std::fclose(file);
    std::string result(bytes, size);
    std::free(bytes);
    return status ? result : status.error().message;
  }

  MemoryRecording made_;
  causal::Graph graph_;
  Subject subject_;
};

TEST_F(Exports, Perfetto) {
  auto trace = nlohmann::json::parse(text(write_perfetto));
  std::map<std::string, int> phases;
  std::map<std::string, nlohmann::json> slices;
  nlohmann::json begin, end;
  for (const auto& event : trace["traceEvents"]) {
    std::string phase = event["ph"];
    ++phases[phase];
    if (phase == "X") slices[event["args"]["event"]] = event;
    if (phase == "s") begin = event;
    if (phase == "f") end = event;
  }
  EXPECT_EQ(phases["X"], 16);
  EXPECT_EQ(phases["s"], 1);
  EXPECT_EQ(phases["f"], 1);
  EXPECT_EQ(begin["id"], end["id"]);
  auto inside = [&](const nlohmann::json& arrow, const char* name) {
    const nlohmann::json& slice = slices[name];
    double ts = arrow["ts"], from = slice["ts"], dur = slice["dur"];
    return arrow["tid"] == slice["tid"] && arrow["pid"] == slice["pid"] && from <= ts && ts < from + dur;
  };
  EXPECT_TRUE(inside(begin, "p1:5"));
  EXPECT_TRUE(inside(end, "p2:3"));
  EXPECT_LT(begin["ts"], end["ts"]);
  EXPECT_EQ(slices["p1:1"]["pid"], slices["p1.2:1"]["pid"]);
  EXPECT_NE(slices["p1:1"]["tid"], slices["p1.2:1"]["tid"]);
  EXPECT_NE(slices["p1:1"]["pid"], slices["p2:1"]["pid"]);
  // The clock was read a millisecond after the start.
  double start = slices["p1:1"]["ts"].get<double>() + slices["p1:1"]["dur"].get<double>();
  double reading = slices["p1:7"]["ts"].get<double>() + slices["p1:7"]["dur"].get<double>();
  EXPECT_NEAR(reading - start, 1000, 0.01);
}

TEST_F(Exports, Shiviz) {
  std::string log = text(write_shiviz);
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 32);
  EXPECT_NE(log.find("p1:5 write ch 12 = 45\np1 {\"p1\":5}\n"), std::string::npos);
  EXPECT_NE(log.find("p2:2 exec\np2 {\"p1\":3, \"p2\":2}\n"), std::string::npos);
  EXPECT_NE(log.find("p2:3 read ch 12 = 45\np2 {\"p1\":5, \"p2\":3}\n"), std::string::npos);
  EXPECT_NE(log.find("p1.2:1 start\np1.2 {\"p1\":4, \"p1.2\":1}\n"), std::string::npos);
  subject_.wanted = {false, false, true};
  EXPECT_EQ(text(write_shiviz).substr(0, 21), "p2:1 start\np2 {\"p2\":1");
}

TEST_F(Exports, SayWhereEventsAreIfThatIsWanted) {
  auto dot = [](const Subject& subject, Out& out) { return write_dot(subject, false, out); };
  const std::string kPlace = "tool.c:80 in \"work\"", kNowhere;
  EventId read(ThreadId(ProcessId(2), 1), 3);
  subject_.where = [&](EventId event) -> const std::string& { return event == read ? kPlace : kNowhere; };
  EXPECT_NE(text(write_shiviz).find("p2:3 read ch 12 = 45 at tool.c:80 in \"work\"\n"), std::string::npos);
  EXPECT_NE(text(dot).find("[label=\"p2:3 read ch 12 = 45 at tool.c:80 in \\\"work\\\"\"]"),
            std::string::npos);
  auto trace = nlohmann::json::parse(text(write_perfetto));
  size_t known = 0;
  for (const auto& event : trace["traceEvents"]) {
    if (!event.contains("args") || !event["args"].contains("where")) continue;
    EXPECT_EQ(event["args"]["event"], "p2:3");
    EXPECT_EQ(event["args"]["where"], kPlace);
    ++known;
  }
  EXPECT_EQ(known, 1u);
}

TEST_F(Exports, Dot) {
  auto all = [](const Subject& subject, Out& out) { return write_dot(subject, false, out); };
  auto linked = [](const Subject& subject, Out& out) { return write_dot(subject, true, out); };
  std::string picture = text(all);
  EXPECT_NE(picture.find("subgraph cluster_p1 {\n    label=\"p1 /usr/bin/tool --flag\""), std::string::npos);
  EXPECT_NE(picture.find("\"p1:5\" -> \"p2:3\" [xlabel=\"message\""), std::string::npos);
  EXPECT_NE(picture.find("\"p1:6\""), std::string::npos);
  picture = text(linked);
  EXPECT_NE(picture.find("\"p1:5\" -> \"p2:3\" [xlabel=\"message\""), std::string::npos);
  EXPECT_NE(picture.find("\"p1:4\" -> \"p1:5\" [weight"), std::string::npos);
  EXPECT_EQ(picture.find("\"p1:2\""), std::string::npos);
}

class RacingExports : public Exports {
 protected:
  RacingExports() : Exports(trace_testing::two_writers()) {}
};

/// p3's second message raced for no earlier receive: it comes behind its first one.
TEST_F(RacingExports, P3) {
  auto exact = [](const Subject& subject, Out& out) { return write_p3(subject, false, out); };
  auto on_the_fly = [](const Subject& subject, Out& out) { return write_p3(subject, true, out); };
  const std::string head = "file\tSPN\tSESN\tRPN\tRESN\tsend\treceive\n";
  EXPECT_EQ(text(exact), head + "TF0\t2\t1\t0\t2\tp3:2\tp1:6\nCTF2\t2\t1\t0\t2\tp3:2\tp1:6\n");
  EXPECT_EQ(text(on_the_fly), text(exact));
  subject_.wanted = {true, true, false};
  EXPECT_EQ(text(exact), head + "TF0\t2\t1\t0\t2\tp3:2\tp1:6\n");
}

TEST_F(Exports, P3OfWhatDoesNotRaceIsEmpty) {
  auto exact = [](const Subject& subject, Out& out) { return write_p3(subject, false, out); };
  EXPECT_EQ(text(exact), "file\tSPN\tSESN\tRPN\tRESN\tsend\treceive\n");
}

RecordingBuilder large() {
  StreamBuilder stream(ThreadId(ProcessId(1), 1));
  stream.start(100, 100, EventId(), format::kStartProcess | format::kStartRoot, 1);
  for (int i = 0; i < 100'001; ++i) stream.result(39, 100);
  RecordingBuilder builder;
  builder.packed(stream);
  return builder;
}

class LargeExports : public Exports {
 protected:
  LargeExports() : Exports(large()) {}
};

TEST_F(LargeExports, AreRefusedWhereNobodyCouldDrawThem) {
  auto dot = [](const Subject& subject, Out& out) { return write_dot(subject, false, out); };
  EXPECT_EQ(text(dot),
            "100002 events are too many for a picture (at most 4000): leave out those without arrows by "
            "--linked, or name some "
            "threads, as in `export p1 p2.3`");
  EXPECT_NE(text(write_shiviz).find("more than ShiViz can show"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(text(write_perfetto))["traceEvents"].size(), 100'002u + 5);
}

}  // namespace
}  // namespace pastcone::exports
