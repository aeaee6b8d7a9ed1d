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
  execution.input.watches = {{2, 9, uint64_t{1} << 62 | 5}, {2, 9, 0}};
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
    ASSERT_EQ(opened->watches[0].what, graph.watches[0].what);
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

/// Enough for several blocks of everything: threads send to those next to them, and take turns.
Graph long_graph() {
  constexpr uint32_t kThreads = 7, kRounds = 4000;
  Execution execution;
  for (uint32_t i = 0; i < kThreads; ++i)
    execution.threads.push_back({ThreadId(ProcessId(1), i + 1), 2 * kRounds, {}, false, true});
  for (uint32_t i = 0; i < kThreads * 3; ++i) execution.channels.push_back({i * 2, false, true});
  std::mt19937 random(11);
  std::vector<uint64_t> end(kThreads * 3), taken(kThreads * 3);
  for (uint32_t round = 0; round < kRounds; ++round) {
    for (uint32_t thread = 0; thread < kThreads; ++thread) {
      uint32_t channel = (thread + 1 + static_cast<uint32_t>(random() % 3)) % kThreads * 3 + thread % 3;
      auto length = static_cast<uint32_t>(1 + random() % 300);
      execution.sends.push_back({end[channel], length, channel, {thread, 2 * round + 1}});
      end[channel] += length;
      Node before{(thread + 1) % kThreads, 2 * round};
      if (random() % 4 == 0)
        execution.edges.push_back({before, {thread, 2 * round + 1}, EdgeKind::kHandOver, 1});
    }
    for (uint32_t channel = 0; channel < kThreads * 3; ++channel) {
      if (taken[channel] == end[channel] || random() % 3 == 0) continue;
      auto length = static_cast<uint32_t>(end[channel] - taken[channel]);
      execution.receives.push_back({taken[channel], length, channel, {channel / 3, 2 * round + 2}});
      taken[channel] = end[channel];
    }
  }
  auto graph = build(std::move(execution));
  EXPECT_TRUE(graph) << graph.error().message;
  return std::move(*graph);
}

template <typename T>
bool same(const Column<T>& a, const Column<T>& b) {
  return a.size() == b.size() && std::memcmp(a.view().data(), b.view().data(), a.size() * sizeof(T)) == 0;
}

TEST(Flat, OfManyBlocksIsTheSameGraph) {
  Graph graph = long_graph();
  Bytes bytes = flat_bytes(graph, {});
  auto opened = open_flat(bytes, {});
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_TRUE(same(opened->groups, graph.groups));
  EXPECT_TRUE(same(opened->edges, graph.edges));
  EXPECT_TRUE(same(opened->kinds, graph.kinds));
  EXPECT_TRUE(same(opened->causal.vectors, graph.causal.vectors));
  EXPECT_TRUE(same(opened->enforced.vectors, graph.enforced.vectors));
  EXPECT_TRUE(same(opened->sends, graph.sends));
  EXPECT_TRUE(same(opened->receives, graph.receives));
  EXPECT_TRUE(same(opened->send_lanes.items, graph.send_lanes.items));
  EXPECT_TRUE(same(opened->receive_lanes.items, graph.receive_lanes.items));
  EXPECT_TRUE(same(opened->sources().items, graph.sources().items));
  EXPECT_TRUE(std::ranges::equal(opened->order(), graph.order()));
  EXPECT_EQ(flat_bytes(*opened, {}), bytes);
}

/// The blocks in which the answers are are unpacked in whatever order they are asked for.
TEST(Flat, OfManyBlocksAnswersAsTheOneThatWasBuilt) {
  Graph graph = long_graph();
  Bytes bytes = flat_bytes(graph, {});
  std::mt19937 random(12);
  for (int i = 0; i < 60; ++i) {
    auto opened = open_flat(bytes, {});
    ASSERT_TRUE(opened) << opened.error().message;
    auto any = [&] {
      auto thread = static_cast<uint32_t>(random() % graph.real_threads);
      return Node{thread, static_cast<uint32_t>(1 + random() % graph.threads[thread].events)};
    };
    Node a = any(), b = any();
    for (Order order : {Order::kCausal, Order::kEnforced}) {
      switch (i % 4) {
        case 0: {
          Cut cut = past_cone(graph, a, order);
          ASSERT_EQ(past_cone(*opened, a, order), cut);
          auto pieces = in_transit(graph, cut), others = in_transit(*opened, cut);
          ASSERT_EQ(others.size(), pieces.size());
          for (size_t k = 0; k < pieces.size(); ++k) ASSERT_EQ(others[k].begin, pieces[k].begin);
          break;
        }
        case 1:
          ASSERT_EQ(future_cone(*opened, std::span(&a, 1), order),
                    future_cone(graph, std::span(&a, 1), order));
          break;
        case 2:
          ASSERT_EQ(witness_path(*opened, a, b, order), witness_path(graph, a, b, order));
          break;
        default: {
          auto chain = longest_chain(*opened, a, b, order), other = longest_chain(graph, a, b, order);
          ASSERT_EQ(chain.has_value(), other.has_value());
          if (!chain) break;
          ASSERT_EQ(chain->arrows(*opened), other->arrows(graph));
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
  EXPECT_EQ(refusal(bytes, "key"), fmt::format("the graph has version {}, not {}", kFlatVersion + 1, kFlatVersion));
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

/// One of the numbers is another one, before all is packed: so it comes through where bytes would not.
template <typename T>
void change_one(Column<T>& column, std::mt19937& random) {
  std::vector<T> values(column.begin(), column.end());
  if (values.empty()) return;
  auto* at = reinterpret_cast<std::byte*>(&values[random() % values.size()]);
  at += random() % (sizeof(T) / sizeof(uint32_t)) * sizeof(uint32_t);
  uint32_t value = 0;
  std::memcpy(&value, at, sizeof value);
  uint32_t others[] = {0, kNone, value + 1, value - 1, value / 2, 2 * value, static_cast<uint32_t>(random())};
  std::memcpy(at, &others[random() % std::size(others)], sizeof value);
  column = std::move(values);
}

/// The same, with numbers that are what they were packed as.
TEST(Flat, WrongNumbersThatWerePackedDoNoHarm) {
  std::mt19937 random(9);
  int opened = 0;
  for (int round = 0; round < 1000; ++round) {
    Graph graph = random_graph(random);
    for (uint64_t left = 1 + random() % 3; left > 0; --left) {
      switch (random() % 4) {  // what the writer does not go by
        case 0:
          change_one(graph.causal.vectors, random);
          break;
        case 1:
          change_one(random() % 2 == 0 ? graph.send_lanes.items : graph.receive_lanes.items, random);
          break;
        default:
          change_one(graph.groups, random);
      }
    }
    Bytes bytes = flat_bytes(graph, {});
    auto back = open_flat(bytes, {});
    opened += back ? 1 : 0;
    if (back) ask_everything(*back);
  }
  EXPECT_GT(opened, 500);
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
      uint64_t checksum = XXH3_64bits(&bytes[kChecked], bytes.size() - kChecked);
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
