#include "objects.h"

#include "channels.h"
#include "pastcone/patch/abi.h"
#include "signal_frame.h"
#include "text.h"
#include "waits.h"

namespace pastcone::runtime {

void let_signals_in(Thread& t) {
  if (load(t.interrupt)) runtime_signal_point();
  allow_fast_path(t);
}

TableState object_table[kTableSize];

TableState& find_state(TableState* table, u32 size, u64 key) {
  for (u32 i = 0;; ++i) {
    TableState& s = table[(key / 4 * 0x9e3779b1 + i) % size];
    u64 held = load(s.address);
    if (held == key) return s;
    if (!held && swap_if(s.address, u64{0}, key)) return s;
    if (load(s.address) == key) return s;
    if (i == size) return s;  // full: shares an entry, which orders more than needed
  }
}

TableState& table_state(u64 address) { return find_state(object_table, kTableSize, address); }

void begin_anew(Thread& t, ObjectState& s) {
  constexpr u32 kBusy = ~0u;
  for (;;) {
    u32 last = load(s.last);
    if (last != kBusy && !(last && (last ^ t.me) >> 16)) return;
    if (last == kBusy || !swap_if(s.last, last, kBusy)) continue;
    s.version = 0;
    store(s.last, 0u);
    return;
  }
}

void find_caller(Thread& t, Frame& frame, const void* pointer) {
  auto* f = (const u64*)pointer;
  while (in_runtime(f[1])) f = (const u64*)f[0];
  frame.rip = f[1];
  frame.rsp = (u64)(f + 2);
  frame.rbp = f[0];
  t.frame = &frame;
}

namespace {
void name_thread(Text& text, u32 me) {
  if (!me) text << "nobody";
  else text << "p" << (me >> 16) << "." << (me & 0xffff);
}

/// The runtime's own stand for what libc has locks for: the heap and more.
Text& name_lock(Text& text, u64 address) {
  if (address >= patch::kRuntimeBase && address < patch::kRuntimeEnd) return text << "a lock inside libc";
  return (text << "the lock at 0x").hex(address);
}
}  // namespace

void diverge_additional(Thread& t, u64 address) {
  Frame frame{};
  find_caller(t, frame, __builtin_frame_address(0));
  char now[64];
  Text text(now, sizeof now);
  name_lock(text, address);
  diverge(t, Cause::kOrder, "one more use of a lock", "the thread's last was before", now);
}

void diverge_order(Thread& t, u64 address, const char* what, i64 recorded, i64 now) {
  Frame frame{};
  find_caller(t, frame, __builtin_frame_address(0));
  char detail[64];
  Text text(detail, sizeof detail);
  name_lock(text, address);
  diverge(t, Cause::kOrder, what, recorded, now, detail);
}

void diverge_owner(Thread& t, u64 address, u32 last) {
  Frame frame{};
  find_caller(t, frame, __builtin_frame_address(0));
  char what[96], was[32], is[32];
  Text text(what, sizeof what);
  text << "another thread had ";
  name_lock(text, address) << " last";
  Text before(was, sizeof was), now(is, sizeof is);
  name_thread(before, t.me);
  name_thread(now, last);
  diverge(t, Cause::kOrder, what, was, is);
}

u32& object_futex(u64 address, bool shared) {
  auto& futexes = g.stage.header().object_futexes;
  return futexes[shared ? 0 : 1 + (address >> 3 ^ address >> 11) % (stage::kObjectFutexes - 1)];
}

void wait_object(ObjectState& s, u64 address, bool shared, u64 version, bool (*ready)(void*), void* argument) {
  for (int i = 0; i < 2000; ++i) {
    if (ready(argument)) return;
    sys(__NR_sched_yield);
  }
  u32& futex = object_futex(address, shared);
  begin_wait(stage::WaitKind::kOrder, address, version);
  add(s.waiters, 1u);
  for (;;) {
    u32 seen = load(futex);
    if (ready(argument)) break;
    if (load(g.stage.header().give_up)) abandon_wait();
    futex_wait(futex, seen);
  }
  add(s.waiters, -1);
  end_wait();
}

namespace {
stage::ObjectBucket& bucket_of(u64 address) {
  return g.stage.header().object_buckets[(address >> 3 ^ address >> 11) % stage::kObjectFutexes];
}

/// Another process may have an object at the same address.
u64 key_of(Thread& t, u64 address) { return address ^ (u64)t.heap_owner->process->number << 48; }

/// With the bucket's lock: the least version that is waited for.
void set_least(ObjectState& s, stage::ObjectBucket& bucket, u64 key) {
  u64 least = ~u64{0};
  for (auto& w : bucket.waiters)
    if (w.address == key) least = min(least, w.version);
  store(s.waiters, least == ~u64{0} ? 0 : (u32)least + 1);
}
}  // namespace

void wait_for_version(Thread& t, ObjectState& s, u64 address, u64 version, bool (*ready)(void*), void* argument) {
  auto& bucket = bucket_of(address);
  u64 key = key_of(t, address);
  stage::ObjectWaiter* mine = nullptr;
  u32 seen = 0;
  {
    SharedLock lock(bucket.lock, t.tid);
    for (auto& w : bucket.waiters)
      if (!w.address) {
        mine = &w;
        seen = load(w.futex);
        w.version = version;
        store(w.address, key);
        set_least(s, bucket, key);
        break;
      }
  }
  if (!mine) {  // more wait here than there is room for
    while (!ready(argument)) sys(__NR_sched_yield);
    return;
  }
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (ready(argument)) {
    SharedLock lock(bucket.lock, t.tid);
    if (mine->address == key && mine->version == version) {
      store(mine->address, u64{0});
      set_least(s, bucket, key);
    }
    return;
  }
  begin_wait(stage::WaitKind::kOrder, address, version);
  while (load(mine->futex) == seen) futex_wait(mine->futex, seen);
  if (load(g.stage.header().give_up)) abandon_wait();
  end_wait();
  // Woken at the right moment; unless somebody takes what is not his, there is nothing left to wait for.
  while (!ready(argument)) sys(__NR_sched_yield);
}

void wake_for_version(ObjectState& s, u64 address) {
  auto& bucket = bucket_of(address);
  u64 key = key_of(current(), address);
  stage::ObjectWaiter* woken = nullptr;
  {
    SharedLock lock(bucket.lock, current().tid);
    for (auto& w : bucket.waiters)
      if (w.address == key && w.version == s.version) {
        woken = &w;
        store(w.address, u64{0});
        add(w.futex, 1u);
        break;
      }
    set_least(s, bucket, key);
  }
  if (!woken) return;
  add(g.stage.header().progress, 1u);
  futex_wake(woken->futex);
}

void announce(ObjectState& s, u64 address, bool shared) {
  if (!load(s.waiters)) return;
  u32& futex = object_futex(address, shared);
  add(futex, 1u);
  add(g.stage.header().progress, 1u);
  futex_wake(futex);
}

}  // namespace pastcone::runtime
