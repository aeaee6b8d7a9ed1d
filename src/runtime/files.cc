#include "files.h"

#include "text.h"
#include "thread.h"

namespace pastcone::runtime {
namespace {

constexpr int kOpenReadOnly = 0, kOpenCloexec = 02000000;

bool recorder_is_gone() { return is_gone(g.stage.header().tool_pid); }

bool matches(const stage::FileSlot& slot, const Stat& s) {
  return slot.device == s.dev && slot.inode == s.ino && slot.size == (u64)s.size &&
         slot.mtime_ns == s.mtime * 1'000'000'000 + s.mtime_ns && slot.ctime_ns == s.ctime * 1'000'000'000 + s.ctime_ns;
}

/// While a slot is filled its state names who does it, should he be killed meanwhile.
u32 filling() { return (u32)stage::FileState::kFilling | current().tid << stage::kFileStateBits; }

void wait_filled(stage::FileSlot& slot) {
  for (u64 spins = 1;; ++spins) {
    u32 state = load(slot.state);
    if ((state & stage::kFileStateMask) != (u32)stage::FileState::kFilling) return;
    __builtin_ia32_pause();
    if (spins % 100'000 || !is_gone(state >> stage::kFileStateBits)) continue;
    // One that was asked for once stays known.
    swap_if(slot.state, state, (u32)(slot.device ? stage::FileState::kReady : stage::FileState::kFree));
  }
}

void announce() {
  auto& header = g.stage.header();
  add(header.file_requests, 1u);
  add(header.activity, 1u);
  futex_wake(header.activity);
}

void request(stage::FileSlot& slot, int fd) {
  slot.pid = (u32)sys(__NR_getpid);
  slot.fd = fd;
  store(slot.state, (u32)stage::FileState::kRequested);
  announce();
}

bool wait_ready(stage::FileSlot& slot) {
  while (load(slot.state) != (u32)stage::FileState::kReady) {
    u32 seen = load(slot.futex);
    if (load(slot.state) == (u32)stage::FileState::kReady) break;
    Timespec wait{0, 200'000'000};
    if (futex_wait(slot.futex, seen, &wait) != -ETIMEDOUT) continue;
    if (recorder_is_gone()) return false;
    announce();  // who asked may have been killed before he could
  }
  return true;
}

constexpr u32 kPlaces = 512;  ///< where a file may be in the table

u32 place(const Stat& s, u32 i) {
  u32 start = (u32)((s.ino * 0x9e3779b97f4a7c15 ^ s.mtime_ns ^ s.size) % stage::kMaxFiles);
  return (start + i) % stage::kMaxFiles + 1;
}

bool is_below_usr(int fd, const Stat& s) {
  if (s.uid || (s.mode & 022)) return false;
  char link[64], path[64];
  Text(link, sizeof link) << "/proc/self/fd/" << fd;
  long n = sys(__NR_readlink, link, path, sizeof path);
  return n > 5 && !memcmp(path, "/usr/", 5);
}

}  // namespace

u32 file_id(int fd, u32 wanted) {
  Stat s{};
  if (sys(__NR_fstat, fd, &s) || (s.mode & kModeType) != kModeRegular) return 0;
  for (u32 i = 0; i < kPlaces; ++i) {
    u32 id = place(s, i);
    auto& slot = g.stage.file(id);
    if (swap_if(slot.state, (u32)stage::FileState::kFree, filling())) {
      slot.inode = s.ino;
      slot.size = (u64)s.size;
      slot.mtime_ns = s.mtime * 1'000'000'000 + s.mtime_ns;
      slot.ctime_ns = s.ctime * 1'000'000'000 + s.ctime_ns;
      slot.wanted = wanted;
      store(slot.device, s.dev);  // the last: now it is known what it is
      request(slot, fd);
    } else {
      wait_filled(slot);
      if (!matches(slot, s)) continue;
    }
    if (!wait_ready(slot)) return slot.given ? id : 0;
    // Asked for with less; or by somebody who was killed before it could be read through him; or it was being written to.
    bool again = (wanted & ~slot.wanted) || !slot.given;
    if (again && swap_if(slot.state, (u32)stage::FileState::kReady, filling())) {
      slot.wanted |= wanted;
      request(slot, fd);
      if (!wait_ready(slot)) return slot.given ? id : 0;
    }
    return slot.given ? id : 0;
  }
  return 0;
}

u32 readable_file_id(int fd) {
  constexpr i64 kSmall = 64 << 10;  // storing what is read of it costs less than asking the recorder about it
  Stat s{};
  if (sys(__NR_fstat, fd, &s) || (s.mode & kModeType) != kModeRegular || (i64)s.size < kSmall) return 0;
  bool large = (u64)s.size >= stage::kLargeFile && s.blocks;  // those of /proc and /sys have sizes, and nothing on a disk
  if (!large && !is_below_usr(fd, s)) return 0;
  u32 id = file_id(fd, 0);
  return id && is_steady(id) ? id : 0;
}

bool is_steady(u32 id) {
  u32 given = load(g.stage.file(id).given);
  return (given & stage::kFileSteady) && !(given & stage::kFileChanged);
}

bool is_read_by_reference(const Stat& file) {
  for (u32 i = 0; i < kPlaces; ++i) {
    auto& slot = g.stage.file(place(file, i));
    if (load(slot.state) == (u32)stage::FileState::kFree) return false;
    if (matches(slot, file)) return load(slot.given) & stage::kFileSteady;
  }
  return false;
}

int open_file(u32 id) {
  auto& slot = g.stage.file(id);
  return (int)sys(__NR_open, slot.path, kOpenReadOnly | kOpenCloexec, 0);
}

int open_patched(u32 id) {
  auto& slot = g.stage.file(id);
  if (!slot.patched || (g.stage.header().flags & stage::kFlagNoPatch)) return -ENOENT;
  char path[320];
  (Text(path, sizeof path) << g.stage.header().patch_directory << "/").hex(slot.patched, 16);
  return (int)sys(__NR_open, path, kOpenReadOnly | kOpenCloexec, 0);
}

}  // namespace pastcone::runtime
