#include "pastcone/base/bytes.h"

#include <gtest/gtest.h>

#include <limits>

namespace pastcone {
namespace {

constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();

TEST(Bytes, WhatIsWrittenIsRead) {
  ByteWriter out;
  out.u8(0xab);
  out.u16(0x1234);
  out.u32(0xdeadbeef);
  out.u64(kMax - 1);
  out.varint(300);
  out.zigzag(-2);
  out.bytes(as_bytes("abc"));
  Bytes bytes = out.take();
  EXPECT_EQ(out.size(), 0u);

  ByteReader in(bytes);
  EXPECT_EQ(in.u8(), 0xab);
  EXPECT_EQ(in.u16(), 0x1234);
  EXPECT_EQ(in.u32(), 0xdeadbeef);
  EXPECT_EQ(in.u64(), kMax - 1);
  EXPECT_EQ(in.varint(), 300u);
  EXPECT_EQ(in.zigzag(), -2);
  EXPECT_EQ(as_text(in.bytes(3)), "abc");
  EXPECT_TRUE(in.at_end());
}

TEST(Bytes, LittleEndian) {
  const uint8_t raw[] = {1, 2, 3, 4};
  EXPECT_EQ(ByteReader(raw).u32(), 0x04030201u);
}

TEST(Bytes, VarintAndZigzagAtTheEdges) {
  for (uint64_t value : {uint64_t{0}, uint64_t{1}, uint64_t{127}, uint64_t{128}, uint64_t{16383},
                         uint64_t{16384}, uint64_t{1} << 63, kMax}) {
    ByteWriter out;
    out.varint(value);
    out.zigzag(static_cast<int64_t>(value));
    ByteReader in(out.view());
    EXPECT_EQ(in.varint(), value);
    EXPECT_EQ(in.zigzag(), static_cast<int64_t>(value));
    EXPECT_TRUE(in.at_end());
  }
  auto size = [](auto value) {
    ByteWriter out;
    out.zigzag(value);
    return out.size();
  };
  EXPECT_EQ(size(-64), 1u);
  EXPECT_EQ(size(63), 1u);
  EXPECT_EQ(size(64), 2u);
}

TEST(Bytes, MalformedVarintFails) {
  Bytes cut(3, 0x80), endless(11, 0x80), overflow(9, 0xff);
  overflow.push_back(2);
  for (const Bytes& bytes : {cut, endless, overflow, Bytes{}}) {
    ByteReader in(bytes);
    EXPECT_EQ(in.varint(), 0u);
    EXPECT_TRUE(in.failed());
    EXPECT_EQ(in.offset(), 0u);
  }
}

TEST(Bytes, FailureSticks) {
  const uint8_t raw[] = {7, 8, 9};
  ByteReader in(raw);
  EXPECT_EQ(in.u8(), 7);
  EXPECT_EQ(in.u32(), 0u);
  EXPECT_TRUE(in.failed());
  EXPECT_EQ(in.offset(), 1u);
  EXPECT_EQ(in.remaining(), 0u);
  EXPECT_EQ(in.u8(), 0);
  EXPECT_EQ(in.varint(), 0u);
  EXPECT_TRUE(in.bytes(0).empty());
  EXPECT_FALSE(in.at_end());
}

TEST(Bytes, AHugeCountDoesNotWrapAround) {
  const uint8_t raw[] = {7, 8, 9};
  for (uint64_t count : {uint64_t{4}, kMax, kMax - 1}) {
    ByteReader in(raw);
    in.skip(2);
    EXPECT_TRUE(in.bytes(count).empty());
    EXPECT_TRUE(in.failed());
  }
}

TEST(Bytes, NothingIsReadFromNothing) {
  ByteReader in{ByteView()};
  EXPECT_TRUE(in.at_end());
  EXPECT_TRUE(in.bytes(0).empty());
  EXPECT_FALSE(in.failed());
  EXPECT_EQ(in.u8(), 0);
  EXPECT_TRUE(in.failed());
}

TEST(Bytes, TheCallerMayFailIt) {
  const uint8_t raw[] = {7};
  ByteReader in(raw);
  in.set_failed();
  EXPECT_EQ(in.u8(), 0);
}

}  // namespace
}  // namespace pastcone
