#include "pastcone/replay/object_index.h"

#include <gtest/gtest.h>

#include <string>

namespace pastcone::replay {
namespace {

using stage::IndexEntry;

ThreadId thread(uint32_t process, uint32_t number = 1) { return {ProcessId(process), number}; }

/// The entries of a run, in the order in which it happened.
class Usage {
 public:
  explicit Usage(bool shared) : shared_(shared) {}

  void access(ThreadId who, uint64_t key, uint64_t number, bool write = true,
              ObjectKind kind = ObjectKind::kMutex) {
    IndexEntry entry = begin(key, kind);
    entry.flags |= write ? stage::kIndexWrite : 0;
    entry.number = number;
    entry.caller = 0x401000 + key;
    entry.event = stamp_ * 3;
    add(who, entry);
  }
  void release(ThreadId who, uint64_t key, uint64_t point) {
    IndexEntry entry = begin(key, ObjectKind::kMutex);
    entry.flags |= stage::kIndexRelease;
    entry.event = stamp_ * 3;
    entry.point = point;
    add(who, entry);
  }
  void name(ThreadId who, uint64_t key, const std::string& name) {
    IndexEntry entry = begin(key, ObjectKind::kNamed);
    entry.flags |= stage::kIndexName;
    name.copy(entry.name, sizeof entry.name);
    add(who, entry);
  }
  std::vector<ObjectHistory> merged() const { return merge_entries(threads_); }

 private:
  IndexEntry begin(uint64_t key, ObjectKind kind) {
    IndexEntry entry{};
    entry.stamp = ++stamp_;
    entry.key = key;
    entry.kind = static_cast<uint32_t>(kind);
    entry.flags = shared_ ? stage::kIndexShared : 0;
    return entry;
  }
  void add(ThreadId who, const IndexEntry& entry) {
    for (ThreadEntries& each : threads_) {
      if (each.thread == who) return each.entries.push_back(entry);
    }
    threads_.push_back({who, {entry}});
  }

