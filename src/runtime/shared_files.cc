#include "shared_files.h"

#include "addresses.h"
#include "channels.h"
#include "handlers.h"
#include "objects.h"
#include "pastcone/stage/shared_room.h"
#include "turn.h"

namespace pastcone::runtime {
namespace {

constexpr u64 kSharedObjects = stage::kSharedMemories;

/// To wait for its pages.
ObjectState& state_of_memory(u64 object) {
  static_assert(sizeof(stage::SharedMemory) == sizeof(ObjectState));
  char* at = (char*)&g.stage.header().shared_memory[object];
  return *(ObjectState*)at;
}

void write_shared_position(Call& c, u32 object, u64 position) {
  Log& log = c.log();
  log.begin();
  log.byte((u8)Op::kOrder);
  log.varint(object);
  log.varint(position);
  log.commit();
}

/// Replay: the object that the next event changes, and where; 0: none.
u64 read_shared_position(Call& c, u64& position) {
  take_turn_before(c.t);
  Log& log = c.log();
  if (log.peek() != Op::kOrder) return 0;
  log.read_byte();
  u64 object = log.read_varint();
  position = log.read_varint();
  return object;
}

/// Record: the object that a call is about to change. Those who have it mapped see that, so the call happens in their turn.
u32 about_to_change(Call& c) {
  if (!load(g.stage.header().next_group)) return 0;
  u32 object = shared_object_of((int)c.fd());
  if (object && !c.t.process->parallel) share_file(c.t, (int)c.fd());
  return object;
}

}  // namespace

/// The handle has a generation where there is one; some containers forbid to ask for it. The time of birth is as coarse as the
/// kernel's ticks.
u64 file_identity(int fd, const Stat& s) {
  constexpr int kEmptyPath = 0x1000, kHandleFid = 0x200;
  constexpr u32 kBirthTime = 0x800, kGetGeneration = 0x80087601;  // FS_IOC_GETVERSION
  struct {
    u32 mask, filler[19];
    i64 birth;
    u32 birth_ns, more[41];
  } extended{};
  static_assert(sizeof extended == 256);
  struct {
    u32 size;
    i32 type;
    char bytes[128];
  } handle{sizeof handle.bytes, 0, {}};
  i32 mount;
  Hash h;
  h.mix(s.dev);
  h.mix(s.ino);
  if (!sys(__NR_statx, fd, "", kEmptyPath, kBirthTime, &extended) && (extended.mask & kBirthTime)) {
    h.mix((u64)extended.birth);
    h.mix(extended.birth_ns);
  }
  if (!sys(__NR_name_to_handle_at, fd, "", &handle, &mount, kEmptyPath | kHandleFid) ||
      !sys(__NR_name_to_handle_at, fd, "", &handle, &mount, kEmptyPath))
    h.bytes(handle.bytes, min<u64>(handle.size, sizeof handle.bytes));
  else if (u64 generation = 0; (s.mode & kModeType) == kModeRegular && !sys(__NR_ioctl, fd, kGetGeneration, &generation))
    h.mix(generation);
  return h.state;
}

void share_object(Thread& t, u64 group_key, u64 object_key) {
  t.process->shares = true;
  if (t.process->parallel) {  // its order is kept by what the program does about it
    u32 object = find_address(object_key);
    if (!object) put_address(object_key, object = add(g.stage.header().next_group, 1u) + 1);
    t.shared_object = object < kSharedObjects ? object : 0;
    return;
  }
  become_serial(*t.process);
  u32 group, object;
  {
    SharedLock lock(g.stage.header().share_lock, t.tid);
    group = find_address(group_key);
    if (!group) put_address(group_key, group = t.process->group);
    object = find_address(object_key);
    if (!object) put_address(object_key, object = add(g.stage.header().next_group, 1u) + 1);
  }
  // The group that was there first may have become part of another since.
  while (u32 merged = load(g.stage.group(group).merged)) group = merged - 1;
  join_group(t, group);
  t.shared_object = object < kSharedObjects ? object : 0;
}

void share_file(Thread& t, int fd) {
  Stat s{};
  sys(__NR_fstat, fd, &s);
  u64 identity = file_identity(fd, s);
  put_address(address_key(KeyOf::kFileNumber, s.dev, s.ino), 1);
  share_object(t, address_key(KeyOf::kFileGroup, identity), address_key(KeyOf::kFile, identity));
}

u32 shared_object_of(int fd) {
  Stat s{};
  if (sys(__NR_fstat, fd, &s) || !find_address(address_key(KeyOf::kFileNumber, s.dev, s.ino))) return 0;
  u32 object = find_address(address_key(KeyOf::kFile, file_identity(fd, s)));
  return object < kSharedObjects ? object : 0;
}

u64 pages_kept(u64 object, u64 from, u64 until) {
  auto& memory = g.stage.header().shared_memory[object];
  if (!memory.first) {
    memory.first = (u32)from + 1;
    memory.pages = until;
    return 0;
  }
  if (from + 1 < memory.first || from > memory.pages) return kApart;
  u64 kept = min(memory.pages, until) - from;
  memory.pages = max(memory.pages, until);
  return kept;
}

void await_pages(Thread& t, u64 object, u64 until) {
  ObjectState& state = state_of_memory(object);
  await(state, object, true, until, [&] { return load(state.version) >= until; });
  index_point(t, stage::FactKind::kPagesAwaited, object, until);
}

void pages_are_there(u64 object, u64 until) {
  index_point(current(), stage::FactKind::kPagesThere, object, until);
  ObjectState& state = state_of_memory(object);
  for (u64 now = load(state.version); now < until && !swap_if(state.version, now, until);) now = load(state.version);
  announce(state, object, true);
}

u64 shared_place(u64 object, u64 position) { return stage::kSharedBase + object * stage::kSharedRoom + position; }

long record_file_write(Call& c) {
  u32 object = about_to_change(c);
  long result = raw(c);
  if (object && result > 0) {
    bool positioned = c.number == __NR_pwrite64 || c.number == __NR_pwritev;
    write_shared_position(c, object, positioned ? c.a[3] : (u64)sys(__NR_lseek, c.fd(), 0, 1) - (u64)result);
  }
  record_result(c, result);
  return result;
}

long replay_file_write(Call& c, const Buffers& buffers) {
  u64 position = 0, object = read_shared_position(c, position);
  long result = replay_result(c);
  if (object && result > 0) {
    if (c.t.process->parallel) await_pages(c.t, object, 1);
    u64 at = shared_place(object, position);
    each_part(buffers, (u64)result, [&](u64 base, u64 n) {
      sys(__NR_pwrite64, own_fd(stage::kFdStore), base, n, at);
      at += n;
    });
  }
  return result;
}

long handle_ftruncate(Call& c) {
  constexpr int kPunchHole = 3;  // and keep the size
  if (!g.replay) {
    u32 object = about_to_change(c);
    long result = raw(c);
    if (object && !result) write_shared_position(c, object, c.a[1]);
    record_result(c, result);
    return result;
  }
  u64 position = 0, object = read_shared_position(c, position);
  long result = replay_result(c);
  // What lay behind the end is gone, also should the file grow again.
  if (object && c.t.process->parallel) await_pages(c.t, object, 1);
  if (object && position < stage::kSharedRoom)
    sys(__NR_fallocate, own_fd(stage::kFdStore), kPunchHole, shared_place(object, position), stage::kSharedRoom - position);
  return result;
}

}  // namespace pastcone::runtime
