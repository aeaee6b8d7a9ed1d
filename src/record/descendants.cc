#include "pastcone/record/descendants.h"

#include <dirent.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <string>

#include "pastcone/base/files.h"

namespace pastcone::record {
namespace {

std::optional<pid_t> parent_of(pid_t process) {
  auto stat = read_file(fmt::format("/proc/{}/stat", process));
  if (!stat) return std::nullopt;
  size_t name_end = stat->rfind(')');  // "pid (name) state parent …", and the name may have anything in it
  if (name_end == std::string::npos || name_end + 4 >= stat->size()) return std::nullopt;
  pid_t parent = 0;
  std::from_chars(stat->data() + name_end + 4, stat->data() + stat->size(), parent);
  return parent;
}

std::set<pid_t> children_of(pid_t parent) {
  std::set<pid_t> children;
  DIR* proc = opendir("/proc");
  if (proc == nullptr) return children;
  while (dirent* entry = readdir(proc)) {
    pid_t process = 0;
    const char* end = entry->d_name + std::strlen(entry->d_name);
    if (std::from_chars(entry->d_name, end, process).ptr != end) continue;
    if (parent_of(process) == parent) children.insert(process);
  }
  closedir(proc);
  return children;
}

bool is_ignored(int signal) {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

Result<Descendants> Descendants::adopt() {
  Descendants self;
  if (waitid(P_ALL, 0, nullptr, WEXITED | WNOHANG | WNOWAIT) == 0) self.strangers_ = children_of(getpid());
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) {
    return fail("cannot take over orphaned processes: {}", errno_message(errno));
  }
  self.child_signal_ignored_ = is_ignored(SIGCHLD);
  if (self.child_signal_ignored_) signal(SIGCHLD, SIG_DFL);  // or there would be nothing to wait for
  sigset_t blocked;
  sigemptyset(&self.taken_);
  sigaddset(&self.taken_, SIGCHLD);
  for (int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP}) {
    if (!is_ignored(signal)) sigaddset(&self.taken_, signal);
  }
  blocked = self.taken_;
  sigaddset(&blocked, SIGXFSZ);  // a full disk or quota is for us an error code
  sigaddset(&blocked, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &blocked, &self.original_mask_);
  self.active_ = true;
  return self;
}

Descendants::Descendants(Descendants&& other) noexcept
    : original_mask_(other.original_mask_),
      taken_(other.taken_),
      child_signal_ignored_(other.child_signal_ignored_),
      active_(std::exchange(other.active_, false)),
      strangers_(std::move(other.strangers_)),
      first_status_(other.first_status_) {}

Descendants::~Descendants() {
  if (!active_) return;
  timespec none{};
  while (sigtimedwait(&taken_, nullptr, &none) > 0) {
  }
  if (child_signal_ignored_) signal(SIGCHLD, SIG_IGN);
  pthread_sigmask(SIG_SETMASK, &original_mask_, nullptr);
}

bool Descendants::only_strangers_left() const {
  if (strangers_.empty()) return false;  // then ECHILD will tell
  for (pid_t child : children_of(getpid())) {
    if (!strangers_.contains(child)) return false;
  }
  return true;
}

bool Descendants::reap(pid_t first) {
  for (;;) {
    int status = 0;
    pid_t child = waitpid(-1, &status, WNOHANG);
    if (child < 0 && errno == EINTR) continue;
    if (child < 0) return true;
    if (child == 0) return only_strangers_left();
    if (child == first) first_status_ = status;
    strangers_.erase(child);
  }
}

int Descendants::wait(pid_t first) {
  for (int interrupts = 0; !reap(first);) {
    siginfo_t info{};
    int signal = sigwaitinfo(&taken_, &info);
    if (signal == SIGINT && ++interrupts == 2) return signal;
    if (signal != SIGTERM && signal != SIGHUP) continue;
    if (first_status_) return signal;
    bool from_terminal = info.si_code > 0;  // then the program got it, too
    if (!from_terminal) kill(first, signal);
  }
  return 0;
}

}  // namespace pastcone::record
