// What a stop means, and what follows from it.
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "pastcone/replay/session.h"
#include "pastcone/replay/tracer_parts.h"

namespace pastcone::replay {
namespace {

constexpr int kCallStop = SIGTRAP | 0x80;
constexpr int kTrapCounted = 6;  // si_code TRAP_PERF: nth_write.h
constexpr int kTrapIntoHandler = SIGTRAP;  // si_code, where a single step has led into a handler

bool is_group_stop(int status) { return status >> 16 == PTRACE_EVENT_STOP && WSTOPSIG(status) != SIGTRAP; }

/// Whether a fault or trap of the processor is waiting for it.
bool has_hit_pending(pid_t thread) {
  siginfo_t pending[8];
  __ptrace_peeksiginfo_args from{0, 0, static_cast<int>(std::size(pending))};
  long count = ptrace(PTRACE_PEEKSIGINFO, thread, &from, pending);
  return std::any_of(pending, pending + std::max(count, 0L), [](const siginfo_t& info) {
    return (info.si_signo == SIGSEGV || info.si_signo == SIGTRAP) && info.si_code > 0;
  });
}

}  // namespace

bool Tracer::note(pid_t thread, int status) {
  Entry entry(*this);
  return take(thread, status);
}

bool Tracer::take(pid_t id, int status) {
  auto found = threads_.find(id);
  if (found == threads_.end() && WIFSTOPPED(status) && processes_.contains(id)) {
    insert(*processes_.at(id),
           id);  // its first thread had ended before it was attached; another one executes a program
    found = threads_.find(id);
  }
  if (found == threads_.end()) {
    if (WIFSTOPPED(status))
      early_[id] = status;
    else
      early_.erase(id);
    return WIFSTOPPED(status);
  }
  ThreadRef thread = found->second;
  if (!WIFSTOPPED(status)) return note_end(*thread, status);
  note_stop(*thread, status);
  return true;
}

bool Tracer::note_end(Thread& thread, int status) {
  ProcessRef process = thread.process.lock();
  forget(thread);
  if (thread.id != process->id) return true;
  same_cpu_.release();
  bool told = !process->leaving;
  // Whom it created in its last moment nobody else will tell of.
  for (auto& [child, stop] : std::exchange(early_, {})) {
    auto group = status_number(child, "Tgid");
    bool is_thread = group && *group != child;
    auto creator = is_thread ? group : status_number(child, "PPid");
    if (creator && processes_.contains(*creator) && *creator != process->id)
      early_[child] = stop;
    else if (group && !is_thread)
      adopt_process(*process, child);
  }
  forget_process(*process);
  if (told) stops_.push_back({TraceStop::Kind::kEnded, process->id, thread.id, 0, status});
  return false;
}

void Tracer::note_stop(Thread& thread, int status) {
  ProcessRef process = thread.process.lock();
  std::optional<TraceStop> hit = classify(thread, status);
  if (thread.gone) return;
  if (process->leaving) {
    detach(thread);
    if (process->threads.empty()) processes_.erase(process->id);
    return;
  }
  if (process->halting || process->stands) {
    // Where it comes to again: a call that it is about to make, a write.
    if (thread.at_call) undo_call(thread);
    thread.fault.reset();
    if (hit && hit->kind != TraceStop::Kind::kBreak) thread.pending = hit;  // a breakpoint is hit again later
    return;
  }
  if (thread.fault || thread.call_due) {
    bool writes = thread.fault.has_value(), passed = false;
    hit = writes ? pass_fault(thread) : pass_call(thread);
    if (thread.gone) return;
    same_cpu_.note_hit(thread.id);
    if (writes && !hit) hit = go_ahead(thread, false, passed);
    bool stepped = thread.stepping && thread.stands && !thread.passing && thread.signal == 0;
    if (!hit && stepped) hit = TraceStop{TraceStop::Kind::kStep, process->id, thread.id, 0, 0};
  } else if (process->pages_due && !thread.at_call) {
    (void)arrange_pages(*process);
  }
  if (hit)
    conclude(thread, *hit);
  else
    resume(thread);
}

std::optional<TraceStop> Tracer::classify(Thread& thread, int status) {
  ProcessRef process = thread.process.lock();
  thread.stands = true;
  thread.interrupted = thread.stuck = false;
  thread.in_group_stop = is_group_stop(status);
  thread.in_kernel = InKernel::kNo;
  thread.at_call = thread.call_due = false;
  thread.fault.reset();
  thread.trapped_at.reset();
  if (std::exchange(thread.watches_due, false)) (void)process->watches.apply(thread.id, thread.watching);
  switch (status >> 16) {
    case 0:
      break;
    case PTRACE_EVENT_CLONE:
    case PTRACE_EVENT_FORK:
    case PTRACE_EVENT_VFORK:
      thread.in_kernel = status >> 16 == PTRACE_EVENT_VFORK ? InKernel::kWaits : InKernel::kReturns;
      adopt(thread);
      return std::nullopt;
    case PTRACE_EVENT_VFORK_DONE:
      thread.in_kernel = InKernel::kReturns;
      process->memory->look_for_strangers(process->id);
      return std::nullopt;
    case PTRACE_EVENT_EXEC:
      thread.in_kernel = InKernel::kReturns;
      return note_exec(thread);
    case PTRACE_EVENT_STOP:
      // Not before a hit that it has made already has been seen: later nobody would know whose it is.
      if (process->halting && has_hit_pending(thread.id)) {
        thread.stands = false;
        thread.interrupted = true;
        ptrace(PTRACE_CONT, thread.id, nullptr, nullptr);
      }
      return std::nullopt;
    default:
      return std::nullopt;
  }
  int signal = WSTOPSIG(status);
  if (signal == kCallStop) {
    if (thread.in_handler) note_handler_call(thread);
    note_call(thread);
    return std::nullopt;
  }
  siginfo_t info{};
  if ((signal == SIGSEGV || signal == SIGTRAP) && ptrace(PTRACE_GETSIGINFO, thread.id, nullptr, &info) == 0) {
    if (signal == SIGSEGV && is_page_fault(thread, info)) {
      thread.fault = reinterpret_cast<uint64_t>(info.si_addr);
      return std::nullopt;
    }
    // SEGV_ACCERR: gdb lets functions that it calls return to the stack, which cannot be executed.
    bool may_be_ours = info.si_code == SI_KERNEL || info.si_code == SEGV_ACCERR;
    if (signal == SIGSEGV && may_be_ours && !thread.passing) {
      uint64_t rip = next_instruction(thread.id);
      if (process->memory->has(rip))
        return TraceStop{TraceStop::Kind::kBreak, process->id, thread.id, rip, 0};
      if (info.si_code == SI_KERNEL) {
        if (process->memory->bury(rip)) return std::nullopt;
        bool again = std::exchange(thread.swallowed_at, rip) == rip;
        if (!again && process->memory->was_removed(rip)) return std::nullopt;
      }
    }
    if (signal == SIGTRAP &&
        (info.si_code == TRAP_TRACE || info.si_code == TRAP_HWBKPT || info.si_code == kTrapIntoHandler)) {
      if (info.si_code == TRAP_HWBKPT) thread.trapped_at = reinterpret_cast<uint64_t>(info.si_addr);
      return classify_trap(thread, info.si_code);
    }
    if (signal == SIGTRAP && info.si_code == TRAP_BRKPT && (thread.stepping || thread.passing))
      return classify_trap(thread, TRAP_TRACE);  // out of a call
    // An int3 of the process itself at the place of one of ours.
    if (signal == SIGTRAP && info.si_code == SI_KERNEL && process->memory->has(next_instruction(thread.id) - 1)) {
      if (thread.passing) thread.told_at = next_instruction(thread.id) - 1;
      thread.in_handler = true;
    }
    if (signal == SIGTRAP && info.si_code == kTrapCounted) {
      auto address = reinterpret_cast<uint64_t>(info.si_addr);
      thread.watches_hit = {{address, 0, false}};
      return watch_stop(thread);
    }
  }
  thread.signal = signal;
  return std::nullopt;
}

/// The runtime has handled a breakpoint of its own, and may have overwritten ours with what it knew.
void Tracer::note_handler_call(Thread& thread) {
  thread.process.lock()->memory->renew();
  long number = ptrace(PTRACE_PEEKUSER, thread.id, offsetof(user_regs_struct, orig_rax), nullptr);
  if (number == SYS_rt_sigreturn) thread.in_handler = false;
}

/// It has written, or read, what is watched.
TraceStop Tracer::watch_stop(const Thread& thread) const {
  const WatchedWord& word = thread.watches_hit.front();
  uint64_t behind = thread.trapped_at ? *thread.trapped_at : next_instruction(thread.id);
  TraceStop stop{TraceStop::Kind::kWatch, thread.process.lock()->id, thread.id, word.address};
  stop.size = word.size;
  stop.reads = word.reads;
  stop.behind = behind;
  stop.ahead = thread.ahead != nullptr;
  return stop;
}

std::optional<TraceStop> Tracer::classify_trap(Thread& thread, int code) {
  ProcessRef process = thread.process.lock();
  bool step = code != TRAP_HWBKPT && (thread.stepping || thread.passing);
  if (step && code == TRAP_TRACE) clean_up_step(thread);
  // One that steps itself (the runtime does) has to be told as well.
  if (code == TRAP_TRACE && (!step || thread.traps_itself)) thread.signal = SIGTRAP;
  // Over a breakpoint an instruction that repeats is done to its end.
  bool unfinished =
      thread.passing && !thread.stepping && thread.repeats && next_instruction(thread.id) == thread.stepped_from;
  if (step && !unfinished) thread.passing = false;
  const Watchpoints& watches = thread.near ? *thread.near : process->watches;
  if (code != kTrapIntoHandler) thread.watches_hit = watches.hits(thread.id);
  if (code != kTrapIntoHandler && !thread.watches_hit.empty()) return watch_stop(thread);
  if (step && thread.stepping) return TraceStop{TraceStop::Kind::kStep, process->id, thread.id, 0, 0};
  return std::nullopt;
}

void Tracer::adopt(Thread& parent) {
  unsigned long message = 0;
  if (ptrace(PTRACE_GETEVENTMSG, parent.id, nullptr, &message) != 0) return;
  auto child = static_cast<pid_t>(message);
  same_cpu_.note_child(parent.id, child);
  int status = 0;
  if (auto known = early_.find(child); known != early_.end()) {
    status = known->second;
    early_.erase(known);
  } else {
    int times = 0;
    pid_t got;
    while ((got = wait_for(child, status, WNOHANG)) == 0) pause_a_moment(times);
    if (got < 0) return;
    if (!WIFSTOPPED(status)) {
      if (on_end) on_end(child, status);
      return;
    }
  }
  ProcessRef process = parent.process.lock();
  if (status_number(child, "Tgid") != process->id) return adopt_process(*process, child);
  ThreadRef thread = insert(*process, child);
  thread->stands = true;
  thread->in_group_stop = is_group_stop(status);
  if (!process->watches.empty()) (void)process->watches.apply(child, thread->watching);
  if (!process->halting && !process->stands) resume(*thread);
}

void Tracer::adopt_process(Process& parent, pid_t child) {
  auto process = std::make_shared<Process>();
  process->id = child;
  bool shared = share_memory(parent.id, child);
  if (shared) {
    process->memory = parent.memory;
  } else if (auto copy = TracedMemory::open_copy(child, *parent.memory)) {
    process->memory = std::move(*copy);
  } else {
    process->memory = parent.memory;  // it is dying
  }
  process->stands = true;
  processes_[child] = process;
  ThreadRef first = insert(*process, child);
  first->stands = true;
  if (!shared && !parent.memory->pages.empty()) {
    process->memory->call_instruction = parent.memory->call_instruction;
    parent.memory->pages.note_growth(parent.id);
    (void)change_pages(*first, parent.memory->pages.to_free({}), false);
    if (first->gone) return;
  }
  pid_t parent_id = parent.id;
  if (on_fork && !parent.leaving)
    on_fork(parent_id, child);
  else
    let_go(child);
}

std::optional<TraceStop> Tracer::note_exec(Thread& thread) {
  ProcessRef process = thread.process.lock();
  same_cpu_.release();
  auto threads = process->threads;
  for (auto& [id, other] : threads) {
    if (id != thread.id) forget(*other);
  }
  for (const auto& [address, count] : process->breaks) {
    for (int i = 0; i < count; ++i) process->memory->remove(address);  // others may have the old memory still
  }
  process->breaks.clear();
  process->watches.clear();
  process->words.clear();
  process->pages_due = false;
  if (auto memory = TracedMemory::open(process->id)) process->memory = std::move(*memory);
  thread.stepping = thread.passing = thread.watches_due = false;
  thread.watching = {};
  thread.seen.reset();
  thread.pending.reset();
  return TraceStop{TraceStop::Kind::kExecuted, process->id, thread.id, 0, 0};
}

bool Tracer::wanted(Thread& thread, TraceStop& hit) {
  ProcessRef process = thread.process.lock();
  if (hit.kind == TraceStop::Kind::kBreak) {
    // It may have been told already, before the process's own int3 at the same place; or be there only for
    // another process that shares the memory.
    if (std::exchange(thread.told_at, std::nullopt) == hit.address) return false;
    return process->breaks.contains(hit.address) && (!filter || filter(hit));
  }
  if (hit.kind != TraceStop::Kind::kWatch || !filter) return true;
  std::optional<TraceStop> first;  // one instruction may write several: all are told of
  for (const WatchedWord& word : thread.watches_hit) {
    hit.address = word.address;
    hit.size = word.size;
    hit.reads = word.reads;
    if (filter(hit) && !first) first = hit;
  }
  if (first) hit = *first;
  return first.has_value();
}

/// A thread of a process that runs has hit something.
void Tracer::conclude(Thread& thread, TraceStop hit) {
  ThreadRef keep = threads_.at(thread.id);
  ProcessRef process = thread.process.lock();
  while (!wanted(thread, hit)) {
    if (thread.gone) return;
    same_cpu_.note_hit(thread.id);
    std::optional<uint64_t> over = std::exchange(thread.midway, std::nullopt);
    bool told = hit.kind == TraceStop::Kind::kBreak, passed = false;
    std::optional<TraceStop> next = over ? std::nullopt : go_ahead(thread, told, passed);
    if (!next) come_back(thread);
    if (!next && !over && hit.kind == TraceStop::Kind::kWatch) next = store_behind(thread);
    if (told && !passed) over = hit.address;
    if (over && process->memory->has(*over)) next = pass_over(thread, *over);
    if (thread.gone) return;
    if (!next && thread.stepping && !thread.passing && thread.signal == 0)
      next = TraceStop{TraceStop::Kind::kStep, process->id, thread.id, 0, 0};
    if (!next) return resume(thread);
    hit = *next;
  }
  if (thread.gone) return;
  come_back(thread);
  if (goes_on_soon)
    same_cpu_.note_hit(thread.id);
  else
    same_cpu_.release();
  halt(*process);
  if (thread.gone) return;
  for (auto& [id, other] : process->threads) other->stepping = false;
  if (hit.kind == TraceStop::Kind::kBreak) thread.seen = hit.address;
  if (thread.midway) thread.seen = std::exchange(thread.midway, std::nullopt);
  if (hit.kind == TraceStop::Kind::kStep) thread.seen = next_instruction(thread.id);
  stops_.push_back(hit);
}

/// Those that hit something while they were held because of others.
void Tracer::work_off() {
  while (!to_conclude_.empty()) {
    ThreadRef thread = to_conclude_.front();
    to_conclude_.pop_front();
    ProcessRef process = thread->process.lock();
    if (thread->gone || !thread->stands || !thread->pending || process->stands) continue;
    TraceStop hit = *std::exchange(thread->pending, std::nullopt);
    conclude(*thread, hit);
  }
}

}  // namespace pastcone::replay
