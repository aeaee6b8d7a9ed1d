#include "pastcone/graph/ports.h"

#include <gtest/gtest.h>

#include "pastcone/causal/build.h"
#include "pastcone/causal/races.h"
#include "pastcone/graph/execution.h"
#include "pastcone/graph/names.h"
#include "pastcone/trace/testing/recording_builder.h"

namespace pastcone::graph {
namespace {

using trace_testing::MemoryRecording;
using trace_testing::RecordingBuilder;
using trace_testing::StreamBuilder;

constexpr uint32_t kRead = 0, kWrite = 1, kPoll = 7, kConnect = 42, kAccept = 43, kListen = 50, kFork = 57,
                   kEpollWait = 232;

ThreadId first(uint32_t process) { return {ProcessId(process), 1}; }

/// p1 has forked p2 and p3 by its events 2 and 3; all three do more, and end.
class Waiting : public ::testing::Test {
 protected:
  Waiting() {
    p1.start(100, 100, EventId(), format::kStartProcess | format::kStartRoot, 1);
    p1.create(kFork, 101, first(2)).create(kFork, 102, first(3));
    p2.start(101, 101, EventId(first(1), 2), format::kStartProcess, 2);
    p3.start(102, 102, EventId(first(1), 3), format::kStartProcess, 3);
  }

  /// p1's epoll instance 9 is made and watches both channels, by the names x and y.
  void watch_both() {
    fact(1, FactKind::kWatcher, 0, 0, 9);
    fact(1, FactKind::kWatched, 4, 'x', 9);
    fact(1, FactKind::kWatched, 6, 'y', 9);
  }

  /// A descriptor, and whether it was ready.
  using Asked = std::vector<std::pair<int32_t, bool>>;
  void poll(const Asked& asked) {
    std::string bytes;
    int64_t ready = 0;
    for (auto [descriptor, found] : asked) {
      uint16_t words[2] = {1, found};
      bytes.append(reinterpret_cast<const char*>(&descriptor), sizeof descriptor);
      bytes.append(reinterpret_cast<const char*>(words), sizeof words);
      ready += found;
    }
    p1.out(kPoll, ready, bytes);
  }

  /// "p1:5<p3:2 …": p1:5 could have taken what p3:2 sent.
  std::string races() {
    for (StreamBuilder* stream : {&p1, &p2, &p3}) stream->exit_group(0);
    MemoryRecording made(RecordingBuilder().packed(p1).packed(p2).packed(p3));
    causal::Execution execution = read_execution(*made.recording, facts).value();
    causal::Graph graph = causal::build(std::move(execution)).value();
    causal::Races races = causal::Races::find(graph);
    std::string text;
    for (const causal::RacyReceive& receive : races.receives()) {
      for (uint32_t rival : races.rivals(receive)) {
        text += fmt::format("{}{}<{}", text.empty() ? "" : " ", event_of(graph, receive.at),
                            event_of(graph, races.contests().messages[rival].send));
      }
    }
    return text;
  }

  /// What a replay has told of p1, if there was one.
  void fact(uint64_t event, FactKind kind, uint64_t key, uint64_t number = 0, uint64_t more = 0) {
    facts.list.push_back({first(1), event, kind, key, number, more});
  }

