// The child's side of starting a run: between fork and exec, so nothing here may allocate after the fork.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "pastcone/record/shared_stage.h"

namespace pastcone::record {
namespace {

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (const std::string& text : strings) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

/// What the child could not do, told to the parent through a pipe that a successful exec closes.
struct Failure {
  char what[32];
  int error;
};

[[noreturn]] void give_up(int report, const char* what) {
  Failure failure{};
  failure.error = errno;
  for (size_t i = 0; what[i] != '\0' && i + 1 < sizeof failure.what; ++i) failure.what[i] = what[i];
  [[maybe_unused]] ssize_t ignored = write(report, &failure, sizeof failure);
  _exit(127);
}

/// The kernel tells all of the process group, to which every replayed process belongs, when the pipe is closed; and it is,
/// however the tool ends. (PR_SET_PDEATHSIG would look at each one's own parent, which may well end before its child.)
/// It takes the place of standard input, which no replayed program reads.
void hold_lifeline(int fd, int report) {
  if (dup2(fd, 0) < 0 || fcntl(0, F_SETOWN, -getpid()) < 0 || fcntl(0, F_SETSIG, SIGKILL) < 0 ||
      fcntl(0, F_SETFL, O_ASYNC) < 0) {
    give_up(report, "hold on to the tool");
  }
}

void isolate(const Launch& how, int report) {
  if (setsid() < 0) give_up(report, "start a session");
  if (chdir("/") != 0) give_up(report, "change to /");
  int null = open("/dev/null", O_RDWR);
  if (null < 0) give_up(report, "open /dev/null");
  for (int fd : {0, 1, 2}) {
    if (fd == 2 && how.keep_stderr) continue;
    if (fd != null && dup2(null, fd) < 0) give_up(report, "redirect its output");
  }
  if (null > 2) close(null);
  if (how.lifeline_fd >= 0) hold_lifeline(how.lifeline_fd, report);
}

}  // namespace

rlimit lift_limit(int resource) {
  auto which = static_cast<__rlimit_resource_t>(resource);
  rlimit original{};
  getrlimit(which, &original);
  rlimit lifted{original.rlim_max, original.rlim_max};
  setrlimit(which, &lifted);
  return original;
}

namespace {

/// A hard limit of ours that is lower than the wanted one stays: raising it is not for an ordinary user.
void set_limits(const std::vector<Limit>& limits) {
  for (const Limit& limit : limits) {
    rlimit now{};
    if (getrlimit(static_cast<__rlimit_resource_t>(limit.resource), &now) != 0) continue;
    rlimit wanted{std::min(limit.value.rlim_cur, now.rlim_max), std::min(limit.value.rlim_max, now.rlim_max)};
    setrlimit(static_cast<__rlimit_resource_t>(limit.resource), &wanted);
  }
}

struct Descriptor {
  int from, to;
};

void place_descriptors(std::vector<Descriptor>& wanted, int report) {
  // A source may sit on one of the targets: move it out of the way first.
  int lowest = wanted.front().to, end = lowest + stage::kFdCount;
  for (Descriptor& each : wanted) {
    if (each.from < lowest || each.from >= end || each.from == each.to) continue;
    each.from = fcntl(each.from, F_DUPFD_CLOEXEC, 3);
    if (each.from < 0) give_up(report, "move a descriptor");
  }
  for (const Descriptor& each : wanted) {
    if (each.from == each.to ? fcntl(each.to, F_SETFD, 0) < 0 : dup3(each.from, each.to, 0) < 0) {
      give_up(report, "hand over a descriptor");
    }
  }
}

}  // namespace

int first_descriptor(rlim_t open_files) {
  constexpr rlim_t kHighest = 1024, kRoom = 24;
  rlim_t limit = std::min(open_files, kHighest);
  return static_cast<int>(limit > kRoom + 8 ? limit - kRoom : 8);
}

std::string stage_variable(int first_fd, uint32_t process) {
  return fmt::format("{}{:05}:{:07}", stage::kVariable, first_fd, process);
}

Result<pid_t> launch(const SharedStage& stage, const Launch& how) {
  UniqueFd runtime = TRY(open_file(how.runtime, O_RDONLY));
  int first = first_descriptor(how.open_files);
  std::vector<std::string> environment = how.environment;
  environment.push_back(stage_variable(first, 1));
  std::vector<char*> argv = pointers(how.arguments), envp = pointers(environment);
  std::vector<Descriptor> wanted{{stage.fd(), first + stage::kFdStage},
                                 {how.trace_fd, first + stage::kFdTrace},
                                 {runtime.get(), first + stage::kFdRuntime}};
  if (how.store_fd >= 0) wanted.push_back({how.store_fd, first + stage::kFdStore});
  if (how.output_fd >= 0) wanted.push_back({how.output_fd, first + stage::kFdOutput});

  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) return fail("cannot create a pipe: {}", errno_message(errno));
  UniqueFd read_end(report[0]), write_end(report[1]);
  pid_t child = fork();
  if (child < 0) return fail("cannot start a process: {}", errno_message(errno));
  if (child == 0) {
    if (how.isolated) isolate(how, report[1]);
    set_limits(how.limits);
    place_descriptors(wanted, report[1]);
    if (how.ignore_child_signal) signal(SIGCHLD, SIG_IGN);
    pthread_sigmask(SIG_SETMASK, &how.signal_mask, nullptr);
    execve(how.runtime.c_str(), argv.data(), envp.data());
    give_up(report[1], "execute pastcone-runtime");
  }
  write_end.reset();
  Failure failure{};
  ssize_t got;
  do {
    got = read(read_end.get(), &failure, sizeof failure);
  } while (got < 0 && errno == EINTR);
  if (got != sizeof failure) return child;
  waitpid(child, nullptr, 0);
  return fail("cannot {}: {}", failure.what, errno_message(failure.error));
}

}  // namespace pastcone::record
