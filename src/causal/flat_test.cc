#include "pastcone/causal/flat.h"

#include <gtest/gtest.h>

#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "pastcone/causal/build.h"
#include "pastcone/causal/cone.h"
#include "pastcone/causal/luck.h"
#include "pastcone/causal/path.h"
#include "pastcone/causal/races.h"
#include "pastcone/causal/send_vectors.h"
#include "pastcone/causal/testing/random_execution.h"
#include "pastcone/causal/transit.h"

namespace pastcone::causal {
namespace {

using causal_testing::random_execution;

constexpr size_t kChecksumAt = 24, kChecked = 32;

Graph random_graph(std::mt19937& random) {
  auto execution = random_execution(random, {5, 50, false});
  execution.input.ports = {{3, 1, 0}};
  execution.input.arrivals = {{0, 0, 0, {0, 1}, {}}, {0, 1, 0, {0, 1}, {0, 9}}};
  execution.input.takings = {{1, {0, 1}, kNone, 1}};
  auto graph = build(std::move(execution.input), {kAllKinds, 2});
  EXPECT_TRUE(graph) << graph.error().message;
  return std::move(*graph);
}

std::string refusal(ByteView bytes, std::string_view key) {
  auto graph = open_flat(bytes, as_bytes(key));
  return graph ? "opened" : graph.error().message;
}

TEST(Flat, IsTheSameGraph) {
  std::mt19937 random(5);
  for (int i = 0; i < 300; ++i) {
    Graph graph = random_graph(random);
    Bytes bytes = flat_bytes(graph, as_bytes("recording 7"));
    auto opened = open_flat(bytes, as_bytes("recording 7"));
    ASSERT_TRUE(opened) << opened.error().message;
    ASSERT_EQ(flat_bytes(*opened, as_bytes("recording 7")), bytes);
    for (uint32_t thread = 0; thread < graph.real_threads; ++thread) {
      for (uint32_t event = 1; event <= graph.threads[thread].events; ++event) {
        for (Order order : {Order::kCausal, Order::kEnforced}) {
          ASSERT_EQ(past_cone(*opened, Node{thread, event}, order),
                    past_cone(graph, Node{thread, event}, order));
        }
      }
    }
  }
}

TEST(Flat, OfSomethingElseOrAnotherVersionIsRefused) {
  std::mt19937 random(6);
  Bytes bytes = flat_bytes(random_graph(random), as_bytes("key"));
  EXPECT_EQ(refusal(bytes, "key"), "opened");
  EXPECT_EQ(refusal(bytes, "keys"), "the graph is of something else");
  EXPECT_EQ(refusal(bytes, ""), "the graph is of something else");
  ++bytes[8];
  EXPECT_EQ(refusal(bytes, "key"), "the graph has version 3, not 2");
  EXPECT_EQ(refusal(as_bytes("PCGRAPH and not much more"), "key"), "the graph is cut short");
  EXPECT_EQ(refusal(Bytes(4096, 'x'), "key"), "this is not a graph");
}

TEST(Flat, NoBitMayBeWrongAndNoByteMissing) {
  std::mt19937 random(7);
  Bytes bytes = flat_bytes(random_graph(random), as_bytes("key"));
  for (size_t i = 0; i < bytes.size(); ++i) {
    auto bit = static_cast<uint8_t>(1u << random() % 8);
    bytes[i] ^= bit;
    ASSERT_NE(refusal(bytes, "key"), "opened") << i;
    bytes[i] ^= bit;
    ASSERT_NE(refusal(ByteView(bytes).first(i), "key"), "opened") << i;
  }
  EXPECT_EQ(refusal(bytes, "key"), "opened");
}

/// Goes wherever the numbers in it lead.
void ask_everything(const Graph& graph) {
  std::vector<Node> all;
  for (uint32_t thread = 0; thread < graph.real_threads; ++thread)
    all.push_back({thread, graph.threads[thread].events});
  for (Node node : all) {
    for (Order order : {Order::kCausal, Order::kEnforced}) {
      past_cone(graph, node, order);
      if (node.event == 0) continue;
      Node half{node.thread, (node.event + 1) / 2};
      Cut cut = past_cone(graph, half, order);
      in_transit(graph, cut);
      orphans(graph, cut);
      future_cone(graph, std::span(&half, 1), order);
      for (Node other : all) {
        happened_before(graph, half, other, order);
        if (other.event != 0) longest_chain(graph, half, other, order);
      }
      send_vector(graph, half, Sends::kEdges);
    }
  }
  Races races = Races::find(graph);
  for (const RacyReceive& receive : races.receives()) races.rivals(receive);
  lucky_orders(graph);
}

/// Under AddressSanitizer this shows what the checks are worth without the checksum.
TEST(Flat, WrongNumbersWithTheRightChecksumDoNoHarm) {
  std::mt19937 random(8);
  int refused = 0, opened = 0;
  for (int round = 0; round < 40; ++round) {
    Bytes good = flat_bytes(random_graph(random), as_bytes("key"));
    for (int i = 0; i < 250; ++i) {
      Bytes bytes = good;
      size_t at = kChecked + random() % ((bytes.size() - kChecked) / 4) * 4;
      uint32_t value = 0;
      std::memcpy(&value, &bytes[at], sizeof value);
      switch (random() % 4) {
        case 0:
          value = static_cast<uint32_t>(random());
          break;
        case 1:
          value = kNone;
          break;
        default:
          value += random() % 2 == 0 ? 1 : -1;
      }
      std::memcpy(&bytes[at], &value, sizeof value);
      uint64_t checksum = XXH64(&bytes[kChecked], bytes.size() - kChecked, 0);
      std::memcpy(&bytes[kChecksumAt], &checksum, sizeof checksum);
      auto graph = open_flat(bytes, as_bytes("key"));
      (graph ? opened : refused)++;
      if (graph) ask_everything(*graph);
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(opened, 500);
}

}  // namespace
}  // namespace pastcone::causal
