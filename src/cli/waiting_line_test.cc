#include "pastcone/cli/waiting_line.h"

#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

namespace pastcone::cli {
namespace {

TEST(WaitingText, SaysWhatAndHowFar) {
  EXPECT_EQ(waiting_text("going back to p2:1041", 1200, 2400, 79),
            "going back to p2:1041 … 50%, 1,200 of 2,400 events");
  EXPECT_EQ(waiting_text("running", 1200, 0, 79), "running … 1,200 events");
  EXPECT_EQ(waiting_text("running", 0, 0, 79), "running …");
  EXPECT_EQ(waiting_text("going to p1:2", 7, 4, 79), "going to p1:2 … 100%, 4 of 4 events");
}

TEST(WaitingText, FitsIntoTheLine) {
  EXPECT_EQ(waiting_text("looking for p1: a_very_long_name == 1", 1, 10, 40),
            "looking for p1: a_ … 10%, 1 of 10 events");
  EXPECT_EQ(waiting_text("looking", 1, 10, 5), " … 10");
  EXPECT_EQ(waiting_text("ääää", 0, 0, 5), "ää …");
}

/// What a terminal has been sent.
class WaitingLineOnTerminal : public testing::Test {
 protected:
  WaitingLineOnTerminal() { EXPECT_EQ(openpty(&master_, &slave_, nullptr, nullptr, nullptr), 0); }
  ~WaitingLineOnTerminal() override { close(master_), close(slave_); }

  /// Until it has shown something.
  void tick_until_due(WaitingLine& line) {
    for (bool asked = false; !asked; usleep(1000))
      line.tick([&] { return asked = true, WaitingLine::Far{3, 4}; });
  }
  std::string sent() {
    write(slave_, "|", 1);
    std::string text;
    char bytes[1000];
    while (!text.ends_with("|"))
      text.append(bytes, static_cast<size_t>(std::max<ssize_t>(read(master_, bytes, sizeof bytes), 0)));
    text.pop_back();
    return text;
  }

  int master_ = -1, slave_ = -1;
};

TEST_F(WaitingLineOnTerminal, ComesAfterAWhileAndGoes) {
  WaitingLine line(slave_);
  line.tick([]() -> WaitingLine::Far {
    ADD_FAILURE() << "nothing is waited for";
    return {};
  });
  {
    WaitingLine::Scope waits(line, "going back to p1:7", 12);
    line.begin();
    line.tick();
    EXPECT_EQ(sent(), "");
    tick_until_due(line);
    EXPECT_EQ(sent(), "\r\033[Kgoing back to p1:7 … 25%, 3 of 12 events");
  }
  EXPECT_EQ(sent(), "\r\033[K");
}

TEST_F(WaitingLineOnTerminal, MakesRoomAndStaysAwayFromHalfALine) {
  WaitingLine line(slave_);
  WaitingLine::Scope waits(line, "running");
  tick_until_due(line);
  (void)sent();
  line.make_room("hello\n");
  EXPECT_EQ(sent(), "\r\033[K");
  tick_until_due(line);
  EXPECT_EQ(sent(), "\r\033[Krunning … 75%, 3 of 4 events");
  line.make_room("your name? ");
  EXPECT_EQ(sent(), "\r\033[K");
  usleep(200'000);  // longer than it takes to come again
  line.tick();
  EXPECT_EQ(sent(), "");
}

TEST(WaitingLine, IsNothingWithoutATerminal) {
  {
    WaitingLine line(-1);
    WaitingLine::Scope waits(line, "running");
    line.tick([]() -> WaitingLine::Far {
      ADD_FAILURE() << "who would see it?";
      return {};
    });
  }
}

}  // namespace
}  // namespace pastcone::cli
