#include "cores.h"

#include "waits.h"

namespace pastcone::runtime {
namespace {

constexpr u32 kMaskWords = stage::kCores / 64;
constexpr u32 kNone = ~0u;
u64 allowed[kMaskWords];  ///< the cores that this run may use
u32 allowed_known;

bool find_rdpid() {
  u32 a = 0, b, c = 0, d;
  asm volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  if (a < 7) return false;
  a = 7, c = 0;
  asm volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  return c >> 22 & 1;
}

u32 this_core() {
  constexpr u32 kNodeSegment = 0x7b;  // its limit is what the kernel tells getcpu by
  static u8 has_rdpid;                // 1: no, 2: yes
  if (!has_rdpid) has_rdpid = 1 + find_rdpid();
  u64 value = 0;
  if (has_rdpid == 2) asm volatile("rdpid %0" : "=r"(value));
  else asm volatile("lsl %1, %k0" : "+r"(value) : "r"(kNodeSegment));
  u32 core = value & 0xfff;
  return core < stage::kCores ? core : kNone;
}

u32& last_on(u32 core) { return g.stage.header().last_on_core[core]; }

/// Whether this thread (Thread::me) has run there and not slept since, nor run elsewhere.
bool is_on(u32 thread, u32 core) {
  if (!thread) return false;
  auto& slot = g.stage.thread(g.stage.process(thread >> 16).first_thread + (thread & 0xffff) - 1);
  return load(slot.core) == core + 1;
}

void enter(Thread& t, u32 core) {
  auto& slot = slot_of(t);
  if (slot.core != core + 1) store(slot.core, core + 1);
  if (load(last_on(core)) != t.me) store(last_on(core), t.me);
}

/// A core where nobody of this run is, which the thread then has.
u32 claim_core(Thread& t) {
  if (!load(allowed_known)) {
    sys(__NR_sched_getaffinity, 0, sizeof allowed, allowed);
    store(allowed_known, 1u);
  }
  for (u32 i = 0; i < kMaskWords; ++i)
    for (u64 left = allowed[i]; left; left &= left - 1) {
      u32 core = i * 64 + (u32)__builtin_ctzll(left), last = load(last_on(core));
      if (!is_on(last, core) && swap_if(last_on(core), last, t.me)) return core;
    }
  return kNone;
}

void move_away(Thread& t) {
  u32 core = claim_core(t);
  if (core == kNone) return;
  enter(t, core);  // before it is there: the other one need not move too
  u64 one[kMaskWords] = {};
  one[core / 64] = u64{1} << core % 64;
  sys(__NR_sched_setaffinity, 0, sizeof one, one);
  sys(__NR_sched_setaffinity, 0, sizeof allowed, allowed);
}

}  // namespace

void note_core(Thread& t) {
  u32 core = this_core();
  if (core != kNone) enter(t, core);
}

void let_others_run(Thread& t) {
  constexpr i32 kBeforeMoving = 3, kBeforeNext = 30;  // moving takes longer than to yield a few times
  // Where only strangers would run instead, it is not done often: they keep the core for long.
  constexpr u32 kAlone = 4, kPauses = 20;
  if (t.alone && --t.alone) {
    for (u32 i = 0; i < kPauses; ++i) __builtin_ia32_pause();
    return;
  }
  sys(__NR_sched_yield);
  u32 core = this_core();
  if (core == kNone) return;
  u32 last = load(last_on(core));
  enter(t, core);
  bool alone = last == t.me || !is_on(last, core);
  t.alone = alone ? kAlone : 0;
  if (alone) t.crowded = min(t.crowded, 0);
  else if (++t.crowded >= kBeforeMoving) {
    t.crowded = -kBeforeNext;
    move_away(t);
  }
}

}  // namespace pastcone::runtime
