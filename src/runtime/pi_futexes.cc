// Futexes with priority inheritance. The kernel changes the word while their owner computes: it sets a bit when somebody begins to
// wait, and gives the lock away. Where one thread runs at a time all that has to happen at moments that are part of the order, so
// it is done here, by the thread that has the turn; who gets the lock next is the first that waits.
#include "call.h"
#include "handlers.h"
#include "turn.h"

namespace pastcone::runtime {
namespace {

constexpr u32 kWaiters = 0x80000000, kOwner = 0x3fffffff;  // and kOwnerDied, which stays
constexpr u64 kLockPi = 6, kUnlockPi = 7, kTryLockPi = 8, kWaitBitset = 9, kAnyBit = 0xffffffff;

void word_outs(Exchange& x, const u64* a, long) { x.out(a[0], 4); }

/// The lock is free, and is the thread's now.
bool take(Call& c, u32 word) {
  if (word & kOwner) return false;
  u32 mine = (word & ~kOwner) | c.t.tid;
  return write_memory(c.a[0], &mine, 4);
}

/// Whoever is killed wakes nobody here, so the wait is made of short ones. Returns -EAGAIN where the caller's time is not over.
long wait_a_while(Call& c, u64 how, u32 word) {
  Timespec until{}, limit;
  sys(__NR_clock_gettime, how ? 0 : 1, &until);
  until.nanoseconds += 50'000'000;
  if (until.nanoseconds >= 1'000'000'000) {
    until.nanoseconds -= 1'000'000'000;
    ++until.seconds;
  }
  bool limited = c.a[3];
  if (limited && !read_memory(limit, c.a[3])) return -EFAULT;
  auto before = [](const Timespec& a, const Timespec& b) {
    return a.seconds < b.seconds || (a.seconds == b.seconds && a.nanoseconds < b.nanoseconds);
  };
  limited = limited && before(limit, until);
  Call wait = c;
  u64 arguments[6] = {c.a[0], kWaitBitset | how, word, limited ? c.a[3] : (u64)&until, 0, kAnyBit};
  memcpy(wait.a, arguments, sizeof arguments);
  long result = raw_blocking(wait);
  return result == -ETIMEDOUT && !limited ? -EAGAIN : result;
}

/// FUTEX_LOCK_PI and FUTEX_LOCK_PI2: who finds it taken has set kWaiters before, and as long as that is set nobody gets it but here.
long lock(Call& c) {
  u64 how = (c.a[1] & 0x7f) == kLockPi ? kFutexRealtime : c.a[1] & kFutexRealtime;
  for (;;) {
    u32 word;
    if (!read_memory(word, c.a[0])) return -EFAULT;
    if ((word & kOwner) == c.t.tid) return -EDEADLK;
    if (take(c, word)) return 0;
    add(group_of(c.t).pi_waiters, 1u);
    long result = wait_a_while(c, how, word);
    add(group_of(c.t).pi_waiters, -1u);
    end_hand_over(c.t, c.a[0]);
    if (result == -ETIMEDOUT || result == -EFAULT || result == -EINVAL) return result;
    if (result && result != -EAGAIN) return kRestartAlways;  // it never says that it was interrupted
  }
}

long try_lock(Call& c) {
  u32 word;
  if (!read_memory(word, c.a[0])) return -EFAULT;
  return take(c, word) ? 0 : -EAGAIN;
}

long unlock(Call& c) {
  u32 word;
  if (!read_memory(word, c.a[0])) return -EFAULT;
  if ((word & kOwner) != c.t.tid) return -EPERM;
  // A waiter may not have begun to sleep, or not have the turn yet.
  word = load(group_of(c.t).pi_waiters) ? kWaiters : 0;
  write_memory(c.a[0], &word, 4);
  if (word && sys(__NR_futex, c.a[0], kFutexWake, 1, 0, 0, 0) > 0) begin_hand_over(c.t, c.a[0]);
  return 0;
}

/// On entering the call, while the thread has the turn still: in both modes.
void begin_to_wait(Call& c) {
  u32 word;
  if (!read_memory(word, c.a[0]) || !(word & kOwner) || (word & kOwner) == c.t.tid) return;
  word |= kWaiters;
  write_memory(c.a[0], &word, 4);
}

}  // namespace

long handle_pi_futex(Call& c) {
  switch (c.a[1] & 0x7f) {
    case kUnlockPi: return logged(c, unlock, word_outs);
    case kTryLockPi: return logged(c, try_lock, word_outs);
    default: begin_to_wait(c); return logged(c, lock, word_outs);
  }
}

}  // namespace pastcone::runtime
