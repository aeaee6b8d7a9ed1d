#include "pastcone/cli/event_notes.h"

#include <gtest/gtest.h>

#include "pastcone/cli/event_text.h"
#include "pastcone/trace/testing/recording_builder.h"

namespace pastcone::cli {
namespace {

using trace_testing::every_item;
using trace_testing::MemoryRecording;
using trace_testing::RecordingBuilder;
using trace_testing::StreamBuilder;

const ThreadId kThread(ProcessId(1), 1);

class InChunksOf : public ::testing::TestWithParam<uint32_t> {};

/// Whatever is left out on the way to them.
TEST_P(InChunksOf, EachEventIsWhatItIsAmongAll) {
  StreamBuilder stream = every_item(kThread, GetParam());
  MemoryRecording memory(RecordingBuilder().packed(stream));
  EventText text(memory.recording->files());
  EventReader reader(*memory.recording, kThread);
  uint64_t count = 0;
  while (const Event* event = *reader.next()) {
    EventId id(kThread, ++count);
    std::string what = text.what(*event, reader);
    auto json = text.json(kThread, *event, reader);
    for (std::vector<EventId> events : {std::vector{id}, std::vector{EventId(kThread, 1), id}}) {
      auto lines = EventNotes::read(*memory.recording, events, NoteForm::kText);
      auto objects = EventNotes::read(*memory.recording, events, NoteForm::kJson);
      ASSERT_TRUE(lines && objects);
      EXPECT_EQ((*lines)[id].what, what);
      EXPECT_EQ((*objects)[id].json, json);
    }
  }
  EXPECT_EQ(count, stream.events());
}

INSTANTIATE_TEST_SUITE_P(EventNotes, InChunksOf, ::testing::Values(format::kChunkRoom, 1000, 80, 31));

/// Reads what it has to, and no more: a damaged chunk far before an event does not matter.
TEST(EventNotes, WhatLiesBetweenIsNotRead) {
  StreamBuilder stream(kThread, 10);
  for (int i = 1; i <= 100; ++i) stream.result(3, i);
  RecordingBuilder builder;
  builder.packed(stream);
  builder.packed_chunks()[5].header.first_event += 1;
  MemoryRecording memory(builder);
  EventId late(kThread, 90), before(kThread, 30);
  auto notes = EventNotes::read(*memory.recording, {late}, NoteForm::kJson);
  ASSERT_TRUE(notes) << notes.error().message;
  EXPECT_EQ((*notes)[late].json["result"], 90);
  EXPECT_EQ((*notes)[before].what, "");
}

}  // namespace
}  // namespace pastcone::cli
