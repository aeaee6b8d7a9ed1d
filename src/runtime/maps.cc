// Memory calls. They are executed in both modes; the address that the kernel chose is recorded, and imposed in replay.
#include "maps.h"

#include "async.h"
#include "channels.h"
#include "call.h"
#include "files.h"
#include "handlers.h"
#include "hooks.h"
#include "journal.h"
#include "pastcone/patch/abi.h"
#include "shared_files.h"
#include "shared_places.h"
#include "traps.h"
#include "turn.h"
#include "where.h"

namespace pastcone::runtime {
namespace {

/// Where trampolines have been put in this process, so that a later library at the same place may replace them.
struct TrampolineRange {
  u64 begin, end;
};
TrampolineRange trampolines[256];
u32 trampoline_count;

bool ours(u64 begin, u64 end) {
  for (u32 i = 0; i < trampoline_count; ++i)
    if (begin >= trampolines[i].begin && end <= trampolines[i].end) return true;
  return false;
}

}  // namespace

bool is_trampoline(u64 address) { return ours(address, address + 1); }

namespace {

bool map_trampolines(u64 at, const patch::PatchedSegment& segment, int fd, u32 id) {
  if (!segment.trampoline_size) return true;
  bool again = ours(at, at + segment.trampoline_size);
  if (!again) count_own_memory(process(), (i64)page_up(segment.trampoline_size));
  long result = sys(__NR_mmap, at, segment.trampoline_size, kProtRead | kProtExec,
                    kMapPrivate | (again ? kMapFixed : kMapFixedNoReplace), fd, segment.trampoline_offset);
  if (result != (long)at) {
    if (!is_error(result)) sys(__NR_munmap, result, segment.trampoline_size);
    return false;
  }
  note_code(at, segment.trampoline_size, segment.trampoline_offset, id);
  if (!again && trampoline_count < 256) trampolines[trampoline_count++] = {at, at + segment.trampoline_size};
  return true;
}

/// Replaces the freshly mapped [address, address + length) of the original by the patched copy.
bool overlay_patched(u64 address, u64 length, int prot, u64 offset, u32 id) {
  int fd = open_patched(id);
  if (fd < 0) return false;
  bool done = false;
  Stat s{};
  patch::PatchTrailer trailer{};
  if (!sys(__NR_fstat, fd, &s) && s.size > (i64)sizeof trailer &&
      sys(__NR_pread64, fd, &trailer, sizeof trailer, s.size - sizeof trailer) == sizeof trailer &&
      trailer.magic == patch::kPatchMagic && trailer.version == patch::kPatchVersion) {
    for (u32 i = 0; i < min(trailer.segment_count, patch::kMaxSegments); ++i) {
      const auto& segment = trailer.segments[i];
      if (offset > segment.offset || offset + length <= segment.offset) continue;
      u64 bias = address + (segment.offset - offset) - segment.vaddr;
      u64 part = min(length - (segment.offset - offset), page_up(segment.size));
      if (map_trampolines(bias + segment.trampoline_vaddr, segment, fd, id))
        done = !is_error(sys(__NR_mmap, bias + segment.vaddr, part, prot, kMapPrivate | kMapFixed, fd, segment.offset));
      if (done) add_hooks(bias, segment, fd);
      if (done) add_traps(bias + segment.vaddr, segment, fd);
    }
  }
  sys(__NR_close, fd);
  return done;
}

}  // namespace

long map_file(u64 address, u64 length, int prot, int flags, int fd, u64 offset, u32 id, bool& patched) {
  bool opened = fd < 0;
  if (opened && (fd = open_file(id)) < 0) return fd;
  long result = sys(__NR_mmap, address, length, prot, flags, fd, offset);
  bool code = !is_error(result) && (prot & kProtExec) && id && (flags & kMapTypeMask) == kMapPrivate;
  if (code && (!g.replay || patched)) {
    bool now = overlay_patched((u64)result, length, prot, offset, id);
    if (g.replay && !now) result = -ENOENT;
    patched |= now;
  }
  if (code && !is_error(result)) note_code((u64)result, length, offset, id);
  if (opened) sys(__NR_close, fd);
  return result;
}

namespace {

constexpr u64 kLargestError = (u64)-4095L;

void record_address(Call& c, long result, u32 id, bool patched = false) {
  begin_item(c, Shape::kAddress);
  c.log().varint((u64)result);
  c.log().varint(id * 2 + patched);
  finish_item(c);
}

long replay_address(Call& c, u32& id) {
  expect_item(c, 1 << (int)Shape::kAddress);
  long result = (long)c.log().read_varint();
  id = (u32)c.log().read_varint();
  expect_check(c);
  return result;
}

void compare_address(Call& c, long recorded, long now) {
  if (recorded != now) diverge(c.t, Cause::kMemory, "memory at another address", recorded, now, call_name(c.number));
}

}  // namespace

u64 skip_kept_pages(Thread& t, u64 offset, u64 length) {
  if (!t.process->parallel || !t.shared_object) return 0;
  u64 kept = pages_kept(t.shared_object, offset / kPage, (offset + page_up(length)) / kPage);
  t.shared_object |= kept << kObjectBits;
  return (kept & ~kApart) * kPage;
}

namespace {

void shared_file_outs(Exchange& x, const u64* a, long result) {
  if (is_error(result)) return;
  u64 skip = skip_kept_pages(current(), a[5], a[1]);
  x.out((u64)&current().shared_object, 8);
  // As much as the file has: the rest of the mapping is zero or not there.
  u64 n = a[1];
  u64 resident = skip;
  char probe;
  while (resident < n && read_memory(&probe, (u64)result + resident, 1)) resident += kPage;
  if (skip < n) x.out((u64)result + skip, min(resident, n) - skip);
}

/// Replay: memory of the run's own, shared by those who shared it in the recording, with the contents it had at this moment,
/// from byte `from` on.
long map_shared_copy(u64 address, u64 length, int prot, u64 object, u64 offset, u64 from, const char* bytes,
                     u64 size) {
  if (!object) {
    long at = sys(__NR_mmap, address, length, kProtRead | kProtWrite, kMapPrivate | kMapAnonymous | kMapFixed, -1, 0);
    if (is_error(at)) return at;
    memcpy((void*)address, bytes, size);
    sys(__NR_mprotect, address, length, prot);
    return at;
  }
  int fd = own_fd(stage::kFdStore);
  u64 place = shared_place(object, offset);
  // Only ever longer: somebody else may be making room at the same time.
  if (long error = sys(__NR_fallocate, fd, 0, place, length)) return error;
  for (u64 done = 0; done < size;) {
    long n = sys(__NR_pwrite64, fd, bytes + done, size - done, place + from + done);
    if (n <= 0) return n;
    done += (u64)n;
  }
  return sys(__NR_mmap, address, length, prot, kMapShared | kMapFixed, fd, place);
}

}  // namespace

long finish_shared_mapping(Call& c, u64 length, int prot, u64 offset, u64& size) {
  long result = c.log().read_zigzag();
  u64 stored = c.log().read_varint();
  expect_check(c);
  const char* bytes = c.log().read_payload(stored);
  size = 0;
  if (is_error(result)) return result;
  u64 object;
  if (!bytes || stored < sizeof object) end_of_log(c.t);
  memcpy(&object, bytes, sizeof object);
  size = stored - sizeof object;
  bool apart = object >> kObjectBits & kApart;
  u64 kept = (object >> kObjectBits & ~kApart) * kPage, left_out = 0;  // bytes of it that are there already, or will be
  object &= (u64{1} << kObjectBits) - 1;
  if (!length) {  // it is known by its size, so all of it is in the log
    length = page_up(size);
    left_out = min(kept, size);
  }
  if (kept) await_pages(c.t, object, (offset + kept) / kPage);
  compare_address(c, result, map_shared_copy((u64)result, length, prot, object, offset, kept, bytes + sizeof object + left_out,
                                             size - left_out));
  if (!object) return result;
  c.t.process->shares = true;
  if (!c.t.process->parallel) become_serial(*c.t.process);
  else if (!apart) pages_are_there(object, (offset + page_up(length)) / kPage);
  return result;
}

long handle_mmap(Call& c) {
  u64 address = c.a[0], length = c.a[1], offset = c.a[5];
  int prot = (int)c.a[2], flags = (int)c.a[3], fd = (i32)c.a[4];
  bool anonymous = flags & kMapAnonymous;
  bool shared_file = !anonymous && (flags & kMapTypeMask) != kMapPrivate;
  if (flags & kMapFixed) forget_shared_places();
  // Replay cannot share a file with anybody: it maps memory of its own and fills it from the log.
  if (!g.replay) {
    if (anonymous) {
      long result = raw(c);
      record_address(c, result, 0);
      if (!is_error(result) && (flags & kMapTypeMask) != kMapPrivate) c.t.process->shares = true;
      return result;
    }
    if (is_own_fd(fd)) fd = -1;
    if (shared_file && ((get_fd(fd).flags & kFdWritable) || shared_object_of(fd))) {
      OptionalLock lock(c.t.process->parallel ? &g.stage.header().share_lock : nullptr, c.t.tid);
      share_file(c.t, fd);
      long result = raw(c);
      record_result(c, result, shared_file_outs);
      return result;
    }
    u32 id = fd >= 0 ? file_id(fd, prot & kProtExec ? stage::kWantCode : stage::kWantData) : 0;
    bool patched = false;
    long result = map_file(address, length, prot, flags, fd, offset, id, patched);
    c.t.shared_object = 0;
    if (!is_error(result) && !id) record_result(c, result, shared_file_outs);
    else record_address(c, result, id, patched);
    return result;
  }
  Shape shape = expect_item(c, 1 << (int)Shape::kAddress | 1 << (int)Shape::kOut);
  int fixed = flags & kMapFixed ? 0 : kMapFixedNoReplace;
  if (shape == Shape::kOut) {
    u64 size;
    long at = finish_shared_mapping(c, length, prot, offset, size);
    if (!is_error(at)) note_remapped((u64)at, length);
    return at;
  }
  long result = (long)c.log().read_varint();
  u32 file = (u32)c.log().read_varint();
  expect_check(c);
  if (is_error(result)) return result;
  long now;
  if (anonymous) {
    now = sys(__NR_mmap, result, length, prot, flags | fixed, -1, 0);
  } else {
    int kept = (flags & ~kMapTypeMask) | kMapPrivate | fixed;
    bool patched = file & 1;
    now = map_file((u64)result, length, prot, kept, -1, offset, file / 2, patched);
  }
  if (anonymous && (flags & kMapTypeMask) != kMapPrivate) c.t.process->shares = true;
  note_remapped((u64)result, length);
  compare_address(c, result, now);
  return result;
}

namespace {
/// Executed in both modes with the same result.
long same_in_both(Call& c) {
  if (!g.replay) {
    long result = raw(c);
    record_result(c, result);
    return result;
  }
  long result = replay_result(c);
  if (!is_error(result)) {
    long now = raw(c);
    if (now != result) diverge(c.t, Cause::kMemory, "memory call with another result", result, now, call_name(c.number));
  }
  return result;
}
}  // namespace

long handle_munmap(Call& c) {
  forget_shared_places();
  long result = same_in_both(c);
  if (g.replay && !is_error(result)) note_remapped(c.a[0], c.a[1]);
  return result;
}
long handle_mprotect(Call& c) { return same_in_both(c); }

namespace {
/// Not DONTNEED, REMOVE and FREE, but what a child of fork finds there, or what faults.
bool changes_later(int advice) {
  return (advice >= 10 && advice <= 11) || (advice >= 18 && advice <= 19)  // DONTFORK, DOFORK, WIPEONFORK, KEEPONFORK
         || (advice >= 102 && advice <= 103);                              // GUARD_INSTALL, GUARD_REMOVE
}
}  // namespace

long handle_madvise(Call& c) {
  // What matters for the contents of memory is done again; the rest is advice.
  int advice = (int)c.a[2];
  constexpr int kDontNeedLocked = 24;
  bool drops = advice == 4 || advice == 9 || advice == 8 || advice == kDontNeedLocked;  // DONTNEED, REMOVE, FREE
  drops |= changes_later(advice);
  if (!g.replay) {
    // FREE leaves it to chance when the bytes vanish; DONTNEED does not.
    long result = advice == 8 ? sys(__NR_madvise, c.a[0], c.a[1], 4) : raw(c);
    record_result(c, result);
    return result;
  }
  long result = replay_result(c);
  if (!is_error(result) && drops) {
    sys(__NR_madvise, c.a[0], c.a[1], advice == 8 ? 4 : advice);
    note_remapped(c.a[0], c.a[1]);
  }
  return result;
}

long handle_mremap(Call& c) {
  forget_shared_places();
  if (!g.replay) {
    long result = raw(c);
    record_address(c, result, 0);
    return result;
  }
  u32 id;
  long result = replay_address(c, id);
  if (is_error(result)) return result;
  u64 flags = c.a[3];
  long now;
  if ((u64)result != c.a[0]) {
    now = sys(__NR_mremap, c.a[0], c.a[1], c.a[2], flags | 1 | 2, result);  // MAYMOVE | FIXED
  } else {
    now = sys(__NR_mremap, c.a[0], c.a[1], c.a[2], flags & ~(u64)3, 0);
  }
  note_remapped(c.a[0], c.a[1]);
  note_remapped((u64)result, c.a[2]);
  compare_address(c, result, now);
  return result;
}

/// The kernel's break belongs to the runtime's image, so the program's is ours: anonymous memory behind its data.
long handle_brk(Call& c) {
  Process& p = *c.t.process;
  u64 wanted = c.a[0];
  long result = (long)p.brk_end;
  auto set = [&](u64 end) -> bool {
    u64 from = page_up(p.brk_end), to = page_up(end);
    if (to > from) {
      long at = sys(__NR_mmap, from, to - from, kProtRead | kProtWrite,
                    kMapPrivate | kMapAnonymous | kMapFixedNoReplace, -1, 0);
      if (at != (long)from) {
        if (!is_error(at)) sys(__NR_munmap, at, to - from);
        return false;
      }
    } else if (to < from) {
      sys(__NR_munmap, to, from - to);
    }
    if (g.replay) note_remapped(min(from, to), max(from, to) - min(from, to));
    p.brk_end = end;
    return true;
  };
  if (!g.replay) {
    if (wanted >= p.brk_start && set(wanted)) result = (long)wanted;
    record_address(c, result, 0);
    return result;
  }
  u32 id;
  long recorded = replay_address(c, id);
  if (recorded == (long)wanted && wanted >= p.brk_start && set(wanted)) result = (long)wanted;
  compare_address(c, recorded, result);
  return result;
}

}  // namespace pastcone::runtime
