// Processes and threads go, and others wait for their ends.
#include "mutexes.h"
#include "handlers.h"
#include "horizon.h"
#include "journal.h"
#include "process_heap.h"
#include "robust.h"
#include "turn.h"
#include "waits.h"

namespace pastcone::runtime {

namespace {
/// The pid of the child that the call found to have ended, or 0.
u32 ended_child(Call& c) {
  long result = (long)c.frame.rax;
  if (c.number == __NR_wait4 && result > 0) {
    constexpr u64 kStopped = 2, kContinued = 8;
    u32 status = 0;
    if (!c.a[1] && (c.a[2] & (kStopped | kContinued))) return 0;
    if (c.a[1]) read_memory(status, c.a[1]);
    return (status & 0xff) == 0x7f || status == 0xffff ? 0 : (u32)result;
  }
  if (c.number == __NR_waitid && !result && c.a[2]) {
    i32 info[4] = {};  // si_signo, si_errno, si_code, then si_pid
    read_memory(info, c.a[2]);
    return info[2] >= 1 && info[2] <= 3 ? (u32)info[3] : 0;  // exited, killed, dumped
  }
  return 0;
}

bool has_ended(const stage::ProcessSlot& process) {
  if (load(process.state) == (u32)stage::ProcessState::kEnded) return true;
  for (u32 i = 0; i < process.thread_count; ++i) {
    u32 state = load(g.stage.thread(process.first_thread + i).state);
    if (state == (u32)stage::ThreadState::kRunning || state == (u32)stage::ThreadState::kWaiting) return false;
  }
  return true;
}
}  // namespace

void await_ended_child(Call& c) {
  u32 pid = ended_child(c);
  if (!pid) return;
  auto& header = g.stage.header();
  for (u32 number = load(header.next_process); number > 1; --number) {
    auto& process = g.stage.process(number);
    if (load(process.pid) != pid || has_ended(process)) continue;
    char* nobody = (char*)&header.shared_memory[0];  // tell_end wakes all who wait for shared objects
    await(*(ObjectState*)nobody, number, true, 0, [&] { return has_ended(process); });
  }
}

namespace {
[[noreturn]] void leave_thread() {
  // The kernel clears Thread::exited when we are off this stack.
  sys(__NR_exit, 0);
  __builtin_unreachable();
}

void end_process_log(Thread& t) {
  hold_all_fds(-1);
  store(g.stage.process(t.process->number).state, (u32)stage::ProcessState::kEnded);
  leave_group(t);
  close_log();
}
}  // namespace

long handle_exit(Call& c) {
  Thread& t = c.t;
  Process& p = *t.process;
  bool last = load(p.threads) == 1;
  Log& log = t.log;
  if (!g.replay) {
    number_event(t, true);
    log.begin();
    log.byte((u8)Op::kThreadExit);
    log.zigzag((i32)c.a[0]);
    log.check();
    ++log.event_count;
    log.commit();
  } else {
    take_recorded_turn(t);
    if (log.at_end()) end_of_log(t);
    if (log.peek() != Op::kThreadExit) diverge_at(t, log.peek(), "the end of the thread");
    log.read_byte();
    i64 code = log.read_zigzag();
    if (code != (i32)c.a[0]) diverge(t, Cause::kData, "a thread ends with another code", code, (i32)c.a[0]);
    expect_check(c);
    if (p.parallel) park_on_leaving(t);  // it may need others once more before it is gone
  }
  release_robust_mutexes(t);
  if (g.replay) end_journal(t);
  if (last) {
    if (g.replay) end_replayed_process(t);
    end_process_log(t);
    sys(__NR_exit_group, c.a[0]);
  }
  if (p.parallel) end_thread_heap(t);
  // What the kernel does for CLONE_CHILD_CLEARTID, at a moment that is part of the order.
  set_tid_word(t.clear_tid, 0);
  if (t.clear_tid && (!g.replay || p.parallel)) sys(__NR_futex, t.clear_tid, kFutexWake, 1, 0, 0, 0);
  add(p.threads, -1);
  u64 all = ~u64{0};
  sys(__NR_rt_sigprocmask, 2, &all, 0, 8);
  if (g.replay) {
    end_replayed_thread(t);
  } else {
    close_log();
    release_turn(t);
  }
  leave_slot(t);
  leave_thread();
}

long handle_exit_group(Call& c) {
  Thread& t = c.t;
  Log& log = t.log;
  if (!g.replay) {
    number_event(t, true);
    log.begin();
    log.byte((u8)Op::kExitGroup);
    log.zigzag((i32)c.a[0]);
    log.word64(log.hash.state);
    ++log.event_count;
    log.commit();
    release_all_robust_mutexes(t);
    end_process_log(t);
    sys(__NR_exit_group, c.a[0]);
  }
  take_recorded_turn(t);
  if (log.at_end()) end_of_log(t);
  if (log.peek() != Op::kExitGroup) diverge_at(t, log.peek(), "the end of the process");
  log.read_byte();
  i64 status = log.read_zigzag();
  if (status != (i32)c.a[0]) diverge(t, Cause::kData, "exit status", status, (i32)c.a[0]);
  if (log.read_word64() != log.hash.state) diverge(t, Cause::kData, "what it did, by its hash");
  ++log.event_count;
  release_all_robust_mutexes(t);
  end_journal(t);
  end_replayed_process(t);
}

}  // namespace pastcone::runtime