  bool shared_;
  uint64_t stamp_ = 0;
  std::vector<ThreadEntries> threads_;
};

std::string text(const ObjectHistory& object) {
  std::string text;
  for (const Access& access : object.accesses) {
    text += to_string(access.thread) + (access.write ? "w " : "r ");
  }
  return text;
}

TEST(ObjectIndex, NothingIsNothing) { EXPECT_TRUE(merge_entries({}).empty()); }

TEST(ObjectIndex, AccessesOfAllThreadsComeInOrder) {
  Usage run(false);
  run.access(thread(1, 2), 0x10, 0);
  run.access(thread(1, 3), 0x10, 1);
  run.access(thread(1, 2), 0x10, 2);
  auto objects = run.merged();
  ASSERT_EQ(objects.size(), 1u);
  EXPECT_EQ(text(objects[0]), "p1.2w p1.3w p1.2w ");
  EXPECT_EQ(objects[0].hand_overs(), 2u);
  EXPECT_EQ(objects[0].threads(), 2u);
}

TEST(ObjectIndex, NumbersDoNotDependOnAddresses) {
  for (uint64_t flip : {0u, 0xffu}) {
    Usage run(false);
    run.access(thread(1, 2), 0x30 ^ flip, 0);
    run.access(thread(1, 1), 0x20 ^ flip, 0);
    run.access(thread(1, 1), 0x10 ^ flip, 0);
    run.access(thread(1, 2), 0x10 ^ flip, 1);
    auto objects = run.merged();
    ASSERT_EQ(objects.size(), 3u);
    EXPECT_EQ(text(objects[0]), "p1w ");
    EXPECT_EQ(text(objects[1]), "p1w p1.2w ");
    EXPECT_EQ(text(objects[2]), "p1.2w ");
  }
}

TEST(ObjectIndex, ReadsBetweenTwoWritesAreListedByThread) {
  std::string first;
  for (bool other_way : {false, true}) {
    Usage run(false);
    run.access(thread(1, 4), 8, 0);
    run.access(thread(1, other_way ? 3 : 2), 8, 1, false);
    run.access(thread(1, other_way ? 2 : 3), 8, 2, false);
    run.access(thread(1, 4), 8, 3);
    run.access(thread(1, 2), 8, 4, false);
    auto objects = run.merged();
    ASSERT_EQ(objects.size(), 1u);
    EXPECT_EQ(text(objects[0]), "p1.4w p1.2r p1.3r p1.4w p1.2r ");
  }
}

TEST(ObjectIndex, WhatIsMadeAgainIsANewObject) {
  Usage run(false);
  run.access(thread(1), 8, 0);
  run.access(thread(1), 8, 1);
  run.access(thread(1), 8, 0);  // initialised again
  run.access(thread(1, 2), 8, 0);
  auto objects = run.merged();
  ASSERT_EQ(objects.size(), 3u);
  EXPECT_EQ(text(objects[0]), "p1w p1w ");
  EXPECT_EQ(text(objects[1]), "p1w ");
  EXPECT_EQ(text(objects[2]), "p1.2w ");
}

TEST(ObjectIndex, AnAddressIsAnObjectForEachProcess) {
  Usage own(false), common(true);
  for (Usage* run : {&own, &common}) {
    run->access(thread(1), 8, 0);
    run->access(thread(2), 8, run == &own ? 0 : 1);
  }
  EXPECT_EQ(own.merged().size(), 2u);
  ASSERT_EQ(common.merged().size(), 1u);
  EXPECT_EQ(text(common.merged()[0]), "p1w p2w ");
  EXPECT_TRUE(common.merged()[0].shared);
}

TEST(ObjectIndex, NamesBelongToTheObjectThatBeginsWithThem) {
  Usage run(false);
  run.name(thread(1), 8, "first");
  run.access(thread(1), 8, 0, true, ObjectKind::kNamed);
  run.access(thread(1), 8, 1, true, ObjectKind::kNamed);
  run.name(thread(1), 8, "a name of thirty-two characters.");
  run.access(thread(1), 8, 0, false, ObjectKind::kNamed);
  auto objects = run.merged();
  ASSERT_EQ(objects.size(), 2u);
  EXPECT_EQ(objects[0].name, "first");
  EXPECT_EQ(objects[1].name, "a name of thirty-two characters.");
  EXPECT_EQ(objects[1].kind, ObjectKind::kNamed);
}

std::vector<ObjectHistory> some_objects() {
  Usage run(true);
  run.name(thread(1), 8, "work");
  for (uint32_t i = 0; i < 300; ++i) {
    run.access(thread(1 + i % 3, 1 + i % 2), 8, i, i % 5 != 0, ObjectKind::kNamed);
  }
  run.access(thread(70000, 9), 0x7fff12345678, 0);
  return run.merged();
}

TEST(ObjectIndex, BytesGiveTheSameObjects) {
  auto objects = some_objects();
  auto again = unpack_objects(pack_objects(objects, "r1"), "r1");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, objects);
  EXPECT_FALSE(unpack_objects(pack_objects(objects, "r1"), "r2"));
}

TEST(ObjectIndex, EveryDamageIsSeen) {
  Bytes bytes = pack_objects(some_objects(), "r1");
  for (size_t i = 0; i < bytes.size(); ++i) {
    Bytes damaged = bytes;
    damaged[i] ^= 0x41;
    EXPECT_FALSE(unpack_objects(damaged, "r1")) << i;
    EXPECT_FALSE(unpack_objects(ByteView(bytes).first(i), "r1")) << i;
  }
}

TEST(ObjectIndex, OneThatWasTakenBeforeThereWereOthersToCountIsKnownByItsEnd) {
  Usage usage(false);
  usage.release(thread(1), 8, 3);
  usage.access(thread(1, 2), 8, 0);
  usage.release(thread(1, 2), 8, 2);
  std::vector<ObjectHistory> objects = usage.merged();
  ASSERT_EQ(objects.size(), 1u);
  EXPECT_EQ(text(objects[0]), "p1w p1.2w ");
  EXPECT_EQ(objects[0].accesses[0].until.number, 3u);
  EXPECT_EQ(objects[0].accesses[1].until.number, 2u);
}

TEST(ObjectIndex, WhoTakesAgainWhatItHasGivenBackNeedsNobody) {
  Usage usage(false);
  usage.release(thread(1), 8, 3);
  usage.access(thread(1), 8, 0);
  ASSERT_EQ(usage.merged().size(), 1u);
  EXPECT_EQ(text(usage.merged()[0]), "p1w ");
}

}  // namespace
}  // namespace pastcone::replay
