#include "pastcone/gdb/requests.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "pastcone/gdb/hex.h"
#include "pastcone/gdb/packets.h"
#include "pastcone/gdb/testing/memory_target.h"

namespace pastcone::gdb {
namespace {

class RequestsTest : public ::testing::Test {
 protected:
  std::string ask(std::string_view packet) { return requests_.answer(packet).value_or("(none)"); }

  testing::MemoryTarget target_;
  Requests requests_{target_};
};

TEST_F(RequestsTest, SaysWhatItKnows) {
  EXPECT_NE(ask("qSupported:multiprocess+;swbreak+").find("PacketSize=20000;"), std::string::npos);
  EXPECT_EQ(ask("vCont?"), "vCont;c;C;s;S;t;r");
  for (const char* packet :
       {"", "vMustReplyEmpty", "!", "qOffsets", "vFile:setfs:0", "bs", "qTStatus", "Z5,0,1", "x0,1"}) {
    EXPECT_EQ(ask(packet), "") << packet;
  }
  EXPECT_EQ(ask("qAttached"), "1");
  EXPECT_FALSE(requests_.without_acknowledgements());
  EXPECT_EQ(ask("QStartNoAckMode"), "OK");
  EXPECT_TRUE(requests_.without_acknowledgements());
}

TEST_F(RequestsTest, NamesThreads) {
  EXPECT_EQ(ask("qC"), "QC10");
  EXPECT_EQ(ask("qfThreadInfo"), "m10,2b");
  EXPECT_EQ(ask("qsThreadInfo"), "l");
  EXPECT_EQ(ask("qThreadExtraInfo,10"), to_hex(as_bytes("p1.1")));
  EXPECT_EQ(ask("qThreadExtraInfo,11"), "E03");
  EXPECT_EQ(ask("T2b"), "OK");
  EXPECT_EQ(ask("T2c"), "E03");
  std::string list = ask("qXfer:threads:read::0,1000");
  EXPECT_NE(list.find("<thread id=\"2b\" name=\"p1.2 &lt;&quot;&amp;&quot;&gt;\"/>"), std::string::npos)
      << list;
}

TEST_F(RequestsTest, RegistersAreOfTheThreadChosen) {
  target_.files[0].general.rax = 1;
  target_.files[1].general.rax = 2;
  EXPECT_EQ(ask("p0"), "0100000000000000");
  EXPECT_EQ(ask("Hg2b"), "OK");
  EXPECT_EQ(ask("Hc-1"), "OK");
  EXPECT_EQ(ask("g").substr(0, 4), "0200");
  EXPECT_EQ(ask("P0=ff00000000000000"), "OK");
  EXPECT_EQ(target_.files[1].general.rax, 0xffu);
  EXPECT_EQ(ask("G" + ask("g")), "OK");
  EXPECT_EQ(ask("P0=ff"), "E01");
  EXPECT_EQ(ask("p3c"), "E01");
  EXPECT_EQ(ask("Gff"), "E01");
  EXPECT_EQ(ask("Hg99"), "E03");
  EXPECT_EQ(ask("Hx0"), "E01");
  EXPECT_EQ(ask("Hg0"), "OK");
  EXPECT_EQ(ask("g").substr(0, 4), "0100");
}

TEST_F(RequestsTest, MemoryIsReadAndWritten) {
  EXPECT_EQ(ask("M1000,3:0a0bff"), "OK");
  EXPECT_EQ(ask("X1003,2:#}"), "OK");
  EXPECT_EQ(ask("X1003,0:"), "OK");
  EXPECT_EQ(ask("m1000,6"), "0a0bff237d00");
  EXPECT_EQ(ask("m1fff,4"), "00");  // what there is
  EXPECT_EQ(ask("m2000,4"), "E0e");
  EXPECT_EQ(ask("m1000,ffffffffffffffff").size(), 2 * 4096u);
  EXPECT_EQ(ask("M1fff,2:0000"), "E0e");
  EXPECT_EQ(ask("M1000,2:00"), "E01");
  EXPECT_EQ(ask("m1000"), "E01");
}

TEST_F(RequestsTest, PointsArePassedOn) {
  EXPECT_EQ(ask("Z0,401000,1"), "OK");
  EXPECT_EQ(ask("z0,401000,1"), "OK");
  EXPECT_EQ(ask("Z2,1008,8"), "OK");
  EXPECT_EQ(ask("Z3,1008,8"), "E02");
  EXPECT_EQ(ask("Z2,1008"), "E01");
  EXPECT_EQ(target_.asked,
            (std::vector<std::string>{"insert 0 401000 1", "remove 0 401000 1", "insert 2 1008 8"}));
}

TEST_F(RequestsTest, ResumesEachThreadAsAsked) {
  target_.stop = {.thread = 0x2b, .signal = 10, .point = {}, .ended = {}};
  EXPECT_EQ(ask("vCont;C1e:10;r400,410:2b;s"), "T1ethread:2b;");
  ASSERT_EQ(target_.resumed.size(), 3u);
  EXPECT_EQ(target_.resumed[0].kind, Resume::Kind::kContinue);
  EXPECT_EQ(target_.resumed[0].signal, 10);
  EXPECT_EQ(target_.resumed[0].thread, 0x10);
  EXPECT_EQ(target_.resumed[1].kind, Resume::Kind::kRange);
  EXPECT_EQ(target_.resumed[1].begin, 0x400u);
  EXPECT_EQ(target_.resumed[1].end, 0x410u);
  EXPECT_EQ(target_.resumed[2].kind, Resume::Kind::kStep);
  EXPECT_EQ(target_.resumed[2].thread, 0);
  target_.files[1].general.rax = 9;
  EXPECT_EQ(ask("p0").substr(0, 2), "09");  // the thread that stopped is the one chosen
  EXPECT_EQ(ask("vCont;t:-1"), "T1ethread:2b;");
  EXPECT_EQ(target_.resumed[0].kind, Resume::Kind::kStay);
  for (const char* packet :
       {"vCont;", "vCont;x", "vCont;c:", "vCont;r5", "vCont;c;;c", "vCont;S", "vCont;c:1:2"}) {
    EXPECT_EQ(ask(packet), "E01") << packet;
  }
}

TEST_F(RequestsTest, SaysWhyItStands) {
  EXPECT_EQ(ask("?"), "T05thread:10;");
  target_.stop = {.thread = 0x10, .point = PointKind::kBreak, .ended = {}};
  EXPECT_EQ(ask("vCont;c"), "T05swbreak:;thread:10;");
  target_.stop.point = PointKind::kHardBreak;
  EXPECT_EQ(ask("vCont;c"), "T05hwbreak:;thread:10;");
  target_.stop.point = PointKind::kWrite;
  target_.stop.address = 0xabc;
  EXPECT_EQ(ask("vCont;c"), "T05watch:abc;thread:10;");
  target_.stop.point = PointKind::kAccess;
  EXPECT_EQ(ask("vCont;c"), "T05awatch:abc;thread:10;");
  EXPECT_EQ(ask("?"), "T05awatch:abc;thread:10;");
  target_.stop.ended = 3 << 8;
  EXPECT_EQ(ask("vCont;c"), "W03");
  target_.stop.ended = 10;
  EXPECT_EQ(ask("vCont;c"), "X1e");
}

TEST_F(RequestsTest, TransfersComeInParts) {
  target_.auxiliary = {1, 2, 3, 4, 5};
  EXPECT_EQ(ask("qXfer:auxv:read::0,3"), "m\1\2\3");
  EXPECT_EQ(ask("qXfer:auxv:read::3,3"), "l\4\5");
  EXPECT_EQ(ask("qXfer:auxv:read::5,3"), "l");
  EXPECT_EQ(ask("qXfer:auxv:read::6,3"), "E01");
  EXPECT_EQ(ask("qXfer:auxv:read::ffffffffffffffff,ffffffffffffffff"), "E01");
  EXPECT_EQ(ask("qXfer:exec-file:read:2a:0,100"), "l/bin/a program");
  EXPECT_EQ(ask("qXfer:features:read:target.xml:0,8"), "m<?xml ve");
  EXPECT_EQ(ask("qXfer:features:read:other.xml:0,8"), "E00");
  EXPECT_EQ(ask("qXfer:features:write:target.xml:0,8"), "");
  EXPECT_EQ(ask("qXfer:spu:read::0,8"), "");
}

TEST_F(RequestsTest, FindsWhatIsThreadLocal) {
  auto put = [&](uint64_t address, auto value) {
    std::memcpy(target_.memory.data() + (address - target_.kBase), &value, sizeof value);
  };
  target_.files[1].general.fs_base = 0x1100;
  put(0x1108, uint64_t{0x1220});  // the thread's vector
  put(0x1210, uint64_t{2});       // of two modules
  put(0x1230, uint64_t{0x5000});  // the first one's block
  put(0x1240, ~uint64_t{0});      // the second one's is not there yet
  put(0x1300, uint32_t{64});      // the field: of 64 bits,
  put(0x1308, uint32_t{0x20});    // in this place
  put(0x1420, uint64_t{1});       // of the first module
  put(0x1520, uint64_t{2});
  put(0x1620, uint64_t{3});

  EXPECT_EQ(ask("qGetTLSAddr:2b,8,1400"), "E0e");  // the field's place is not known yet
  EXPECT_EQ(ask("qGetTLSAddr:2b,8,0"), "5008");    // a static program's only module
  std::string asked = ask("qSymbol::");
  ASSERT_EQ(asked.substr(0, 8), "qSymbol:");
  EXPECT_EQ(ask("qSymbol::" + asked.substr(8)), "OK");  // not found
  EXPECT_EQ(ask("qSymbol::"), asked);
  EXPECT_EQ(ask("qSymbol:1300:" + asked.substr(8)), "OK");
  EXPECT_EQ(ask("qSymbol::"), "OK");
  EXPECT_EQ(ask("qSymbol:1300:00"), "E01");
  EXPECT_EQ(ask("qGetTLSAddr:2b,8,1400"), "5008");
  EXPECT_EQ(ask("qGetTLSAddr:2b,8,1500"), "E0e");
  EXPECT_EQ(ask("qGetTLSAddr:2b,8,1600"), "E0e");
  EXPECT_EQ(ask("qGetTLSAddr:11,8,1400"), "E0e");
  EXPECT_EQ(ask("qGetTLSAddr:2b,8"), "E01");
}

TEST_F(RequestsTest, GdbTakesLeave) {
  EXPECT_EQ(requests_.leave(), Requests::Leave::kNone);
  EXPECT_EQ(ask("D"), "OK");
  EXPECT_EQ(requests_.leave(), Requests::Leave::kDetached);
  EXPECT_EQ(ask("k"), "(none)");
  EXPECT_EQ(requests_.leave(), Requests::Leave::kKilled);
  EXPECT_EQ(ask("vKill;a410"), "OK");
}

/// Sound packets with some of their bytes changed, left out or doubled: none may do more than get an answer
/// that fits.
TEST_F(RequestsTest, NonsenseDoesNoHarm) {
  const std::string sound[] = {"qSupported:a+;b+",
                               "vCont;c:10;s:2b",
                               "vCont;r10,20:10",
                               "g",
                               "p10",
                               "P10=0011223344556677",
                               "m1000,20",
                               "M1000,2:0011",
                               "X1000,2:ab",
                               "Z0,1000,1",
                               "z4,1000,8",
                               "Hg10",
                               "T10",
                               "qXfer:features:read:target.xml:0,fff",
                               "qXfer:threads:read::0,fff",
                               "qThreadExtraInfo,10",
                               "qSymbol:1000:00",
                               "qGetTLSAddr:10,8,0",
                               "qXfer:auxv:read::0,10"};
  std::mt19937 random(1);
  auto below = [&](size_t bound) { return std::uniform_int_distribution<size_t>(0, bound - 1)(random); };
  for (int round = 0; round < 200000; ++round) {
    std::string packet = sound[below(std::size(sound))];
    for (size_t changes = below(4); changes > 0 && !packet.empty(); --changes) {
      size_t place = below(packet.size());
      switch (below(4)) {
        case 0:
          packet[place] = static_cast<char>(below(256));
          break;
        case 1:
          packet.erase(place, 1 + below(3));
          break;
        case 2:
          packet.insert(place, packet.substr(below(packet.size())));
          break;
        case 3:
          packet[place] = "0123456789abcdef,:;="[below(20)];
          break;
      }
    }
    std::optional<std::string> answer = requests_.answer(packet);
    ASSERT_LE(answer.value_or("").size(), kPacketSize) << packet;
  }
}

}  // namespace
}  // namespace pastcone::gdb