  Facts facts;
  StreamBuilder p1{first(1)}, p2{first(2)}, p3{first(3)};
};

TEST_F(Waiting, ForSeveralIsAChoice) {
  p2.send(kWrite, 4, 10).send(kWrite, 4, 10);
  p3.send(kWrite, 6, 10);
  poll({{5, true}, {7, false}});
  p1.receive(kRead, 4, 10);  // p1:5
  poll({{5, true}, {7, true}});
  p1.receive(kRead, 4, 10).receive(kRead, 6, 10);  // p1:7, p1:8
  EXPECT_EQ(races(), "p1:5<p3:2 p1:7<p3:2");
}

TEST_F(Waiting, ForOneIsNone) {
  p2.send(kWrite, 4, 10);
  p3.send(kWrite, 6, 10);
  poll({{5, true}, {-1, false}});
  p1.receive(kRead, 4, 10);
  poll({{7, true}});
  p1.receive(kRead, 6, 10);
  EXPECT_EQ(races(), "");
}

TEST_F(Waiting, ForDifferentThingsMakesDifferentPorts) {
  p2.send(kWrite, 4, 10).send(kWrite, 6, 10);
  p3.send(kWrite, 8, 10).send(kWrite, 10, 10);
  poll({{5, true}, {6, true}});
  p1.receive(kRead, 4, 10).receive(kRead, 6, 10);
  poll({{7, true}, {8, true}});
  p1.receive(kRead, 8, 10).receive(kRead, 10, 10);  // p1:8, p1:9
  EXPECT_EQ(races(), "p1:5<p2:3 p1:8<p3:3");
}

TEST_F(Waiting, NotAtAllLeavesTheOrderToTheProgram) {
  p2.send(kWrite, 4, 10);
  p3.send(kWrite, 6, 10);
  p1.receive(kRead, 4, 10).receive(kRead, 6, 10);
  EXPECT_EQ(races(), "");
}

TEST_F(Waiting, IsOverAfterAsManyAsWereReady) {
  p2.send(kWrite, 4, 10);
  p3.send(kWrite, 6, 10).send(kWrite, 8, 10);
  p1.out(kEpollWait, 1, std::string(12, 'x'));
  p1.receive(kRead, 4, 10).receive(kRead, 6, 10);  // p1:5 was chosen; p1:6 is the program's own wish
  p1.out(kEpollWait, 1, std::string(12, 'x'));
  p1.receive(kRead, 8, 10);  // p1:8
  EXPECT_EQ(races(), "p1:5<p3:3");
}

/// The first receive is the program's own wish, and the second was chosen.
TEST_F(Waiting, IsForWhatAReplayTells) {
  p2.send(kWrite, 4, 10);
  p3.send(kWrite, 6, 10).send(kWrite, 8, 10);
  p1.out(kEpollWait, 1, std::string(12, 'x'));     // p1:4
  p1.receive(kRead, 6, 10).receive(kRead, 4, 10);  // p1:5, p1:6
  p1.out(kEpollWait, 1, std::string(12, 'y'));
  p1.receive(kRead, 8, 10);
  fact(1, FactKind::kWatched, 4, 'x', 9);
  fact(1, FactKind::kWatched, 8, 'y', 9);
  fact(4, FactKind::kPolled, 0, 'x', 9);
  fact(7, FactKind::kPolled, 0, 'y', 9);
  EXPECT_EQ(races(), "p1:6<p3:3");
}

/// p1 watches two channels, one after the other; the instance is that with descriptor 9.
TEST_F(Waiting, IsForWhatIsWatchedThen) {
  p2.send(kWrite, 4, 10);
  p3.send(kWrite, 6, 10);
  p1.out(kEpollWait, 1, std::string(12, 'x')).receive(kRead, 4, 10);  // p1:4, p1:5
  p1.out(kEpollWait, 1, std::string(12, 'y')).receive(kRead, 6, 10);  // p1:6, p1:7
  fact(1, FactKind::kWatcher, 0, 0, 9);
  fact(1, FactKind::kWatched, 4, 'x', 9);
  fact(4, FactKind::kPolled, 0, 'x', 9);
  fact(5, FactKind::kUnwatched, 4, 0, 9);
  fact(5, FactKind::kWatched, 6, 'y', 9);
  fact(6, FactKind::kPolled, 0, 'y', 9);
  EXPECT_EQ(races(), "");
}

/// It reads no more of the first channel while that is not watched: what comes then has no rivals.
TEST_F(Waiting, IsNotForWhatWasTakenAway) {
  p2.send(kWrite, 4, 10).send(kWrite, 4, 10);                         // p2:2, p2:3
  p3.send(kWrite, 6, 10).send(kWrite, 6, 10).send(kWrite, 6, 10);     // p3:2 …
  p1.out(kEpollWait, 1, std::string(12, 'y')).receive(kRead, 6, 10);  // p1:4, p1:5: both are watched
  p1.out(kEpollWait, 1, std::string(12, 'y')).receive(kRead, 6, 10);  // p1:6, p1:7: the second alone
  p1.out(kEpollWait, 1, std::string(12, 'x')).receive(kRead, 4, 10);  // p1:8, p1:9: both
  watch_both();
  fact(4, FactKind::kPolled, 0, 'y', 9);
  fact(5, FactKind::kUnwatched, 4, 0, 9);
  fact(6, FactKind::kPolled, 0, 'y', 9);
  fact(7, FactKind::kWatched, 4, 'x', 9);
  fact(8, FactKind::kPolled, 0, 'x', 9);
  EXPECT_EQ(races(), "p1:5<p2:2 p1:9<p3:4");
}

TEST_F(Waiting, IsNotForWhatWasClosed) {
  p2.send(kWrite, 4, 10);
  p3.send(kWrite, 6, 10).send(kWrite, 6, 10);
  p1.out(kEpollWait, 1, std::string(12, 'y')).receive(kRead, 6, 10);  // p1:4, p1:5
  p1.out(kEpollWait, 1, std::string(12, 'y')).receive(kRead, 6, 10);  // p1:6, p1:7
  watch_both();
  fact(4, FactKind::kPolled, 0, 'y', 9);
  fact(5, FactKind::kUnwatched, 4, 0, stage::kEveryWatcher);
  fact(6, FactKind::kPolled, 0, 'y', 9);
  EXPECT_EQ(races(), "p1:5<p2:2");
}

/// A child that closes what it has inherited takes nothing away from its parent.
TEST_F(Waiting, IsForWhatItsOwnProcessHas) {
  p2.send(kWrite, 4, 10);
  p3.send(kWrite, 6, 10);
  p1.out(kEpollWait, 1, std::string(12, 'y')).receive(kRead, 6, 10);  // p1:4, p1:5
  watch_both();
  facts.list.push_back({first(2), 1, FactKind::kUnwatched, 4, 0, stage::kEveryWatcher});
  fact(4, FactKind::kPolled, 0, 'y', 9);
  EXPECT_EQ(races(), "p1:5<p2:2");
}

/// Another instance with the same descriptor watches nothing yet.
TEST_F(Waiting, IsForWhatThisInstanceWatches) {
  p2.send(kWrite, 4, 10);
  p3.send(kWrite, 6, 10).send(kWrite, 6, 10);
  p1.out(kEpollWait, 1, std::string(12, 'y')).receive(kRead, 6, 10);  // p1:4, p1:5
  p1.out(kEpollWait, 1, std::string(12, 'y')).receive(kRead, 6, 10);  // p1:6, p1:7
  watch_both();
  fact(4, FactKind::kPolled, 0, 'y', 9);
  fact(5, FactKind::kWatcher, 0, 0, 9);
  fact(5, FactKind::kWatched, 6, 'y', 9);
  fact(6, FactKind::kPolled, 0, 'y', 9);
  EXPECT_EQ(races(), "p1:5<p2:2");
}

TEST_F(Waiting, AtDifferentEpollInstancesMakesDifferentPorts) {
  p2.send(kWrite, 4, 10);
  p3.send(kWrite, 6, 10);
  p1.out(kEpollWait, 1, std::string(12, 'x')).receive(kRead, 4, 10);
  p1.out(kEpollWait, 1, std::string(12, 'x')).receive(kRead, 6, 10);
  fact(1, FactKind::kWatched, 4, 'x', 8);
  fact(1, FactKind::kWatched, 6, 'x', 9);
  fact(4, FactKind::kPolled, 0, 'x', 8);
  fact(6, FactKind::kPolled, 0, 'x', 9);
  EXPECT_EQ(races(), "");
}

TEST_F(Waiting, ForConnectionsAtDifferentPlacesMakesDifferentPorts) {
  p1.result(kListen, 0).result(kListen, 0).open(kAccept, 5, 7, "").open(kAccept, 7, 8, "");
  p2.open(kConnect, 4, 0, "");
  p3.open(kConnect, 6, 0, "");
  fact(6, FactKind::kAccepted, stage::kListener | 1);
  fact(7, FactKind::kAccepted, stage::kListener | 2);
  EXPECT_EQ(races(), "");
}

TEST_F(Waiting, DoesNotTakeFromAConnectionBeforeItIsAccepted) {
  p2.send(kWrite, 4, 10).send(kWrite, 4, 10);
  p3.open(kConnect, 6, 0, "").send(kWrite, 6, 10);  // p3:3, whenever that was
  poll({{3, false}, {5, true}});
  p1.receive(kRead, 4, 10);
  poll({{3, true}, {5, false}});
  p1.open(kAccept, 7, 7, "");
  poll({{3, false}, {5, true}, {7, false}});
  p1.receive(kRead, 4, 10);  // p1:9
  poll({{3, false}, {5, false}, {7, true}});
  p1.receive(kRead, 6, 10);
  EXPECT_EQ(races(), "p1:9<p3:3");
}

TEST_F(Waiting, ForConnectionsTakesThemInAnyOrder) {
  p1.result(kListen, 0).open(kAccept, 5, 7, "").open(kAccept, 7, 8, "");
  p2.open(kConnect, 4, 0, "");
  p3.open(kConnect, 6, 0, "");
  EXPECT_EQ(races(), "p1:5<p3:2");
}

TEST_F(Waiting, ForConnectionsThatAreMadeOneAfterTheOtherTakesThemInTheirs) {
  p1.result(kListen, 0).open(kAccept, 5, 7, "").send(kWrite, 8, 1).open(kAccept, 7, 8, "");
  p2.open(kConnect, 4, 0, "");
  p3.receive(kRead, 8, 1).open(kConnect, 6, 0, "");
  EXPECT_EQ(races(), "");
}

}  // namespace
}  // namespace pastcone::graph
