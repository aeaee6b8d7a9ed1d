#include "thread.h"

#include "call.h"
#include "horizon.h"
#include "text.h"
#include "waits.h"

namespace pastcone::runtime {

void* far_map(u64 size, int prot, int flags, int fd, u64 offset) {
  if (!size) return nullptr;
  u64 at = add(g.far_next, page_up(size) + kPage);
  count_own_memory(process(), (i64)page_up(size));
  long result = sys(__NR_mmap, at, size, prot, flags | kMapFixedNoReplace, fd, offset);
  if (!is_error(result)) return (void*)result;
  count_own_memory(process(), -(i64)page_up(size));
  return nullptr;
}

void far_unmap(void* address, u64 size) {
  sys(__NR_munmap, address, page_up(size));
  count_own_memory(process(), -(i64)page_up(size));
}

namespace {
Thread* thread_in(u32 slot) { return (Thread*)(kSlotsBase + slot * kSlotSize + kSlotThread); }

/// A slot whose thread is gone; ~0: there is none.
u32 find_left_slot() {
  for (u32 i = 0; i < 1024 && g.slots_used[i]; ++i)
    for (u64 left = load(g.slots_left[i]); left; left &= left - 1) {
      u32 slot = i * 64 + (u32)__builtin_ctzll(left);
      if (load(thread_in(slot)->exited)) continue;
      __atomic_fetch_and(&g.slots_left[i], ~(u64{1} << (slot % 64)), __ATOMIC_ACQ_REL);
      return slot;
    }
  return ~0u;
}
}  // namespace

Thread* allocate_thread(Process* process, u32 number) {
  while (!swap_if(g.slot_lock, 0u, 1u)) __builtin_ia32_pause();
  u32 slot = find_left_slot();
  bool left = slot != ~0u;
  for (u32 i = 0; i < 1024 && slot == ~0u; ++i)
    if (~g.slots_used[i]) {
      slot = i * 64 + (u32)__builtin_ctzll(~g.slots_used[i]);
      g.slots_used[i] |= u64{1} << (slot % 64);
    }
  store(g.slot_lock, 0u);
  if (slot == ~0u) return nullptr;
  u64 base = kSlotsBase + slot * kSlotSize;
  if (!left) count_own_memory(*process, kSlotSize);
  long mapped = sys(__NR_mmap, base + kPage, kSlotSize - kPage, kProtRead | kProtWrite,
                    kMapPrivate | kMapAnonymous | kMapFixed | kMapNoReserve, -1, 0);
  if (is_error(mapped)) return nullptr;
  auto* t = thread_in(slot);
  t->self = t;
  t->slot = slot;
  t->stack_top = base + kSlotStack - 64;
  t->process = process;
  t->number = number;
  return t;
}

void release_thread(Thread* thread) {
  u32 slot = thread->slot;
  sys(__NR_munmap, kSlotsBase + slot * kSlotSize, kSlotSize);
  count_own_memory(process(), -(i64)kSlotSize);
  while (!swap_if(g.slot_lock, 0u, 1u)) __builtin_ia32_pause();
  g.slots_used[slot / 64] &= ~(u64{1} << (slot % 64));
  store(g.slot_lock, 0u);
}

void leave_slot(Thread& t) {
  if (!load(t.exited)) return;  // a process's first thread: nobody will say when it is gone
  __atomic_fetch_or(&g.slots_left[t.slot / 64], u64{1} << (t.slot % 64), __ATOMIC_ACQ_REL);
}

void enter_thread(Thread* thread) {
  sys(__NR_arch_prctl, 0x1001, thread);  // ARCH_SET_GS
  struct {
    u64 address;
    i32 flags;
    u64 size;
  } stack{kSlotsBase + thread->slot * kSlotSize + kPage, 0, kSlotStack - kPage};
  sys(__NR_sigaltstack, &stack, 0);
}

void arm_dispatch() {
  if (g.stage.header().flags & stage::kFlagNoDispatch) return;
  u64 begin = page_down((u64)runtime_text_begin), end = page_up((u64)runtime_text_end);
  g.dispatch = !is_error(sys(__NR_prctl, 59, 1, begin, end - begin, 0));
}

bool is_gone(u32 tid) {
  char path[40], text[300];
  Text(path, sizeof path) << "/proc/" << tid << "/stat";
  long fd = sys(__NR_open, path, 02000000, 0);
  if (is_error(fd)) return sys(__NR_tkill, tid, 0) == -ESRCH;  // perhaps there is no /proc: in a chroot
  long n = sys(__NR_read, fd, text, sizeof text - 1);
  sys(__NR_close, fd);
  if (n <= 0) return true;
  text[n] = 0;
  char* end = text + n;
  while (end > text && *end != ')') --end;
  return end[0] == ')' && (end[2] == 'Z' || end[2] == 'X');
}

bool has_capability(u32 number) {
  struct { u32 version; i32 pid; } header{0x20080522, 0};  // _LINUX_CAPABILITY_VERSION_3
  struct { u32 effective, permitted, inheritable; } sets[2]{};
  return !sys(__NR_capget, &header, sets) && (sets[0].effective >> number & 1);
}

void record_start(Thread& t, u32 parent_process, u32 parent_thread, u64 parent_event, u8 flags) {
  Timespec now{};
  sys(__NR_clock_gettime, 0, &now);
  Log& log = t.log;
  log.begin();
  log.byte((u8)Op::kStart);
  log.varint(t.process->pid);
  log.varint(t.tid);
  log.varint(parent_process);
  log.varint(parent_thread);
  log.varint(parent_event);
  log.byte(flags);
  log.varint((u64)now.seconds * 1'000'000'000 + (u64)now.nanoseconds);
  ++log.event_count;
  log.commit();
}

void map_feed(Thread& t) {
  auto& slot = slot_of(t);
  int fd = own_fd(stage::kFdTrace);
  Log& log = t.log;
  log.events.end = slot.events_size;
  log.data.end = slot.data_size;
  log.data_ready = &slot.data_ready;
  log.events.base = (char*)far_map(slot.events_size, kProtRead, kMapShared, fd, slot.events_offset);
  log.data.base = (char*)far_map(slot.data_size, kProtRead, kMapShared, fd, slot.data_offset);
  if (!log.events.base) log.events.at = log.events.end = 0;
  if (!log.data.base) log.data.at = log.data.end = 0;
  log.locks.end = slot.locks_size;
  log.locks.base = (char*)far_map(slot.locks_size, kProtRead, kMapShared, fd, slot.locks_offset);
  if (!log.locks.base) log.locks.at = log.locks.end = 0;
  t.next_event = &slot.event;
  note_next_event(t);
}

void expect_replay_thread(u32 process, u32 thread) {
  auto& slot = g.stage.thread(g.stage.process(process).first_thread + thread - 1);
  store(slot.state, (u32)stage::ThreadState::kRunning);
  add(g.stage.header().live_threads, 1u);
}

void begin_replay_thread(Thread& t) {
  t.log = Log{};
  auto& slot = slot_of(t);
  if (load(slot.state) == (u32)stage::ThreadState::kNone) expect_replay_thread(t.process->number, t.number);
  store(slot.tid, (u32)sys(__NR_gettid));
  map_feed(t);
  park_on_entering(t);
  Log& log = t.log;
  if (log.at_end()) end_of_log(t);
  if (log.read_byte() != (u8)Op::kStart) diverge(t, Cause::kFlow, "the recording of this thread does not start with its start");
  u32 pid = (u32)log.read_varint();
  t.tid = (u32)log.read_varint();
  t.process->pid = pid;
  for (int i = 0; i < 3; ++i) log.read_varint();
  log.read_byte();
  log.read_varint();
  ++log.event_count;
  note_next_event(t);
}

}  // namespace pastcone::runtime
