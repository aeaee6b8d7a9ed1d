#include "pastcone/replay/signal_watch.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace pastcone::replay {
namespace {

TEST(SignalWatch, WhoEndsInterruptsNothing) {
  record::SharedStage stage = record::SharedStage::create(stage::Mode::kReplay, 0, "/tmp").value();
  SignalWatch watch(stage, true);
  uint32_t before = record::load(stage.header().activity);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  pid_t child = fork();
  if (child == 0) {
    if (fork() == 0) {  // it writes when its parent has ended and the signal has come
      while (record::load(stage.header().activity) == before) usleep(1000);
      _exit(write(ends[1], "x", 1) == 1 ? 0 : 1);
    }
    _exit(0);
  }
  char byte;
  EXPECT_EQ(read(ends[0], &byte, 1), 1) << strerror(errno);
  EXPECT_NE(record::load(stage.header().activity), before);
  waitpid(child, nullptr, 0);
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace pastcone::replay
