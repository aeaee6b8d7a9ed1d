#include "pastcone/gdb/packets.h"

#include <gtest/gtest.h>

#include "pastcone/gdb/hex.h"
#include "pastcone/gdb/signals.h"

namespace pastcone::gdb {
namespace {

using Kind = PacketReader::Kind;

TEST(Frame, HasAChecksumAndEscapes) {
  EXPECT_EQ(frame(""), "$#00");
  EXPECT_EQ(frame("OK"), "$OK#9a");
  EXPECT_EQ(frame("a#$}*b"),
            "$a}\x03}\x04}]}\x0a"
            "b#25");
}

TEST(PacketReader, FindsPacketsInPieces) {
  PacketReader reader;
  EXPECT_FALSE(reader.begun());
  std::string stream = "+$m10,4#2e\x03+$X0,1:}\x03#";
  for (char c : stream.substr(0, 9)) {
    reader.add({&c, 1});
    EXPECT_EQ(reader.next().kind, Kind::kNone);
  }
  EXPECT_TRUE(reader.begun());
  reader.add(stream.substr(9));
  PacketReader::Item item = reader.next();
  ASSERT_EQ(item.kind, Kind::kPacket);
  EXPECT_EQ(item.data, "m10,4");
  EXPECT_EQ(reader.next().kind, Kind::kNone);
  EXPECT_TRUE(reader.begun());
}

TEST(PacketReader, ReadsWhatIsFramed) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  PacketReader reader;
  reader.add(frame(bytes) + "+");
  PacketReader::Item item = reader.next();
  ASSERT_EQ(item.kind, Kind::kPacket);
  EXPECT_EQ(item.data, bytes);
  EXPECT_EQ(reader.next().kind, Kind::kNone);
  EXPECT_FALSE(reader.begun());
}

TEST(PacketReader, TellsOfDamageAndOfResends) {
  PacketReader reader;
  reader.add("$OK#9b-$OK#zz$OK#9a");
  EXPECT_EQ(reader.next().kind, Kind::kDamaged);
  EXPECT_EQ(reader.next().kind, Kind::kResend);
  EXPECT_EQ(reader.next().kind, Kind::kDamaged);
  EXPECT_EQ(reader.next().kind, Kind::kPacket);
}

TEST(PacketReader, DropsWhatIsTooLong) {
  PacketReader reader;
  reader.add("$" + std::string(3 * kPacketSize, 'a'));
  EXPECT_EQ(reader.next().kind, Kind::kDamaged);
  reader.add("aaaa#00$OK#9a");
  EXPECT_EQ(reader.next().kind, Kind::kPacket);
}

TEST(Hex, GoesBothWays) {
  Bytes bytes{0x00, 0x9f, 0xff};
  EXPECT_EQ(to_hex(bytes), "009fff");
  EXPECT_EQ(from_hex("009fFF"), bytes);
  EXPECT_FALSE(from_hex("123"));
  EXPECT_FALSE(from_hex("1g"));
}

TEST(Fields, FailureIsSticky) {
  Fields fields("1f,-1:rest;more");
  EXPECT_EQ(fields.number(), 0x1fu);
  fields.expect(",");
  EXPECT_EQ(fields.thread(), -1);
  fields.expect(":");
  EXPECT_EQ(fields.until(';'), "rest");
  EXPECT_FALSE(fields.failed());
  EXPECT_EQ(fields.number(), 0u);
  EXPECT_TRUE(fields.failed());
  EXPECT_TRUE(Fields("").rest().empty());
  Fields wide("12345678123456781");
  wide.number();
  EXPECT_TRUE(wide.failed());
  Fields thread("80000000");
  thread.thread();
  EXPECT_TRUE(thread.failed());
}

TEST(Signals, GoBothWays) {
  for (int number = 1; number <= 64; ++number) {
    EXPECT_EQ(linux_signal(gdb_signal(number)), number == 16 ? 0 : number);
  }
  EXPECT_EQ(gdb_signal(10), 30);  // SIGUSR1
  EXPECT_EQ(gdb_signal(34), 46);  // SIG34
  EXPECT_EQ(gdb_signal(16), 143);
  EXPECT_EQ(gdb_signal(-1), 143);
  EXPECT_EQ(linux_signal(143), 0);
  EXPECT_EQ(linux_signal(7), 0);  // SIGEMT
}

}  // namespace
}  // namespace pastcone::gdb
