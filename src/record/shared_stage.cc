#include "pastcone/record/shared_stage.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "stage_version.h"

namespace pastcone::record {

Result<SharedStage> SharedStage::create(stage::Mode mode, uint32_t flags, const Path& patch_directory) {
  UniqueFd fd(memfd_create("pastcone-stage", MFD_CLOEXEC));
  if (!fd.valid()) return fail("cannot create shared memory: {}", errno_message(errno));
  if (ftruncate(fd.get(), stage::kStageSize) != 0) {
    return fail("cannot create {} MB of shared memory: {}; check ulimit -f", stage::kStageSize >> 20,
                errno_message(errno));
  }
  void* base = mmap(nullptr, stage::kStageSize, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (base == MAP_FAILED) {
    return fail("cannot map {} MB of shared memory: {}; check ulimit -v", stage::kStageSize >> 20,
                errno_message(errno));
  }
  SharedStage stage(std::move(fd), static_cast<char*>(base));
  stage::Header& header = stage.header();
  if (patch_directory.native().size() >= sizeof header.patch_directory) {
    return fail("the cache directory's name is too long: {}; set XDG_CACHE_HOME to a shorter one",
                patch_directory.native());
  }
  header.magic = stage::kMagic;
  header.version = PASTCONE_STAGE_VERSION;
  header.mode = mode;
  header.flags = flags;
  if (std::getenv("PASTCONE_LIST_CALLS") != nullptr) header.flags |= stage::kFlagListCalls;
  header.tool_pid = static_cast<uint32_t>(getpid());
  std::strcpy(header.patch_directory, patch_directory.c_str());
  return stage;
}

SharedStage::SharedStage(SharedStage&& other) noexcept : fd_(std::move(other.fd_)), view_(other.view_) {
  other.view_.base = nullptr;
}

SharedStage::~SharedStage() {
  if (view_.base != nullptr) munmap(view_.base, stage::kStageSize);
}

void bump_and_wake(uint32_t& futex) {
  __atomic_fetch_add(&futex, 1, __ATOMIC_SEQ_CST);
  syscall(SYS_futex, &futex, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void SharedStage::notify() const { bump_and_wake(header().activity); }

void SharedStage::wait_activity(uint32_t seen, std::chrono::milliseconds timeout, bool for_anything) const {
  timespec time{timeout.count() / 1000, timeout.count() % 1000 * 1'000'000};
  // Whoever bumps `activity` after this sees the flag and wakes us; who bumped it before makes the wait
  // return.
  __atomic_store_n(&header().recorder_sleeps, for_anything ? 1 : 0, __ATOMIC_SEQ_CST);
  syscall(SYS_futex, &header().activity, FUTEX_WAIT, seen, &time, nullptr, 0);
  __atomic_store_n(&header().recorder_sleeps, 0, __ATOMIC_SEQ_CST);
}

bool has_dispatch() {
  constexpr int kSetSyscallUserDispatch = 59, kOff = 0;
  return prctl(kSetSyscallUserDispatch, kOff, 0, 0, 0) == 0;
}

Status switch_off_randomisation() {
  int now = personality(0xffffffff);
  if (now < 0 || personality(static_cast<unsigned long>(now) | ADDR_NO_RANDOMIZE) < 0) {
    return fail(
        "cannot switch off address randomisation: {}; in a container, allow the personality system call "
        "(docker: --security-opt seccomp=unconfined)",
        errno_message(errno));
  }
  return {};
}

}  // namespace pastcone::record
