#include "pastcone/gdb/remote.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <random>
#include <thread>

#include "pastcone/gdb/testing/memory_target.h"

namespace pastcone::gdb {
namespace {

class RemoteTest : public ::testing::Test {
 protected:
  RemoteTest() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) abort();
    gdb_.reset(ends[0]);
    server_.emplace(UniqueFd(ends[1]), target_);
  }

  void say(std::string_view bytes) {
    ASSERT_EQ(send(gdb_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }
  /// What the server has sent so far.
  std::string heard() {
    char bytes[4096];
    ssize_t got = recv(gdb_.get(), bytes, sizeof bytes, MSG_DONTWAIT);
    return {bytes, got > 0 ? static_cast<size_t>(got) : 0};
  }

  testing::MemoryTarget target_;
  UniqueFd gdb_;
  std::optional<RemoteServer> server_;
};

TEST_F(RemoteTest, AcknowledgesUntilToldNotTo) {
  EXPECT_TRUE(server_->serve());  // nothing has come
  say("+$qC#b4");
  EXPECT_TRUE(server_->serve());
  EXPECT_EQ(heard(), "+$QC10#f5");
  say("-");
  EXPECT_TRUE(server_->serve());
  EXPECT_EQ(heard(), "$QC10#f5");
  say("$qC#b5");
  EXPECT_TRUE(server_->serve());
  EXPECT_EQ(heard(), "-");
  say(frame("QStartNoAckMode"));
  EXPECT_TRUE(server_->serve());
  EXPECT_EQ(heard(), "+$OK#9a");
  say("+\x03$qC#b4-$qC#b5");
  EXPECT_TRUE(server_->serve());
  EXPECT_EQ(heard(), "$QC10#f5");
}

TEST_F(RemoteTest, WaitsForTheRestOfAPacket) {
  say("$q");
  std::thread rest([&] { say("C#b4"); });
  EXPECT_TRUE(server_->serve());
  rest.join();
  EXPECT_EQ(heard(), "+$QC10#f5");
}

TEST_F(RemoteTest, EndsWhenGdbDoes) {
  say(frame("D") + frame("qC"));
  EXPECT_FALSE(server_->serve());
  EXPECT_EQ(heard(), "+$OK#9a");
  EXPECT_EQ(server_->leave(), Requests::Leave::kDetached);
}

TEST_F(RemoteTest, EndsWhenGdbIsGone) {
  say("$q");
  gdb_.reset();
  EXPECT_FALSE(server_->serve());
  EXPECT_EQ(server_->leave(), Requests::Leave::kNone);
}

TEST_F(RemoteTest, AnswersToNobodyAreNotFatal) {
  say(frame("qC"));
  shutdown(gdb_.get(), SHUT_RD);
  EXPECT_FALSE(server_->serve());
}

TEST_F(RemoteTest, RandomBytesDoNoHarm) {
  std::thread gdb([&] {
    std::mt19937 random(2);
    for (int round = 0; round < 3000; ++round) {
      std::string bytes;
      for (size_t i = random() % 100; i > 0; --i) bytes += "$#+-}\x03gmvqHZcs01"[random() % 16];
      for (size_t i = random() % 10; i > 0; --i) bytes += static_cast<char>(random());
      if (send(gdb_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) break;
    }
    shutdown(gdb_.get(), SHUT_WR);
  });
  std::thread ear([&] {
    char bytes[4096];
    while (read(gdb_.get(), bytes, sizeof bytes) > 0) {
    }
  });
  do {
    pollfd ready{server_->fd(), POLLIN, 0};
    poll(&ready, 1, -1);
  } while (server_->serve());
  server_.reset();
  gdb.join();
  ear.join();
}

}  // namespace
}  // namespace pastcone::gdb
