#include "pastcone/replay/index_envelope.h"

#include <gtest/gtest.h>

namespace pastcone::replay {
namespace {

constexpr IndexKind kKind{"PCTEST01", 3, "test"};

std::string opened(const IndexKind& kind, const std::string& recording, ByteView bytes) {
  auto contents = open_envelope(kind, recording, bytes);
  return contents ? "contents: " + std::string(as_text(*contents)) : contents.error().message;
}

TEST(IndexEnvelope, GivesBackWhatIsInIt) {
  Bytes bytes = put_in_envelope(kKind, "r1", as_bytes("words"));
  EXPECT_EQ(opened(kKind, "r1", bytes), "contents: words");
  EXPECT_EQ(opened(kKind, "", put_in_envelope(kKind, "", {})), "contents: ");
}

TEST(IndexEnvelope, OfSomethingElseIsRefused) {
  Bytes bytes = put_in_envelope(kKind, "r1", as_bytes("words"));
  EXPECT_EQ(opened({"PCOTHER1", 3, "list of others"}, "r1", bytes), "it is no list of others");
  EXPECT_EQ(opened({"PCTEST01", 4, "test"}, "r1", bytes), "it is of another version");
  EXPECT_EQ(opened(kKind, "r2", bytes), "it is of another recording");
  EXPECT_EQ(opened(kKind, "", bytes), "it is of another recording");
}

TEST(IndexEnvelope, NoBitMayBeWrongAndNoByteMissing) {
  Bytes bytes = put_in_envelope(kKind, "r1", as_bytes("words"));
  for (size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_FALSE(open_envelope(kKind, "r1", ByteView(bytes).first(i))) << i;
    bytes[i] ^= 0x10;
    EXPECT_FALSE(open_envelope(kKind, "r1", bytes)) << i;
    bytes[i] ^= 0x10;
  }
}

}  // namespace
}  // namespace pastcone::replay
