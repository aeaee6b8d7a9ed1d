// Calls that wait for something else than bytes.
#include "handlers.h"
#include "robust.h"
#include "turn.h"
#include "waits.h"

namespace pastcone::runtime {
namespace {

/// The mask argument of ppoll and friends: pointer and where the pointer is.
u64 mask_argument(Call& c) {
  switch (c.number) {
    case __NR_ppoll: return c.a[3];
    case __NR_epoll_pwait: return c.a[4];
    case __NR_epoll_pwait2: return c.a[4];
    case __NR_pselect6: {
      struct { u64 mask, size; } pair{};
      return c.a[5] && read_memory(pair, c.a[5]) ? pair.mask : 0;
    }
    default: return 0;
  }
}

}  // namespace

/// While in scope the thread has another signal mask, as sigsuspend wants it: a handler that runs meanwhile restores the old.
TemporaryMask::TemporaryMask(Thread& t, u64 mask_address) : t_(t) {
  u64 mask;
  if (!mask_address || !read_memory(mask, mask_address)) return;
  active_ = true;
  t.signals.saved_mask = t.signals.mask;
  t.signals.mask = mask & ~kNeverBlocked;
  if (!g.replay) sync_kernel_mask(t);
}

void TemporaryMask::leave() {
  if (!active_) return;
  // If a handler is about to run, its frame carries the old mask; else it is back at once.
  if (t_.signals.captured & ~t_.signals.mask) {
    t_.signals.saved_mask_valid = true;
  } else {
    t_.signals.mask = t_.signals.saved_mask;
    if (!g.replay) sync_kernel_mask(t_);
  }
}

void TemporaryMask::leave_replay() {
  if (!active_) return;
  if (signal_is_next(t_)) t_.signals.saved_mask_valid = true;
  else t_.signals.mask = t_.signals.saved_mask;
}

long handle_poll(Call& c) {
  TemporaryMask mask(c.t, mask_argument(c));
  long result;
  if (g.replay) {
    result = replay_result(c, c.info.outs);
    take_turn_behind(c.t);
    mask.leave_replay();
    return result;
  }
  // The mask is in force already, so the call itself needs none.
  Call plain = c;
  if (c.number == __NR_ppoll) plain.a[3] = 0;
  if (c.number == __NR_epoll_pwait || c.number == __NR_epoll_pwait2) plain.a[4] = 0;
  if (c.number == __NR_pselect6) plain.a[5] = 0;
  result = raw_blocking(plain);
  if (result == kRestart) result = -EINTR;
  record_result(c, result, c.info.outs);
  mask.leave();
  return result;
}

long handle_sleep(Call& c) { return logged(c, raw_blocking, c.info.outs); }
long handle_pause(Call& c) { return logged(c, raw_blocking, nullptr); }

long handle_yield(Call& c) {
  Thread& t = c.t;
  t.yields = true;
  bool woken = t.woken_event == t.log.event_count;
  long result = logged(c, raw, nullptr);
  if (woken) t.woken_event = t.log.event_count;
  return result;
}

namespace {
/// The word a futex operation changes by itself.
void futex_outs(Exchange& x, const u64* a, long) { x.out(a[0], 4); }
void wake_op_outs(Exchange& x, const u64* a, long) { x.out(a[4], 4); }
}  // namespace

namespace {
bool futex_waits(int operation) {
  return operation == 0 || operation == 9 || operation == 6 || operation == 11 || operation == 13;
}
}  // namespace

namespace {
/// A wait that is over because somebody was killed: then the kernel has changed the word.
long wait_in_turn(Call& c) {
  if (!g.replay) {
    long result = raw_blocking(c);
    record_result(c, result, is_of_dead(c.a[0]) ? futex_outs : nullptr);
    return result;
  }
  if (expect_item(c, 1 << (int)Shape::kOut | 1 << (int)Shape::kResult) == Shape::kOut) return finish_out(c, futex_outs);
  long result = c.log().read_zigzag();
  expect_check(c);
  return result;
}

/// Replay: nothing more is known of this thread; it may be here that it was when the recording was cut off.
bool is_last_seen(Thread& t) { return !slot_of(t).complete && t.log.at_end() && *t.operations >= t.all_operations; }

}  // namespace

void note_signals_inside(Call& c) {
  Thread& t = c.t;
  if (!load(t.interrupt) || !(t.signals.captured & ~t.signals.mask)) return;
  t.inside = true;
  enter_call(c);
  Log& log = t.log;
  log.begin();
  log.byte((u8)Op::kInside);
  log.varint(*t.operations);
  log.commit();
}

bool passes_by(Call& c) {
  // What a process of one thread does by itself is ordered as it is.
  Process& p = *c.t.process;
  if (c.number == __NR_sched_yield) return p.parallel && p.several;
  return c.number == __NR_futex && p.parallel && (p.several || !(c.a[1] & kFutexPrivate));
}

long pass_call(Call& c) {
  Thread& t = c.t;
  bool waits = c.number == __NR_futex && futex_waits((int)c.a[1] & 0x7f);
  if (g.replay) {
    if (!waits) return raw(c);
    bool last = is_last_seen(t);
    begin_wait(t.joins && !last ? stage::WaitKind::kJoin : stage::WaitKind::kFutex, c.frame.rip, last);
    long result = may_sleep(t, c.number, c.a[0], c.a[1], c.a[2], c.a[3], c.a[4], c.a[5]);
    end_wait();
    return result;
  }
  long result = waits ? may_sleep(t, c.number, c.a[0], c.a[1], c.a[2], c.a[3], c.a[4], c.a[5]) : raw(c);
  if (result == -EINTR) {
    if (!(t.signals.captured & ~t.signals.mask)) clear_interrupt(t);
    result = interrupted(c);
  }
  note_signals_inside(c);
  return result;
}

long handle_futex(Call& c) {
  int operation = (int)c.a[1] & 0x7f;
  bool takes_turns = c.t.process->serial && !c.t.process->parallel;
  OutsFunction outs = nullptr;
  switch (operation) {
    case 6: case 7: case 8: case 13:  // LOCK_PI, UNLOCK_PI, TRYLOCK_PI, LOCK_PI2
      if (takes_turns) return handle_pi_futex(c);
      outs = futex_outs;
      break;
    case 11: case 12:                 // requeue to PI
      if (takes_turns) return -ENOSYS;
      [[fallthrough]];
    case 5: outs = wake_op_outs; break;
    default: break;
  }
  bool fair = !g.replay && takes_turns;
  if (!futex_waits(operation)) {
    long result = logged(c, raw, outs);
    if (fair && result > 0) woke_futex(c.t, c.a[0]);
    return result;
  }
  if (fair) begin_futex(c.t, c.a[0]);
  long result = takes_turns ? wait_in_turn(c) : logged(c, raw_blocking, outs);
  if (fair) end_futex(c.t, c.a[0], result);
  return result;
}

}  // namespace pastcone::runtime
