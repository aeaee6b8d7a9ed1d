#include "pastcone/trace/stream_reader.h"

#include <gtest/gtest.h>

#include "pastcone/trace/event_reader.h"
#include "pastcone/trace/testing/recording_builder.h"

namespace pastcone {
namespace {

using format::Op;
using format::Shape;
using trace_testing::every_item;
using trace_testing::MemoryRecording;
using trace_testing::RecordingBuilder;
using trace_testing::StreamBuilder;

const ThreadId kThread(ProcessId(1), 1);

/// All items; `payloads`, if wanted, in the same order.
std::vector<Item> read_all(const Recording& recording, std::vector<std::string>* payloads = nullptr) {
  StreamReader reader(recording, kThread);
  std::vector<Item> items;
  while (true) {
    auto item = reader.next();
    EXPECT_TRUE(item) << item.error().message;
    if (!item || !*item) return items;
    items.push_back(**item);
    if (payloads != nullptr) payloads->emplace_back(as_text(*reader.payload(**item)));
  }
}

const Item& find(const std::vector<Item>& items, Op op, size_t nth = 0) {
  for (const Item& item : items) {
    if (item.op == op && nth-- == 0) return item;
  }
  static const Item none;
  ADD_FAILURE() << "no item " << static_cast<int>(op);
  return none;
}

class EveryItem : public ::testing::TestWithParam<uint32_t> {};

TEST_P(EveryItem, IsReadBack) {
  StreamBuilder stream = every_item(kThread, GetParam());
  MemoryRecording memory(RecordingBuilder().packed(stream));
  ASSERT_TRUE(memory.recording) << memory.recording.error().message;
  EXPECT_TRUE(memory.recording->damage().empty());
  std::vector<std::string> payloads;
  std::vector<Item> items = read_all(*memory.recording, &payloads);

  uint64_t events = 0;
  for (const Item& item : items) {
    if (is_event(item.op)) {
      EXPECT_EQ(item.event, ++events);
    }
    if (!is_event(item.op)) {
      EXPECT_EQ(item.event, 0u);
    }
  }
  EXPECT_EQ(events, stream.events());

  const Item& start = items.at(0);
  EXPECT_EQ(start.pid, 4711u);
  EXPECT_EQ(start.time, 1'700'000'000'123'456'789);
  EXPECT_EQ(start.flags, format::kStartProcess | format::kStartRoot);
  EXPECT_FALSE(start.thread.valid());
  EXPECT_EQ(payloads.at(1), "/usr/bin/tool");

  std::vector<Item> calls;
  for (const Item& item : items) {
    if (item.is_call()) calls.push_back(item);
  }
  ASSERT_EQ(calls.size(), 17u);
  for (const Item& call : calls) EXPECT_EQ(call.check, 0xc5);
  EXPECT_EQ(calls[0].call, 3u);
  EXPECT_EQ(calls[1].call, 9999u);
  EXPECT_EQ(calls[1].result, -38);
  EXPECT_EQ(calls[2].shape, Shape::kOut);
  EXPECT_EQ(calls[2].payload_length, 5u);
  EXPECT_EQ(calls[3].payload_length, 0u);
  EXPECT_EQ(calls[4].channel, 12u);
  EXPECT_EQ(calls[4].length, 45u);
  EXPECT_EQ(calls[4].result, 45);
  EXPECT_EQ(calls[7].result, -104);
  EXPECT_EQ(calls[8].file, 3u);
  EXPECT_EQ(calls[8].position, 4096u);
  EXPECT_EQ(calls[9].thread, ThreadId(ProcessId(1), 2));
  EXPECT_EQ(calls[10].result, 4713);
  EXPECT_EQ(calls[11].result, 0x7ffff7a00000);
  EXPECT_EQ(calls[11].file, 3u);
  EXPECT_EQ(calls[11].flags, 1);
  EXPECT_EQ(calls[12].file, 0u);
  EXPECT_EQ(calls[12].flags, 0);
  EXPECT_EQ(calls[13].result, -12);
  EXPECT_EQ(calls[14].shape, Shape::kMessage);
  EXPECT_EQ(calls[14].channel, 13u);
  EXPECT_EQ(calls[14].payload_length, 7u);
  EXPECT_EQ(calls[15].shape, Shape::kOpen);
  EXPECT_EQ(calls[15].channel, 15u);
  EXPECT_EQ(calls[16].channel, 0u);
  EXPECT_EQ(calls[16].result, -24);

  EXPECT_EQ(find(items, Op::kRealtime, 1).time, 1'700'000'000'123'456'794);
  EXPECT_EQ(find(items, Op::kMonotonic).time, 123'456'789'012);
  EXPECT_EQ(find(items, Op::kClock, 1).time, 123'456'789'100);
  EXPECT_EQ(find(items, Op::kClock, 2).clock, 0xfffffffeu);
  EXPECT_EQ(find(items, Op::kTimeOfDay).time, 1'700'000'000'123'456);
  EXPECT_EQ(find(items, Op::kTime).time, 1'700'000'000);
  EXPECT_EQ(find(items, Op::kTsc).value, 3u);
  EXPECT_EQ(find(items, Op::kRandom).value, UINT64_MAX);
  EXPECT_EQ(find(items, Op::kRandom).flags, 1);
  EXPECT_EQ(find(items, Op::kTurn).number, 7u);
  EXPECT_EQ(find(items, Op::kOrder).object, 4u);
  EXPECT_EQ(find(items, Op::kOutput).position, 77u);
  EXPECT_EQ(find(items, Op::kSignal).signal, 15u);
  EXPECT_EQ(find(items, Op::kStop).reason, static_cast<uint32_t>(format::StopReason::kUnsupportedCall));
  EXPECT_EQ(find(items, Op::kFatal).hash, 0x0123456789abcdefu);
  EXPECT_EQ(items.back().result, 2);

  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].op == Op::kFault) {
      EXPECT_EQ(payloads[i], std::string(128, 'f'));
    }
    if (items[i].op == Op::kStop) {
      EXPECT_EQ(payloads[i], "io_uring_setup");
    }
    if (items[i].op == Op::kAsync) {
      EXPECT_EQ(payloads[i].size(), sizeof(format::AsyncPoint));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(InChunksOf, EveryItem, ::testing::Values(format::kChunkRoom, 1000, 80, 31));

TEST(StreamReader, PartsOfPayloads) {
  std::string bytes;
  for (int i = 0; i < 100'000; ++i) bytes += static_cast<char>(i * 7);
  StreamBuilder stream(kThread, 100);
  stream.out(0, 1, "x").out(0, 100'000, bytes).out(0, 1, "y");
  MemoryRecording memory(RecordingBuilder().packed(stream));
  StreamReader reader(*memory.recording, kThread);
  Item first = **reader.next(), second = **reader.next(), third = **reader.next();
  EXPECT_EQ(as_text(*reader.payload(third)), "y");
  EXPECT_EQ(as_text(*reader.payload(second)), bytes);
  EXPECT_EQ(as_text(*reader.payload(first)), "x");
  Bytes part(5000);
  ASSERT_TRUE(reader.copy_payload(second, 3333, part));
  EXPECT_EQ(as_text(part), bytes.substr(3333, 5000));
}

TEST(StreamReader, UnknownThreadIsEmpty) {
  MemoryRecording memory(RecordingBuilder().packed(every_item(kThread)));
  StreamReader reader(*memory.recording, ThreadId(ProcessId(9), 9));
  EXPECT_FALSE(reader.next()->has_value());
}

TEST(StreamReader, LeavesOutWhatLiesBetween) {
  StreamBuilder stream(kThread, 10);
  for (int i = 1; i <= 100; ++i) stream.result(3, i).out(0, i, "x");
  MemoryRecording memory(RecordingBuilder().packed(stream));
  StreamReader reader(*memory.recording, kThread);
  EXPECT_FALSE(reader.skip_to(2));
  EXPECT_EQ((*reader.next())->result, 1);
  EXPECT_TRUE(reader.skip_to(101));
  EXPECT_GT(reader.events(), 90u);
  EXPECT_LT(reader.events(), 100u) << "the event before it is to be read";
  while (reader.events() < 100) ASSERT_TRUE(reader.next()->has_value());
  EXPECT_EQ((*reader.next())->result, 51);
  EXPECT_FALSE(reader.missed());
  Item out = **reader.next();
  EXPECT_EQ(out.event, 102u);
  EXPECT_FALSE(reader.payload(out)) << "where it is depends on all before";
  EXPECT_TRUE(reader.missed());
  EXPECT_FALSE(reader.skip_to(5)) << "it never goes back";
  EXPECT_EQ((*reader.next())->event, 103u);
}

std::string first_error(const RecordingBuilder& builder) {
  MemoryRecording memory(builder);
  EXPECT_TRUE(memory.recording);
  StreamReader reader(*memory.recording, kThread);
  while (true) {
    auto item = reader.next();
    if (!item) {
      EXPECT_EQ(reader.next().error().message, item.error().message) << "an error must stay";
      return item.error().message;
    }
    if (!*item) return "none";
  }
}

TEST(StreamReader, RefusesNonsense) {
  auto after_one = [](std::initializer_list<uint8_t> bytes) {
    StreamBuilder stream(kThread);
    stream.result(3, 0).raw(Bytes(bytes));
    return first_error(RecordingBuilder().packed(stream));
  };
  const std::string kNonsense = "p1 is damaged after event 1: what follows is not an event";
  EXPECT_EQ(after_one({0}), kNonsense);     // kNone
  EXPECT_EQ(after_one({0x1f}), kNonsense);  // no such op
  EXPECT_EQ(after_one({0xff}), kNonsense);  // beyond the frequent calls
  EXPECT_EQ(after_one({0x11, 1, static_cast<uint8_t>(Shape::kCount), 0, 0}), kNonsense);  // no such shape
  EXPECT_EQ(after_one({0x25}), kNonsense);                                                // cut off
  EXPECT_EQ(after_one({0x25, 0x80, 0x80}), kNonsense);  // cut off in a varint
  EXPECT_EQ(after_one({0x08, 255, 255, 255, 255, 255, 255, 255, 255, 255, 2}), kNonsense);  // 65 bits
  EXPECT_EQ(after_one({0x11, 255, 255, 255, 255, 127, 0, 0, 0}), kNonsense);  // a call number beyond 32 bits
  EXPECT_EQ(after_one({0x21, 2, 1, 0}), "p1 is damaged after event 1: the data of the next event is missing");
  EXPECT_EQ(after_one({0x21, 2, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1, 0}),
            "p1 is damaged after event 1: the data of the next event is missing");
}

TEST(StreamReader, NoticesThatEventsAreMissing) {
  StreamBuilder stream(kThread, 10);
  for (int i = 0; i < 20; ++i) stream.result(3, i);
  RecordingBuilder builder;
  builder.packed(stream);
  builder.packed_chunks()[1].header.first_event += 1;
  EXPECT_EQ(first_error(builder), "p1 is damaged after event 3: chunk 1 begins after event 4");
}

TEST(StreamReader, TooManyClocks) {
  StreamBuilder stream(kThread);
  for (uint64_t id = 100; id < 6000; ++id) stream.clock(id, 1);
  EXPECT_EQ(first_error(RecordingBuilder().packed(stream)),
            "p1 is damaged after event 4096: what follows is not an event");
}

TEST(EventReader, PutsTogetherWhatBelongsTogether) {
  MemoryRecording memory(RecordingBuilder().packed(every_item(kThread)));
  EventReader reader(*memory.recording, kThread);
  std::vector<Event> events;
  while (const Event* event = *reader.next()) events.push_back(*event);
  EXPECT_EQ(events.size(), every_item(kThread).events());
  EXPECT_EQ(events[1].marks.size(), 1u);  // exec: its file
  const Event& send = events[6];
  EXPECT_TRUE(send.corrected);
  EXPECT_EQ(send.item.result, -11);
  EXPECT_EQ(send.item.length, 45u);
  EXPECT_EQ(send.mark(Op::kTurn)->number, 7u);
  EXPECT_EQ(send.mark(Op::kOffset)->position, 100u);
  EXPECT_EQ(send.mark(Op::kOutput), nullptr);
  const Event& next = events[7];
  EXPECT_FALSE(next.corrected);
  EXPECT_EQ(next.mark(Op::kOutput)->flags, 1);
  EXPECT_EQ(next.mark(Op::kTurnAfter)->number, 9u);
  EXPECT_TRUE(events[8].marks.empty());
}

TEST(EventReader, GivesWhatIsBeforeTheDamage) {
  StreamBuilder stream(kThread);
  stream.result(3, 1).result(3, 2).raw(Bytes{0});
  MemoryRecording memory(RecordingBuilder().packed(stream));
  EventReader reader(*memory.recording, kThread);
  EXPECT_EQ((*reader.next())->item.result, 1);
  EXPECT_EQ((*reader.next())->item.result, 2);
  EXPECT_FALSE(reader.next());
  EXPECT_FALSE(reader.next());
}

}  // namespace
}  // namespace pastcone
