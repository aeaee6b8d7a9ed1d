#include "pastcone/symbols/code_file.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "pastcone/patch/elf_image.h"
#include "pastcone/patch/patch.h"

namespace pastcone::symbols {
namespace {

using stage::UnwindRow;
using stage::UnwindRule;

/// A function of the test's library: where it lies in the file.
struct Function {
  uint64_t begin = 0, end = 0;
};

Function find(const Path& path, std::string_view name) {
  MappedFile file = MappedFile::open(path).value();
  auto image = patch::ElfImage::parse(file.bytes()).value();
  for (const patch::Symbol& symbol : image.symbols()) {
    const patch::Segment* segment = image.executable_segment(symbol.address);
    if (symbol.name != name || segment == nullptr) continue;
    uint64_t begin = symbol.address - segment->vaddr + segment->offset;
    return {begin, begin + symbol.size};
  }
  ADD_FAILURE() << "no function " << name;
  return {};
}

UnwindRow row_at(const std::vector<UnwindRow>& rows, uint64_t offset) {
  auto next = std::ranges::upper_bound(rows, offset, {}, &UnwindRow::begin);
  return next == rows.begin() ? UnwindRow{} : *(next - 1);
}

bool has_rule(const std::vector<UnwindRow>& rows, Function function, UnwindRule rule) {
  for (uint64_t at = function.begin; at < function.end; ++at) {
    if (row_at(rows, at).rule == rule) return true;
  }
  return false;
}

CodeFile open_subject() { return CodeFile::open(CODE_SUBJECT, CODE_SUBJECT).value(); }

TEST(CodeFile, RowsSayHowCallersAreFound) {
  auto rows = open_subject().unwind_rows(nullptr);
  EXPECT_TRUE(std::ranges::is_sorted(rows, {}, &UnwindRow::begin));

  Function plain = find(CODE_SUBJECT, "has_plain_frame");
  UnwindRow first = row_at(rows, plain.begin);
  EXPECT_TRUE(first.rule == UnwindRule::kStackPointer && first.frame == 8 && first.saved_rbp == 0);
  EXPECT_TRUE((first.flags & stage::kRowSource) != 0);
  UnwindRow inside = row_at(rows, plain.begin + (plain.end - plain.begin) / 2);
  EXPECT_TRUE(inside.rule == UnwindRule::kStackPointer && inside.frame > 1024) << inside.frame;

  Function pointer = find(CODE_SUBJECT, "has_frame_pointer");
  EXPECT_TRUE(has_rule(rows, pointer, UnwindRule::kFramePointer));
  for (uint64_t at = pointer.begin; at < pointer.end; ++at) {
    UnwindRow row = row_at(rows, at);
    EXPECT_TRUE(row.rule != UnwindRule::kFramePointer || (row.frame == 16 && row.saved_rbp == -16));
  }
  Function aligned = find(CODE_SUBJECT, "aligns_stack");
  EXPECT_TRUE(has_rule(rows, aligned, UnwindRule::kBehindPointer));
}

TEST(CodeFile, InlinedFunctionsComeFirst) {
  CodeFile file = open_subject();
  EXPECT_TRUE(file.has_source());
  Function function = find(CODE_SUBJECT, "calls_inlined");
  bool found = false;
  for (uint64_t at = function.begin; at < function.end && !found; ++at) {
    auto locations = file.locate(at);
    ASSERT_FALSE(locations.empty());
    EXPECT_EQ(locations.back().function, "calls_inlined");
    if (locations.size() != 2) continue;
    found = true;
    EXPECT_EQ(place_text(locations[0]), "code_subject.c:8 in inlined");
    EXPECT_EQ(place_text(locations[1]), "code_subject.c:12 in calls_inlined");
  }
  EXPECT_TRUE(found);
  EXPECT_TRUE(file.locate(1).empty());  // no code
}

TEST(CodeFile, WithoutDebugInformationThereAreSymbolsOrOffsets) {
  CodeFile bare = CodeFile::open(CODE_SUBJECT_BARE, CODE_SUBJECT_BARE).value();
  EXPECT_FALSE(bare.has_source());
  Function function = find(CODE_SUBJECT_BARE, "has_plain_frame");
  auto locations = bare.locate(function.begin + 4);
  ASSERT_EQ(locations.size(), 1u);
  EXPECT_TRUE(place_text(locations[0]).starts_with("has_plain_frame+0x4 in ")) << place_text(locations[0]);
  EXPECT_EQ(row_at(bare.unwind_rows(nullptr), function.begin).flags & stage::kRowSource, 0);
}

/// clang writes no .debug_aranges, and so finds nothing who relies on them.
TEST(CodeFile, UnitsAreFoundWithoutTheirIndex) {
  CodeFile file = CodeFile::open(CODE_SUBJECT_UNINDEXED, CODE_SUBJECT_UNINDEXED).value();
  Function function = find(CODE_SUBJECT_UNINDEXED, "calls_inlined");
  auto locations = file.locate(function.begin);
  ASSERT_FALSE(locations.empty());
  EXPECT_TRUE(place_text(locations.back()).starts_with("code_subject.c:")) << place_text(locations.back());
}

/// Whoever returns to a signal handler's restorer has not called it.
TEST(CodeFile, SignalFramesAreKnown) {
  Path libc = "/lib/x86_64-linux-gnu/libc.so.6";
  auto rows = CodeFile::open(libc, libc).value().unwind_rows(nullptr);
  auto restorer = std::ranges::find(rows, UnwindRule::kSignal, &UnwindRow::rule);
  ASSERT_NE(restorer, rows.end());
  std::string bytes = read_file(libc).value();
  EXPECT_EQ(bytes.substr(restorer->begin + 1, 3), "\x48\xc7\xc0");  // mov $15, %rax: it begins a byte later
}

TEST(CodeFile, TrampolinesAreAsTheCodeTheyStandFor) {
  Path libc = "/lib/x86_64-linux-gnu/libc.so.6", copy = Path(testing::TempDir()) / "patched_for_rows";
  ASSERT_TRUE(patch::patch_file(libc, copy));
  Origins origins = Origins::read(copy).value();
  auto rows = CodeFile::open(libc, libc).value().unwind_rows(&origins);
  auto pieces = origins.pieces();
  ASSERT_FALSE(pieces.empty());
  for (const Origins::Piece& piece : pieces) {
    UnwindRow there = row_at(rows, piece.begin), here = row_at(rows, piece.original);
    EXPECT_TRUE(there.rule == here.rule && there.frame == here.frame && there.saved_rbp == here.saved_rbp);
  }
  unlink(copy.c_str());
}

TEST(CodeFile, WhatIsNoCodeIsNothing) {
  EXPECT_FALSE(CodeFile::open("/etc/passwd", "/etc/passwd"));
  EXPECT_FALSE(CodeFile::open("/no/such/file", "/no/such/file"));
  CodeFile libc =
      CodeFile::open("/lib/x86_64-linux-gnu/libc.so.6", "/lib/x86_64-linux-gnu/libc.so.6").value();
  EXPECT_TRUE(libc.in_c_library());
  EXPECT_FALSE(libc.is_static());
}

}  // namespace
}  // namespace pastcone::symbols
