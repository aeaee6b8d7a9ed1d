#include "pastcone/debug/navigate.h"

#include <gtest/gtest.h>

#include "pastcone/causal/build.h"
#include "pastcone/causal/testing/random_execution.h"
#include "pastcone/debug/message_parts.h"
#include "pastcone/graph/steps.h"

namespace pastcone::debug {
namespace {

using causal::Cut;
using causal::kNone;
using causal::Node;
using graph::leaving;

/// Executions of events, where the graph has steps.
class Scene {
 public:
  uint32_t thread(uint32_t process, uint32_t number, uint32_t events, Node creator = {}) {
    execution_.threads.push_back(
        {ThreadId(ProcessId(process), number), leaving(events), creator, number == 1, true});
    return static_cast<uint32_t>(execution_.threads.size() - 1);
  }
  uint32_t channel(uint64_t id, bool messages = false) {
    execution_.channels.push_back({id, messages, true});
    return static_cast<uint32_t>(execution_.channels.size() - 1);
  }
  void send(uint32_t thread, uint32_t event, uint32_t channel, uint64_t begin, uint32_t length) {
    execution_.sends.push_back({begin, length, channel, {thread, leaving(event)}});
  }
  void receive(uint32_t thread, uint32_t event, uint32_t channel, uint64_t begin, uint32_t length) {
    execution_.receives.push_back({begin, length, channel, {thread, leaving(event)}});
  }
  void hand_over(Node from, Node to) {
    execution_.edges.push_back({from, to, causal::EdgeKind::kHandOver, 1});
  }
  void point(Node at, uint32_t number) { execution_.between.push_back({at, number}); }
  causal::Graph graph() && { return std::move(causal::build(std::move(execution_)).value()); }

