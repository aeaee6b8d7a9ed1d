// Processes and threads come; how they go is in process_ends.cc.
#include "async.h"
#include "mutexes.h"
#include "handlers.h"
#include "horizon.h"
#include "hooks.h"
#include "process_heap.h"
#include "turn.h"
#include "waits.h"

namespace pastcone::runtime {
namespace {

constexpr u64 kVm = 0x100, kFiles = 0x400, kVfork = 0x4000, kThread = 0x10000, kSetTls = 0x80000,
              kParentSetTid = 0x100000, kChildClearTid = 0x200000, kUntraced = 0x800000, kChildSetTid = 0x1000000,
              kParent = 0x8000, kPidfd = 0x1000;
constexpr u64 kChildSignal = 17;

struct Request {
  u64 flags, stack, parent_tid, child_tid, tls;
};

Request request_of(Call& c) {
  if (c.number == __NR_fork) return {kChildSignal, 0, 0, 0, 0};
  if (c.number == __NR_vfork) return {kVm | kVfork | kChildSignal, 0, 0, 0, 0};
  return {c.a[0], c.a[1], c.a[2], c.a[3], c.a[4]};
}

/// What the new process or thread is called; in replay the recording says.
struct Created {
  u32 process, thread;
};

void record_create(Call& c, Created created) {
  begin_item(c, Shape::kCreate);
  c.log().zigzag(0);
  c.log().varint(created.process);
  c.log().varint(created.thread);
  finish_item(c);
}

/// Replay: false for one that was killed before it could write anything: there is nothing of it to replay.
bool has_stream(Created created) {
  return created.process < stage::kMaxProcesses && created.thread <= g.stage.process(created.process).thread_count;
}

/// Replay: its names, and the result that the recording has for the call (the recorded pid, or an error).
Created replay_create(Call& c, long& result) {
  expect_item(c, 1 << (int)Shape::kCreate);
  c.log().read_zigzag();
  Created created;
  created.process = (u32)c.log().read_varint();
  created.thread = (u32)c.log().read_varint();
  expect_check(c);
  if (c.log().peek() != Op::kCorrect) result = 0;  // killed before it knew
  else result = corrected(c, 0);
  if (!is_error(result) && has_stream(created)) expect_replay_thread(created.process, created.thread);
  if (result > 0 && created.thread == 1) store(g.stage.process(created.process).pid, (u32)result);
  return created;
}

/// Replay of the creation of one that has no stream: only the creator sees something of it.
long without_replay(const Request& r, long recorded) {
  if (r.flags & kParentSetTid) set_tid_word(r.parent_tid, (u32)recorded);
  return recorded;
}

/// The first steps of a new thread of execution, whatever kind. `t` is current, its log not yet open.
void begin_life(Thread& t, u8 start_flags) {
  arm_dispatch();
  if (g.replay) {
    begin_replay_thread(t);
  } else {
    t.tid = (u32)sys(__NR_gettid);
    bool outside = t.process->outside;  // of a process that has left the recording
    if (start_flags & format::kStartProcess) {
      t.process->pid = t.tid;
      g.stage.process(t.process->number).pid = t.tid;
      store(g.stage.process(t.process->number).state,
            (u32)(outside ? stage::ProcessState::kOutside : stage::ProcessState::kRunning));
    }
    if (outside) {
      t.log = Log{};
      t.log.off = true;
    } else {
      open_log(t.process->number, t.number);
      record_start(t, t.parent_process, t.parent_thread, t.parent_event, start_flags);
    }
  }
  open_lock_stream(t);
  store(t.signals.captured, u64{0});
  t.timer = 0;
  t.signals.saved_mask_valid = false;
  sync_kernel_mask(t);
}

void note_parent(Thread& child, Thread& parent) {
  child.parent_process = parent.process->number;
  child.parent_thread = parent.number;
  child.parent_event = parent.log.event_count;
}

// --- threads -----------------------------------------------------------------------------------------------------------------

/// Nothing of the program runs before its turn has come.
void first_turn(Thread& t) {
  if (t.process->parallel) return park_on_leaving(t);
  if (g.replay) {
    take_recorded_turn_after(t);
  } else {
    if (t.process->serial) give_up_turn(t);
    t.head_written = true;
    acquire_turn(t);
    t.head_written = false;
  }
}

void thread_main(void* argument) {
  auto& t = *(Thread*)argument;
  enter_thread(&t);
  t.frame = &t.start_frame;
  begin_life(t, format::kStartThread);
  if (t.process->parallel) begin_thread_heap(t);
  first_turn(t);
  set_tid_word(t.child_set_tid, t.tid);
  prepare_async(t, t.start_frame);
  t.frame = nullptr;
  runtime_leave(&t.start_frame);
}

long create_thread(Call& c, const Request& r) {
  Process& p = *c.t.process;
  become_serial(p);
  Created created{};
  long recorded = 0;
  if (g.replay) {
    created = replay_create(c, recorded);
    if (is_error(recorded)) return recorded;
    if (!has_stream(created)) return without_replay(r, recorded);
  } else {
    created = {p.number, add(g.stage.process(p.number).threads, 1u) + 1};
    record_create(c, created);
  }
  Thread* child = allocate_thread(&p, created.thread);
  long result = -EAGAIN;
  if (child) {
    child->signals.mask = c.t.signals.mask;
    child->start_frame = c.frame;
    child->start_frame.rax = 0;
    if (r.stack) child->start_frame.rsp = r.stack;
    child->clear_tid = r.flags & kChildClearTid ? r.child_tid : 0;
    child->child_set_tid = r.flags & kChildSetTid ? r.child_tid : 0;
    note_parent(*child, c.t);
    if (is_indexed() && r.flags & kSetTls) note_begun(r.tls, created.thread);
    child->exited = 1;
    add(p.threads, 1u);
    // No signal may reach the child before it has a %gs of its own.
    u64 all = ~u64{0};
    sys(__NR_rt_sigprocmask, 2, &all, 0, 8);
    u64 flags = (r.flags & ~(kParentSetTid | kChildSetTid | kPidfd)) | kChildClearTid;
    result = runtime_clone(flags, child->stack_top, nullptr, &child->exited, r.tls, thread_main, child);
    sync_kernel_mask(c.t);
    if (is_error(result)) {
      add(p.threads, -1);
      release_thread(child);
    }
  }
  if (g.replay) {
    if (is_error(result)) diverge(c.t, Cause::kMachine, "a thread cannot be created", recorded, result);
    result = recorded;
  } else {
    record_correction(c, result);
  }
  if (!is_error(result) && (r.flags & kParentSetTid)) set_tid_word(r.parent_tid, (u32)result);
  return result;
}

// --- processes ---------------------------------------------------------------------------------------------------------------

/// In the child of a fork: its memory is a copy, its other threads do not exist.
void become_child(Thread& t, Created created) {
  Process& p = *t.process;
  if (p.parallel) {
    inherit_heap(t);
    forget_detached();
  }
  for (u32 i = 0; i < 1024; ++i)
    for (u64 used = g.slots_used[i]; used; used &= used - 1) {
      u32 slot = i * 64 + (u32)__builtin_ctzll(used);
      if (slot != t.slot) sys(__NR_munmap, kSlotsBase + slot * kSlotSize, kSlotSize);
    }
  for (auto& word : g.slots_used) word = 0;
  for (auto& word : g.slots_left) word = 0;
  g.slots_used[t.slot / 64] = u64{1} << (t.slot % 64);
  g.slot_lock = 0;
  if (g.replay) {
    if (t.log.events.base) far_unmap(t.log.events.base, t.log.events.end);
    if (t.log.data.base) far_unmap(t.log.data.base, t.log.data.end);
    if (t.log.locks.base) far_unmap(t.log.locks.base, t.log.locks.end);
  }
  p.parent_pid = p.pid;
  p.forked_by = t.tid;
  p.number = created.process;
  p.threads = 1;
  p.shares_all = false;
  if (!p.shares || p.parallel) {
    p.serial = false;
    p.group = 0;
  }
  t.number = created.thread;
  t.has_turn = false;
  t.in_call = false;
  t.forks = false;
  t.stacks_given = t.stacks_free = 0;
}

long fork_process(Call& c, const Request& r, Created created) {
  Thread& t = c.t;
  note_parent(t, t);
  u64 all = ~u64{0};
  sys(__NR_rt_sigprocmask, 2, &all, 0, 8);
  u64 flags = r.flags & ~(kParentSetTid | kChildSetTid | kChildClearTid | kPidfd | kSetTls | kVm | kVfork);
  if (g.replay) flags = (flags & ~u64{0xff}) | kChildSignal;
  if (t.process->parallel) hold_heap();
  long result = sys(__NR_clone, flags, 0, 0, 0, 0);
  if (result) {
    if (t.process->parallel) release_heap();
    sync_kernel_mask(t);
    return result;
  }
  become_child(t, created);
  t.frame = &c.frame;
  begin_life(t, format::kStartProcess);
  first_turn(t);
  t.clear_tid = r.flags & kChildClearTid ? r.child_tid : 0;
  if (r.flags & kChildSetTid) set_tid_word(r.child_tid, t.tid);
  if (r.flags & kSetTls) sys(__NR_arch_prctl, 0x1002, r.tls);
  if (r.stack) c.frame.rsp = r.stack;
  c.frame.rax = 0;
  // The child has its own log now: nothing more of this call belongs to it. A signal may have come while it waited for its turn.
  deliver_signals(t, c.frame);
  prepare_async(t, c.frame);
  t.frame = nullptr;
  runtime_leave(&c.frame);
}

void shared_memory_main(void* argument) {
  auto& t = *(Thread*)argument;
  enter_thread(&t);
  t.frame = &t.start_frame;
  begin_life(t, (u8)(format::kStartProcess | (t.process->vforked ? format::kStartVfork : 0)));
  first_turn(t);
  prepare_async(t, t.start_frame);
  t.frame = nullptr;
  runtime_leave(&t.start_frame);
}

/// The child has our memory, but is a process of its own: it gets a slot and a Process, because its descriptors and signal
/// handlers are copies. A vfork sleeps until the child executes a program or ends; else both take turns.
long share_memory_process(Call& c, const Request& r, Created created) {
  auto* p = (Process*)far_map(sizeof(Process), kProtRead | kProtWrite, kMapPrivate | kMapAnonymous, -1, 0);
  Thread* child = p ? allocate_thread(p, created.thread) : nullptr;
  if (!child) return -EAGAIN;
  bool vfork = r.flags & kVfork;
  memcpy(p, c.t.process, sizeof(Process));
  p->fds = clone_fds(c.t.process->fds);
  p->parent_pid = p->pid;
  p->number = created.process;
  p->threads = 1;
  p->vforked = vfork;
  p->in_parents_memory = true;
  if (vfork) {
    p->serial = false;
    p->group = 0;
  }
  child->signals.mask = c.t.signals.mask;
  child->signals.altstack = c.t.signals.altstack;
  child->signals.altstack_size = c.t.signals.altstack_size;
  child->start_frame = c.frame;
  child->start_frame.rax = 0;
  if (r.stack) child->start_frame.rsp = r.stack;
  child->clear_tid = r.flags & kChildClearTid ? r.child_tid : 0;
  note_parent(*child, c.t);
  if (p->parallel) share_heap(*child, c.t);
  u64 all = ~u64{0};
  sys(__NR_rt_sigprocmask, 2, &all, 0, 8);
  u64 flags = kVm | (r.flags & (kVfork | kSetTls)) | (g.replay ? kChildSignal : r.flags & 0xff);
  bool waits = vfork && has_horizon();
  if (waits) {
    note_next_event(c.t);
    begin_wait(stage::WaitKind::kVfork, created.process, 0);
  }
  long result = runtime_clone(flags, child->stack_top, nullptr, nullptr, r.tls, shared_memory_main, child);
  if (waits) end_wait();
  sync_kernel_mask(c.t);
  if (!vfork && !is_error(result)) return result;
  if (g.replay && child->log.events.base) {
    far_unmap(child->log.events.base, child->log.events.end);
    if (child->log.data.base) far_unmap(child->log.data.base, child->log.data.end);
  }
  free_fds(p->fds);
  release_thread(child);
  far_unmap(p, sizeof(Process));
  return result;
}

long create_process(Call& c, const Request& r) {
  Process& p = *c.t.process;
  if ((r.flags & kVm) && !(r.flags & kVfork)) p.shares = p.shares_all = true;
  bool with_turns = !p.parallel || (r.flags & kVm);  // in parallel mode memory that is shared is ordered by objects alone
  if (p.shares && !(r.flags & kVfork) && with_turns) {
    become_serial(p);
    add(g.stage.group(p.group).members, 1u);
  }
  Created created{};
  long recorded = 0;
  if (g.replay) {
    created = replay_create(c, recorded);
    if (is_error(recorded)) return recorded;
    if (!has_stream(created)) return without_replay(r, recorded);
  } else {
    created = {add(g.stage.header().next_process, 1u) + 1, 1};
    if (created.process >= stage::kMaxProcesses) {
      stop_recording(format::StopReason::kLimit);
      created.process = 0;
    }
    auto& slot = g.stage.process(created.process);
    slot.threads = 1;
    store(slot.state, (u32)stage::ProcessState::kForking);
    hold_all_fds(1);
    record_create(c, created);
  }
  long result = (r.flags & kVm) ? share_memory_process(c, r, created) : fork_process(c, r, created);
  if (g.replay) {
    if (is_error(result)) diverge(c.t, Cause::kMachine, "a process cannot be created", recorded, result);
    result = recorded;
  } else {
    if (is_error(result)) hold_all_fds(-1);
    record_correction(c, result);
  }
  if (!is_error(result) && (r.flags & kParentSetTid)) set_tid_word(r.parent_tid, (u32)result);
  return result;
}

}  // namespace

/// A thread with a table of its own would need one here, too.
long handle_unshare(Call& c) {
  Process& p = *c.t.process;
  if (!(c.a[0] & kFiles) || load(p.threads) == 1 || p.outside) return logged(c, raw, nullptr);
  remark(c.t, "unshare(CLONE_FILES) in one of several threads", " (EINVAL), whose descriptors cannot be recorded");
  return logged(c, [](Call&) -> long { return -EINVAL; }, nullptr);
}

long handle_clone(Call& c) {
  Request r = request_of(c);
  if ((r.flags & (kFiles | kVm)) == kFiles) c.t.process->shares_descriptors = true;
  if (r.flags & kThread) return create_thread(c, r);
  return create_process(c, r);
}

}  // namespace pastcone::runtime
