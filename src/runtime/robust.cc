#include "robust.h"

#include "call.h"
#include "shared_places.h"
#include "turn.h"
#include "waits.h"

namespace pastcone::runtime {
namespace {
constexpr u32 kWaiters = 0x80000000, kOwnerDied = 0x40000000, kOwner = 0x3fffffff;
constexpr int kMostMutexes = 2048;  // as the kernel
}  // namespace

void release_robust_mutexes(Thread& t) {
  if (t.process->parallel && g.replay) return release_robust_of(t);
  struct { u64 next, offset, pending; } head;
  if (!t.robust_list || !read_memory(head, t.robust_list)) return;
  auto release = [&](u64 entry) {
    u64 word_at = (entry & ~u64{1}) + head.offset;
    u32 word;
    if (!entry || !read_memory(word, word_at) || (word & kOwner) != t.tid) return;
    u32 died = (word & kWaiters) | kOwnerDied;
    write_memory(word_at, &died, 4);
    if ((word & kWaiters) && !g.replay) sys(__NR_futex, word_at, kFutexWake, 1, 0, 0, 0);
  };
  u64 entry = head.next;
  for (int i = 0; i < kMostMutexes && entry && (entry & ~u64{1}) != t.robust_list; ++i) {
    u64 next;
    if (!read_memory(next, entry & ~u64{1})) break;
    release(entry);
    entry = next;
  }
  release(head.pending);
}

namespace {
/// Replay in parallel: what the other threads did before the end counts for all who share memory with them, and so they are let go on
/// to where their recordings end; unless nothing happens any more.
void let_others_finish(Thread& t) {
  constexpr int kIdle = 10'000, kComputing = 500;
  const Timespec pause{0, 200'000};
  auto& header = g.stage.header();
  auto& process = g.stage.process(t.process->number);
  give_back_turn(t);
  for (u32 i = 0; i < process.thread_count; ++i) {
    auto& slot = g.stage.thread(process.first_thread + i);
    if (&slot == &slot_of(t)) continue;
    u32 progress = load(header.progress);
    for (int idle = 0, computing = 0; idle < kIdle && computing < kComputing && !load(header.give_up); ++idle) {
      auto state = (stage::ThreadState)load(slot.state);
      if (state != stage::ThreadState::kRunning && state != stage::ThreadState::kWaiting) break;
      if (state == stage::ThreadState::kWaiting && load(slot.wait_kind) == (u32)stage::WaitKind::kHorizon) break;
      bool done = load(slot.operations_done) >= slot.operations;
      if (done && state == stage::ThreadState::kWaiting) break;
      computing += done;
      if (load(header.progress) != progress) idle = 0;
      progress = load(header.progress);
      sys(__NR_nanosleep, &pause, nullptr);
    }
  }
}
}  // namespace

void release_all_robust_mutexes(Thread& t) {
  if (t.process->parallel) {  // no order but that of who gets it next
    if (g.replay && t.process->shares) let_others_finish(t);
    if (g.replay) release_robust_of_process(t);
    return;
  }
  for (u32 i = 0; i < 1024; ++i)
    for (u64 used = load(g.slots_used[i]) & ~load(g.slots_left[i]); used; used &= used - 1) {
      auto& other = *(Thread*)(kSlotsBase + (i * 64 + (u64)__builtin_ctzll(used)) * kSlotSize + kSlotThread);
      if (other.process == t.process) release_robust_mutexes(other);
    }
}

bool is_of_dead(u64 futex) {
  u32 word;
  return read_memory(word, futex) && (word & kOwnerDied) && !(word & kOwner);
}

}  // namespace pastcone::runtime