 private:
  causal::Execution execution_;
};

/// A client asks a front, which asks a store, and so back; each event 1 is a start. The front's events:
/// 2 receives "a", 3 asks the store, 4 receives its answer in two parts with 5, 6 answers the client.
/// The store: 2 something from outside, 3 receives, 4 computes, 5 answers. The client: 2 sends, 3 receives, 4
/// sends what nobody receives.
causal::Graph three() {
  Scene scene;
  uint32_t client = scene.thread(1, 1, 5), front = scene.thread(2, 1, 6), store = scene.thread(3, 1, 6);
  uint32_t ask = scene.channel(10), answer = scene.channel(11), query = scene.channel(20),
           result = scene.channel(21), outside = scene.channel(30);
  scene.send(client, 2, ask, 0, 5);
  scene.receive(front, 2, ask, 0, 5);
  scene.send(front, 3, query, 0, 7);
  scene.receive(store, 2, outside, 0, 3);
  scene.receive(store, 3, query, 0, 7);
  scene.send(store, 5, result, 0, 9);
  scene.receive(front, 4, result, 0, 4);
  scene.receive(front, 5, result, 4, 5);
  scene.send(front, 6, answer, 0, 1);
  scene.receive(client, 3, answer, 0, 1);
  scene.send(client, 4, ask, 5, 2);
  return std::move(scene).graph();
}

Cut cut_at(uint32_t client, uint32_t front, uint32_t store) {
  return {leaving(client), leaving(front), leaving(store)};
}

template <typename T>
std::string error_of(const Result<T>& result) {
  return result ? "no error" : result.error().message;
}

TEST(Follow, GoesToTheReceiverAndMovesTheOthersNoFurtherThanThatNeeds) {
  causal::Graph graph = three();
  auto way = follow(graph, cut_at(2, 0, 1), 0);
  ASSERT_TRUE(way) << way.error().message;
  EXPECT_EQ(way->focus, (Node{1, leaving(2)}));
  EXPECT_EQ(way->cut, cut_at(2, 2, 1));
  EXPECT_FALSE(way->back);
  EXPECT_EQ(describe(graph, way->message), "p1:2 → p2:2, 5 bytes, channel 10");
  // On the way into the send too: what is sent is in the cut then.
  way = follow(graph, {leaving(2) - 1, 0, 0}, 0);
  ASSERT_TRUE(way) << way.error().message;
  EXPECT_EQ(way->cut, cut_at(2, 2, 0));
  // The first of two parts.
  way = follow(graph, cut_at(2, 3, 5), 2);
  EXPECT_EQ(way->cut, cut_at(2, 4, 5));
  EXPECT_EQ(way->parts, 2u);
}

TEST(Follow, GoesBackIfTheReceiverIsBeyond) {
  causal::Graph graph = three();
  auto way = follow(graph, cut_at(2, 6, 6), 0);
  ASSERT_TRUE(way);
  EXPECT_TRUE(way->back);
  EXPECT_EQ(way->cut, cut_at(2, 2, 0));
}

TEST(Follow, SaysWhyItCannot) {
  causal::Graph graph = three();
  auto error = [&](Cut cut, uint32_t thread) { return error_of(follow(graph, cut, thread)); };
  EXPECT_EQ(error(cut_at(2, 2, 0), 1),
            "p2:2 is no send; its next send is p2:3: `run to p2:3`, then `follow`");
  EXPECT_EQ(error(cut_at(5, 6, 6), 2), "p3:6 is no send, and p3 sends nothing after it");
  EXPECT_EQ(error(cut_at(0, 0, 0), 0),
            "p1 has done nothing yet; its next send is p1:2: `run to p1:2`, then `follow`");
  EXPECT_EQ(error(cut_at(4, 6, 5), 0),
            "what p1:4 sent, 2 bytes on channel 10, was received by nobody in the recording");
}

TEST(Cause, GoesBackToWhatTheSenderReceivedLast) {
  causal::Graph graph = three();
  auto way = cause(graph, cut_at(4, 6, 5), 0);
  ASSERT_TRUE(way) << way.error().message;
  EXPECT_EQ(describe(graph, way->message), "p2:6 → p1:3, 1 byte, channel 11");
  EXPECT_EQ(way->focus, (Node{1, leaving(5)}));
  EXPECT_EQ(way->cut, cut_at(2, 5, 5));
  // Again, from there: the store after it had received the query.
  way = cause(graph, way->cut, way->focus.thread);
  ASSERT_TRUE(way) << way.error().message;
  EXPECT_EQ(describe(graph, way->message), "p3:5 → p2:5, 5 bytes, channel 21");
  EXPECT_EQ(way->focus, (Node{2, leaving(3)}));
  EXPECT_EQ(way->cut, cut_at(2, 3, 3));
  // The front, and at last who began, which had received nothing.
  way = cause(graph, way->cut, 2);
  EXPECT_EQ(way->cut, cut_at(2, 2, 0));
  way = cause(graph, way->cut, 1);
  ASSERT_TRUE(way) << way.error().message;
  EXPECT_EQ(way->received, kNone);
  EXPECT_EQ(way->cut, cut_at(1, 0, 0));
}

TEST(Cause, CountsMessagesAndNotTheirParts) {
  causal::Graph graph = three();
  auto way = cause(graph, cut_at(2, 5, 5), 1, {.last = 2});
  ASSERT_TRUE(way) << way.error().message;
  EXPECT_EQ(describe(graph, way->message), "p1:2 → p2:2, 5 bytes, channel 10");
  way = cause(graph, cut_at(2, 5, 5), 1, {.channels = {10}});
  ASSERT_TRUE(way) << way.error().message;
  EXPECT_EQ(way->cut, cut_at(1, 0, 0));
}

TEST(Cause, SaysWhyItCannot) {
  causal::Graph graph = three();
  auto error = [&](Cut cut, uint32_t thread, CauseOptions options = {}) {
    return error_of(cause(graph, cut, thread, options));
  };
  EXPECT_EQ(error(cut_at(2, 0, 0), 0), "p1 has received nothing by p1:2");
  EXPECT_EQ(error(cut_at(2, 0, 0), 1), "p2 has received nothing, for it has not begun");
  EXPECT_EQ(error(cut_at(2, 5, 5), 1, {.last = 3}),
            "p2 has received only 2 messages by p2:5; the first of them is `cause 2`");
  EXPECT_EQ(error(cut_at(2, 5, 5), 1, {.channels = {20}}), "p2 has received nothing on channel 20 by p2:5");
  EXPECT_EQ(error(cut_at(0, 0, 2), 2),
            "what p3:2 received on channel 30 came from outside: nobody in the recording sent it, nor "
            "anything before it");
  EXPECT_EQ(error(cut_at(2, 3, 3), 2, {.last = 2}),
            "what p3:2 received on channel 30 came from outside: nobody in the recording sent it, nor "
            "anything before it");
  EXPECT_EQ(error(cut_at(2, 3, 3), 2, {.last = 0}).substr(0, 9), "`cause 0`");
}

TEST(Cause, OfAProcessTakesAllItsThreads) {
  // p2's first thread receives, and its second one answers.
  Scene scene;
  uint32_t client = scene.thread(1, 1, 3), first = scene.thread(2, 1, 3),
           second = scene.thread(2, 2, 3, {first, leaving(2)});
  uint32_t ask = scene.channel(10), answer = scene.channel(11);
  scene.send(client, 2, ask, 0, 5);
  scene.receive(first, 3, ask, 0, 5);
  scene.hand_over({first, leaving(3)}, {second, leaving(2) - 1});
  scene.send(second, 3, answer, 0, 5);
  scene.receive(client, 3, answer, 0, 5);
  causal::Graph graph = std::move(scene).graph();
  Cut end{leaving(3), leaving(3), leaving(3)};
  auto way = cause(graph, end, client);
  ASSERT_TRUE(way);
  EXPECT_EQ(way->focus, (Node{second, leaving(1)}));
  way = cause(graph, end, client, {.whole_process = true});
  ASSERT_TRUE(way);
  EXPECT_EQ(way->focus, (Node{first, leaving(3)}));
  EXPECT_EQ(way->cut, (Cut{leaving(2), leaving(3), 0}));
  way = cause(graph, end, second, {.whole_process = true});
  ASSERT_TRUE(way);
  EXPECT_EQ(way->focus, (Node{client, leaving(1)}));
  EXPECT_FALSE(cause(graph, end, second));
}

TEST(Flow, FindsTheMessagesOfOneProcessToAnother) {
  Scene scene;
  uint32_t a = scene.thread(1, 1, 6), b = scene.thread(2, 1, 6);
  uint32_t one = scene.channel(10), two = scene.channel(12, true), back = scene.channel(11);
  // Sent as 1, 2, 3; received as 2, 1, 3.
  scene.send(a, 2, one, 0, 4);
  scene.send(a, 3, two, 1, 0);
  scene.send(a, 4, one, 4, 4);
  scene.receive(b, 2, two, 1, 0);
  scene.receive(b, 3, one, 0, 4);
  scene.receive(b, 4, one, 4, 4);
  scene.send(b, 5, back, 0, 1);
  causal::Graph graph = std::move(scene).graph();
  ProcessId p1(1), p2(2);
  EXPECT_EQ(find_flow(graph, {p1, p2, 2, false})->focus, (Node{a, leaving(3)}));
  EXPECT_EQ(find_flow(graph, {p1, p2, 2, false})->cut, (Cut{leaving(3), 0}));
  EXPECT_EQ(find_flow(graph, {p1, p2, 1, true})->cut, (Cut{leaving(3), leaving(2)}));
  EXPECT_EQ(find_flow(graph, {p1, p2, 2, true})->message.send, 0u);
  EXPECT_EQ(error_of(find_flow(graph, {p1, p2, 4, true})),
            "p2 received 3 messages of p1, so there is no number 4");
  EXPECT_EQ(error_of(find_flow(graph, {p2, p1, 1, true})).substr(0, 31), "p2 sent nothing that p1 receive");
}

TEST(Transit, SaysWhoReceivesItLater) {
  causal::Graph graph = three();
  std::vector<std::string> texts;
  for (const Underway& each : messages_in_transit(graph, cut_at(4, 4, 5)))
    texts.push_back(describe(graph, each));
  EXPECT_EQ(texts, (std::vector<std::string>{"2 bytes of p1:4, channel 10, never received",
                                             "5 bytes of p3:5, channel 21, received later by p2:5"}));
}

TEST(DemandPoints, AreParsed) {
  EXPECT_EQ(*parse_demand_point(" p3:1041 "), DemandPoint(EventId(ThreadId(ProcessId(3), 1), 1041)));
  EXPECT_EQ(*parse_demand_point("obj 4#17"), DemandPoint(ObjectAccess{4, 17}));
  EXPECT_EQ(*parse_demand_point("send 3 of p1->p2"), DemandPoint(Flow{ProcessId(1), ProcessId(2), 3, false}));
  EXPECT_EQ(*parse_demand_point("recv 3 of p1 -> p2"),
            DemandPoint(Flow{ProcessId(1), ProcessId(2), 3, true}));
  for (const char* text :
       {"", "obj", "obj 4", "obj 0#1", "obj 4#x", "obj 4#1x", "send", "send 3", "send 3 of p1",
        "recv 0 of p1->p2", "recv 1 of p1->x", "recv x of p1->p2", "nowhere"})
    EXPECT_FALSE(parse_demand_point(text)) << text;
}

TEST(Access, IsBeforeOrAtAStep) {
  // Event 2 is left with step 4; points 11 and 12 behind it are steps 5 and 6, point 13 is none; then the way
  // into event 3, which another thread has handed the turn over for.
  Scene scene;
  uint32_t a = scene.thread(1, 1, 4), b = scene.thread(2, 1, 2);
  scene.point({a, 5}, 11);
  scene.point({a, 6}, 12);
  scene.hand_over({b, leaving(2)}, {a, 6});
  causal::Graph graph = std::move(scene).graph();
  std::vector<AccessPlace> history{{ThreadId(ProcessId(1), 1), 2, leaving(2), 12},
                                   {ThreadId(ProcessId(1), 1), 2, leaving(2), 13},
                                   {ThreadId(ProcessId(1), 1), 1}};
  auto exact = find_access(graph, history, {4, 0});
  ASSERT_TRUE(exact);
  EXPECT_EQ(exact->cut, (Cut{6, leaving(2)}));
  EXPECT_EQ(exact->after, exact->before);
  auto between = find_access(graph, history, {4, 1});
  EXPECT_EQ(between->before, (Node{a, 6}));
  EXPECT_EQ(between->after, (Node{a, 7}));
  EXPECT_EQ(between->point, 13u);
  auto serial = find_access(graph, history, {4, 2});
  EXPECT_EQ(serial->before, (Node{a, 2}));
  EXPECT_EQ(serial->after, (Node{a, 3}));
  EXPECT_EQ(error_of(find_access(graph, history, {4, 3})),
            "obj 4 has no access 3: the last is 4#2; `show obj 4` shows them");
  EXPECT_TRUE(is_done(graph, {6, 4}, history[0]));
  EXPECT_FALSE(is_done(graph, {5, 4}, history[0]));
  EXPECT_FALSE(is_done(graph, {6, 4}, history[1]));
  EXPECT_TRUE(is_done(graph, {7, 4}, history[1]));
  EXPECT_TRUE(is_done(graph, {3, 0}, history[2]));
  EXPECT_FALSE(is_done(graph, {2, 0}, history[2]));
}

/// What graph::Messages says of all, each send and receive says of itself.
TEST(MessageParts, AreThoseOfAllMessages) {
  for (unsigned seed = 1; seed <= 500; ++seed) {
    std::mt19937 random(seed);
    auto execution = causal_testing::random_execution(random, {4, 60, seed % 2 == 0});
    causal::Graph graph = std::move(causal::build(std::move(execution.input)).value());
    std::vector<graph::Message> all;
    graph::Messages messages(graph);
    while (auto message = messages.next()) all.push_back(*message);
    auto with = [&](auto has) {
      std::vector<graph::Message> some;
      for (const graph::Message& each : all)
        if (has(each)) some.push_back(each);
      return some;
    };
    for (uint32_t i = 0; i < graph.sends.size(); ++i)
      ASSERT_EQ(parts_of_send(graph, i),
                with([&](const graph::Message& m) { return m.send == i && m.receive != kNone; }))
          << seed;
    for (uint32_t i = 0; i < graph.receives.size(); ++i)
      ASSERT_EQ(parts_of_receive(graph, i), with([&](const graph::Message& m) { return m.receive == i; }))
          << seed;
  }
}

}  // namespace
}  // namespace pastcone::debug
