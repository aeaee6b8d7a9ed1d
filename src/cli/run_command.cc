#include "pastcone/cli/run_command.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "pastcone/base/files.h"

extern char** environ;

namespace pastcone::cli {
namespace {

struct Pipe {
  UniqueFd read_end, write_end;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return fail("cannot create a pipe: {}", errno_message(errno));
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

/// Whether there may be more.
bool read_some(int fd, std::string& into) {
  char buffer[4096];
  ssize_t got = read(fd, buffer, sizeof buffer);
  if (got > 0) into.append(buffer, static_cast<size_t>(got));
  return got > 0 || (got < 0 && errno == EINTR);
}

void read_both(Pipe& output, Pipe& errors, CommandRun& run) {
  pollfd fds[] = {{output.read_end.get(), POLLIN, 0}, {errors.read_end.get(), POLLIN, 0}};
  std::string* into[] = {&run.output, &run.errors};
  while (fds[0].fd >= 0 || fds[1].fd >= 0) {
    if (poll(fds, 2, -1) < 0) continue;
    for (int i = 0; i < 2; ++i)
      if (fds[i].revents != 0 && !read_some(fds[i].fd, *into[i])) fds[i].fd = -1;
  }
}

}  // namespace

bool CommandRun::exited(int with) const { return WIFEXITED(status) && WEXITSTATUS(status) == with; }

Result<CommandRun> run_command(const std::vector<std::string>& command) {
  Pipe output = TRY(make_pipe()), errors = TRY(make_pipe());
  std::vector<char*> argv;
  for (const std::string& argument : command) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output.write_end.get(), 1);
  posix_spawn_file_actions_adddup2(&actions, errors.write_end.get(), 2);
  pid_t child = 0;
  int error = posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return fail("cannot run {}: {}", command.front(), errno_message(error));
  output.write_end.reset();
  errors.write_end.reset();
  CommandRun run;
  read_both(output, errors, run);
  while (waitpid(child, &run.status, 0) < 0 && errno == EINTR) {
  }
  return run;
}

}  // namespace pastcone::cli
