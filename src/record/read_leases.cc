#include "pastcone/record/read_leases.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>

#include "pastcone/record/shared_stage.h"

namespace pastcone::record {
namespace {

constexpr size_t kMost = 512;  // descriptors are not without number

std::atomic<uint32_t*> wake_word = nullptr;
std::atomic<bool> somebody_waits = false;

void on_break(int) {
  int saved = errno;
  somebody_waits = true;
  if (uint32_t* word = wake_word) bump_and_wake(*word);
  errno = saved;
}

/// Of another user's file one gets no lease. If only he may write to it, it is taken for one that does not
/// change; at the end one sees.
bool is_out_of_reach(int fd) {
  struct stat info {};
  return fstat(fd, &info) == 0 && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0 && info.st_uid != geteuid();
}

}  // namespace

/// Not before the first lease: the recorded program, which is started by then, must not inherit any of it.
bool ReadLeases::announce() {
  if (announced_) return true;
  wake_word = wake_;
  struct sigaction action {};
  action.sa_handler = on_break;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, SIGIO);
  announced_ = sigaction(SIGIO, &action, nullptr) == 0 && pthread_sigmask(SIG_UNBLOCK, &only, nullptr) == 0;
  return announced_;
}

bool ReadLeases::take(uint32_t id, int fd) {
  if (held_.size() >= kMost || !announce()) return false;
  UniqueFd own(fcntl(fd, F_DUPFD_CLOEXEC, 0));
  f_owner_ex owner{F_OWNER_TID, static_cast<pid_t>(syscall(SYS_gettid))};
  if (own.get() < 0 || fcntl(own.get(), F_SETOWN_EX, &owner) != 0) return false;
  bool sure = fcntl(own.get(), F_SETLEASE, F_RDLCK) == 0;
  if (!sure && (errno != EACCES || !is_out_of_reach(own.get()))) return false;
  held_[id] = {std::move(own), sure};
  return true;
}

std::vector<uint32_t> ReadLeases::wanted() {
  std::vector<uint32_t> ids;
  if (!somebody_waits.exchange(false)) return ids;
  for (const auto& [id, held] : held_) {
    // The kernel tells what our lease is about to become.
    if (held.sure && fcntl(held.fd.get(), F_GETLEASE) == F_UNLCK) ids.push_back(id);
  }
  return ids;
}

}  // namespace pastcone::record
