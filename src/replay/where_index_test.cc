#include "pastcone/replay/where_index.h"

#include <gtest/gtest.h>

#include "pastcone/stage/where.h"

namespace pastcone::replay {
namespace {

const ThreadId kFirst(ProcessId(1), 1), kSecond(ProcessId(2), 3);

uint64_t place(uint32_t file, uint64_t offset) { return uint64_t{file} << stage::kPlaceFileAt | offset; }
uint64_t chain_word(uint64_t number, uint64_t count) {
  return stage::kWhereChain | number << stage::kWhereNumberAt | count;
}
uint64_t event_word(uint64_t chain, uint64_t event) {
  return stage::kWhereEvent | chain << stage::kWhereChainAt | event;
}

void add(WhereIndex& index, ThreadId thread, const std::vector<uint64_t>& words) {
  ByteView bytes(reinterpret_cast<const uint8_t*>(words.data()), words.size() * sizeof(uint64_t));
  index.add(thread, bytes, [](uint64_t at) { return at == place(1, 0x9000) ? place(1, 0x100) : at; });
}

WhereIndex example() {
  WhereIndex index;
  add(index, kFirst,
      {chain_word(1, 2), place(1, 0x9000), place(2, 0x20), event_word(1, 2), event_word(1, 3),
       chain_word(2, 1), place(3, 7), event_word(2, 7), 0, event_word(1, 8)});
  add(index, kSecond, {chain_word(1, 2), place(1, 0x100), place(2, 0x20), event_word(1, 2)});
  return index;
}

TEST(WhereIndex, FindsTheChainOfAnEvent) {
  WhereIndex index = example();
  ASSERT_EQ(index.chains().size(), 2u);  // the threads' are the same, once trampolines are left
  EXPECT_EQ(index.chains()[0], (CallChain{place(1, 0x100), place(2, 0x20)}));
  EXPECT_EQ(index.find(EventId(kFirst, 3)), 0u);
  EXPECT_EQ(index.find(EventId(kFirst, 7)), 1u);
  EXPECT_EQ(index.find(EventId(kSecond, 2)), 0u);
  EXPECT_FALSE(index.find(EventId(kFirst, 4)));
  EXPECT_FALSE(index.find(EventId(kFirst, 8)));  // behind the end
  EXPECT_FALSE(index.find(EventId(ThreadId(ProcessId(9), 1), 2)));
}

TEST(WhereIndex, TheLastWordAboutAnEventCounts) {
  WhereIndex index;
  add(index, kFirst,
      {chain_word(1, 1), place(1, 1), event_word(1, 5), event_word(1, 6), chain_word(2, 1), place(1, 2),
       event_word(2, 6), event_word(2, 7)});
  EXPECT_EQ(index.find(EventId(kFirst, 5)), 0u);
  EXPECT_EQ(index.find(EventId(kFirst, 6)), 1u);
}

TEST(WhereIndex, ANewImageNumbersItsChainsAnew) {
  WhereIndex index;
  add(index, kFirst,
      {chain_word(1, 1), place(1, 1), event_word(1, 5), chain_word(1, 1), place(4, 2), event_word(1, 6)});
  EXPECT_EQ(index.chains()[*index.find(EventId(kFirst, 5))], CallChain{place(1, 1)});
  EXPECT_EQ(index.chains()[*index.find(EventId(kFirst, 6))], CallChain{place(4, 2)});
}

TEST(WhereIndex, PlacesOfTheRuntimeAreLeftOut) {
  WhereIndex index;
  add(index, kFirst,
      {chain_word(1, 3), place(1, 1), place(stage::kRuntimeFile, 0x1234), place(2, 2), event_word(1, 5)});
  EXPECT_EQ(index.chains()[0], (CallChain{place(1, 1), place(2, 2)}));
}

TEST(WhereIndex, AChainThatIsCutOffEndsIt) {
  WhereIndex index;
  add(index, kFirst, {chain_word(1, 1), place(1, 1), event_word(1, 2), chain_word(2, 3), place(1, 1)});
  EXPECT_EQ(index.find(EventId(kFirst, 2)), 0u);
  EXPECT_EQ(index.chains().size(), 1u);
}

TEST(WhereIndex, ComesBackFromBytes) {
  WhereIndex index = example();
  auto back = WhereIndex::unpack(index.pack("one"), "one");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->chains(), index.chains());
  for (ThreadId thread : {kFirst, kSecond, ThreadId(ProcessId(9), 9)}) {
    for (uint64_t event = 0; event < 20; ++event)
      EXPECT_EQ(back->find({thread, event}), index.find({thread, event})) << event;
  }
  EXPECT_FALSE(WhereIndex::unpack(index.pack("one"), "another"));
}

TEST(WhereIndex, OfManyEventsEachIsFoundInWhateverOrder) {
  constexpr uint64_t kEvents = 20'000;
  std::vector<uint64_t> words{chain_word(1, 1), place(1, 1), chain_word(2, 1), place(1, 2)};
  for (uint64_t event = 2; event < kEvents; event += event % 3 == 0 ? 5 : 1)
    words.push_back(event_word(1 + event % 7 % 2, event));
  WhereIndex index;
  add(index, kFirst, words);
  auto back = WhereIndex::unpack(index.pack("one"), "one");
  ASSERT_TRUE(back) << back.error().message;
  for (uint64_t i = 0; i < kEvents; ++i) {
    EventId event(kFirst, i * 7919 % kEvents);
    ASSERT_EQ(back->find(event), index.find(event)) << event.index();
  }
}

TEST(WhereIndex, DamagedBytesAreRefused) {
  Bytes bytes = example().pack("one");
  for (size_t i = 0; i < bytes.size(); ++i) {
    Bytes damaged = bytes;
    damaged[i] ^= 0x55;
    EXPECT_FALSE(WhereIndex::unpack(damaged, "one")) << i;
    EXPECT_FALSE(WhereIndex::unpack(ByteView(bytes).first(i), "one")) << i;
  }
}

}  // namespace
}  // namespace pastcone::replay
