#include "pastcone/replay/temporary_directory.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

namespace pastcone::replay {
namespace {

using namespace std::chrono_literals;

TemporaryDirectory made_with_a_file() {
  TemporaryDirectory made = TemporaryDirectory::create("pastcone-test-").value();
  std::ofstream(made.path() / "file") << "text";
  return made;
}

bool is_there(const Path& path) { return std::filesystem::exists(path); }

TEST(TemporaryDirectory, IsGoneWithItsFiles) {
  Path path;
  {
    TemporaryDirectory made = made_with_a_file();
    path = made.path();
    EXPECT_TRUE(is_there(path / "file"));
    TemporaryDirectory moved = std::move(made);
    EXPECT_TRUE(is_there(moved.path() / "file"));
  }
  EXPECT_FALSE(is_there(path));
}

TEST(TemporaryDirectory, IsGoneWhenItsProcessIsKilled) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  pid_t child = fork();
  if (child == 0) {
    TemporaryDirectory made = made_with_a_file();
    std::string name = made.path().native() + "\n";
    (void)!write(ends[1], name.data(), name.size());
    for (;;) pause();
  }
  std::string name;
  for (char byte = 0; read(ends[0], &byte, 1) == 1 && byte != '\n';) name += byte;
  close(ends[0]);
  close(ends[1]);
  EXPECT_TRUE(is_there(Path(name) / "file"));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  for (auto end = std::chrono::steady_clock::now() + 60s;
       is_there(name) && std::chrono::steady_clock::now() < end;)
    std::this_thread::sleep_for(1ms);
  EXPECT_FALSE(is_there(name));
}

/// In a process that has no other children.
int children_of_one_who_inherits() {
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return 1;
  TemporaryDirectory made = made_with_a_file();
  if (waitpid(-1, nullptr, WNOHANG | __WALL) != -1 || errno != ECHILD) return 2;
  int inherits = 0;
  return prctl(PR_GET_CHILD_SUBREAPER, &inherits) == 0 && inherits == 1 ? 0 : 3;
}

TEST(TemporaryDirectory, LeavesNoChildToWaitFor) {
  pid_t child = fork();
  if (child == 0) _exit(children_of_one_who_inherits());
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(TemporaryDirectory, SaysWhyThereIsNone) {
  std::string before = getenv("TMPDIR") ? getenv("TMPDIR") : "";
  setenv("TMPDIR", "/not/there", 1);
  auto made = TemporaryDirectory::create("pastcone-test-");
  before.empty() ? unsetenv("TMPDIR") : setenv("TMPDIR", before.c_str(), 1);
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("No such file"), std::string::npos) << made.error().message;
}

}  // namespace
}  // namespace pastcone::replay
