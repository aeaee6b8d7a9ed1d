// One instruction: for step(), and over a breakpoint.
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>

#include "pastcone/replay/emulate.h"
#include "pastcone/replay/session.h"
#include "pastcone/replay/tracer_parts.h"

namespace pastcone::replay {
namespace {

constexpr size_t kPage = 4096;
constexpr int kPatience = 24;       // looks, for a call to return
constexpr int kLongPatience = 400;  // the same where somebody might miss something if it does not

bool is_prefix(uint8_t byte) { return byte == 0x66 || (byte & 0xf0) == 0x40 || byte == 0xf2 || byte == 0xf3; }

bool is_fault(int signal, const siginfo_t& info) {
  bool may_be = signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE ||
                signal == SIGTRAP || signal == SIGSYS;
  return may_be && info.si_code > 0;
}

}  // namespace

/// Some instructions show that they are being stepped: the trap flag gets where the program can see it.
Tracer::Here Tracer::prepare_step(Thread& thread) {
  come_back(thread);
  thread.pushes_flags = thread.saves_flags = thread.traps_itself = thread.repeats = false;
  Here here;
  if (ptrace(PTRACE_GETREGS, thread.id, nullptr, &here.registers) != 0) return here;
  uint64_t rip = thread.stepped_from = here.registers.rip;
  const TracedMemory& memory = *thread.process.lock()->memory;
  size_t to_page_end = std::min(sizeof here.code, kPage - rip % kPage);
  if (memory.read(rip, here.code, sizeof here.code))
    here.size = sizeof here.code;
  else if (memory.read(rip, here.code, to_page_end))
    here.size = to_page_end;
  const uint8_t* code = here.code;
  thread.traps_itself = (here.registers.eflags & kTrapFlag) != 0;
  thread.saves_flags = code[0] == 0x0f && code[1] == 0x05;  // syscall: in r11
  thread.repeats = here.repeats();
  thread.pushes_flags = code[is_prefix(code[0]) ? 1 : 0] == 0x9c;
  return here;
}

void Tracer::clean_up_step(Thread& thread) {
  if (thread.traps_itself || (!thread.pushes_flags && !thread.saves_flags)) return;
  user_regs_struct now{};
  if (ptrace(PTRACE_GETREGS, thread.id, nullptr, &now) != 0) return;
  if (thread.saves_flags) {
    now.r11 &= ~kTrapFlag;
    ptrace(PTRACE_SETREGS, thread.id, nullptr, &now);
    return;
  }
  auto process = thread.process.lock();
  uint8_t byte = 0;
  if (!process->memory->read(now.rsp + 1, &byte, 1)) return;
  byte &= static_cast<uint8_t>(~(kTrapFlag >> 8));
  process->memory->write(now.rsp + 1, &byte, 1);
}

/// The kernel forgets what came with a signal that is due when the thread stops for another one.
void Tracer::keep_signal(Thread& thread) const {
  if (thread.signal == 0 || thread.info) return;
  thread.info.emplace();
  if (ptrace(PTRACE_GETSIGINFO, thread.id, nullptr, &*thread.info) != 0) thread.info.reset();
}

Tracer::Tried Tracer::try_step(pid_t id) {
  Entry entry(*this);
  ThreadRef thread = find_standing(id);
  ProcessRef process = thread ? thread->process.lock() : nullptr;
  if (!process || !process->stands || process->leaving) return Tried::kEnded;
  keep_signal(*thread);
  Here here = prepare_step(*thread);
  if (process->memory->has(here.registers.rip)) {
    int due = std::exchange(thread->signal, 0);
    std::optional<siginfo_t> info = std::exchange(thread->info, std::nullopt);
    thread->stepping = true;  // of one that repeats, one round
    pass_over(*thread, here.registers.rip);
    thread->stepping = thread->passing = false;
    thread->midway.reset();
    bool faulted = std::exchange(thread->signal, due) != 0 && next_instruction(id) == here.registers.rip;
    thread->info = info;
    return thread->gone ? Tried::kEnded : faulted ? Tried::kFaulted : Tried::kDone;
  }
  // After a step over popf the kernel takes the trap flag for the program's own.
  if (here.pops_flags() && pass_by(*thread, here)) return Tried::kDone;
  for (;;) {
    int status = 0;
    bool goes = ptrace(PTRACE_SINGLESTEP, id, nullptr, nullptr) == 0;
    if (!goes || wait_for(id, status, 0) <= 0) return Tried::kEnded;
    if (!WIFSTOPPED(status)) {
      if (!note_end(*thread, status) && on_end) on_end(id, status);
      return Tried::kEnded;
    }
    siginfo_t info{};
    bool own = status >> 16 == 0 && ptrace(PTRACE_GETSIGINFO, id, nullptr, &info) == 0;
    if (!own) {
      thread->interrupted = false;  // somebody had asked it to stop, which it does
    } else if (!is_fault(WSTOPSIG(status), info)) {
      thread->signal = WSTOPSIG(status);  // comes when it goes on
      thread->info = info;
    } else if (WSTOPSIG(status) == SIGSEGV && is_page_fault(*thread, info)) {
      free_pages(*process);
      if (is_page_fault(*thread, info)) return Tried::kFaulted;  // nobody could do it
      prepare_step(*thread);
    } else if (WSTOPSIG(status) != SIGTRAP) {
      return Tried::kFaulted;
    } else {
      clean_up_step(*thread);
      return Tried::kDone;
    }
  }
}

/// Without executing it.
bool Tracer::pass_by(Thread& thread, Here& here) {
  ProcessRef process = thread.process.lock();
  EmulationBounds bounds{process->id, process->threads.size() == 1 && process->memory.use_count() == 1,
                         !process->memory->pages.empty(), false, &process->watches};
  return !thread.traps_itself && emulate({here.code, here.size}, here.registers, bounds) &&
         ptrace(PTRACE_SETREGS, thread.id, nullptr, &here.registers) == 0;
}

/// All others that have this memory are held meanwhile.
void Tracer::hold_others(Thread& thread, const std::function<void()>& body) {
  ProcessRef process = thread.process.lock();
  std::vector<ProcessRef> held;
  for (const auto& [id, other] : processes_) {
    if (other->memory == process->memory && !other->stands && !other->leaving) held.push_back(other);
  }
  for (const ProcessRef& other : held) {
    bool alone = other == process && other->threads.size() == 1;
    if (!other->ended && !alone) halt(*other);
  }
  body();
  for (const ProcessRef& other : held) {
    if (other->ended) continue;
    other->stands = false;
    for (auto& [id, one] : other->threads) {
      if (one->pending) {
        to_conclude_.push_back(one);
      } else if (one.get() != &thread) {
        resume(*one);
      }
    }
  }
}

/// The breakpoint at `address` is out for as long as it takes. One that repeats is done to its end, or to the
/// first hit: then it is `midway`.
std::optional<TraceStop> Tracer::pass_over(Thread& thread, uint64_t address) {
  Here here = prepare_step(thread);
  thread.midway.reset();
  if (pass_by(thread, here)) return std::nullopt;
  std::shared_ptr<TracedMemory> memory = thread.process.lock()->memory;
  std::optional<TraceStop> hit;
  hold_others(thread, [&] {
    memory->take_out(address);
    if (!thread.gone) hit = step_guarded(thread);
    memory->put_in(address);
  });
  if (hit && here.repeats() && !thread.gone && next_instruction(thread.id) == address)
    thread.midway = address;
  return hit;
}

std::optional<TraceStop> Tracer::step_over(Thread& thread) {
  ProcessRef process = thread.process.lock();
  bool was_halting = std::exchange(process->halting, true);  // whom it creates meanwhile has to wait
  bool alone = process->threads.size() == 1;
  // A signal that is due comes after the instruction, or its handler would come back to the breakpoint.
  keep_signal(thread);
  int signal = std::exchange(thread.signal, 0);
  std::optional<siginfo_t> info = std::exchange(thread.info, std::nullopt);
  std::optional<TraceStop> hit;
  thread.passing = true;
  while (thread.passing && !thread.gone) {
    thread.stands = false;
    if (ptrace(PTRACE_SINGLESTEP, thread.id, nullptr, nullptr) != 0 && errno != ESRCH) break;
    int status = 0, times = 0;
    bool blocking = alone && !thread.saves_flags;
    pid_t got;
    while ((got = wait_for(thread.id, status, blocking ? 0 : WNOHANG)) == 0) {
      bool sleeps = times >= kLongPatience && Session::thread_state(thread.id) != 'R';
      bool waits = times >= kPatience && (thread.saves_flags || cannot_stop(thread));
      if (process->pages_due ? sleeps : waits) break;
      pause_a_moment(times);
    }
    if (got == 0) break;  // in a call: the rest comes to note()
    if (got < 0) {
      forget(thread);
      break;
    }
    if (!WIFSTOPPED(status)) {
      if (!note_end(thread, status) && on_end) on_end(thread.id, status);
      break;
    }
    hit = classify(thread, status);
    // Also in the middle of one that repeats.
    if (thread.fault || (hit && (thread.near || thread.repeats))) thread.passing = false;
    if (thread.signal == 0 || thread.gone) continue;
    siginfo_t now{};
    if (ptrace(PTRACE_GETSIGINFO, thread.id, nullptr, &now) != 0) continue;
    if (is_fault(thread.signal, now)) {
      thread.passing = false;  // the instruction's own
    } else if (signal == 0) {
      signal = std::exchange(thread.signal, 0);
      info = now;
    } else {
      // A second one; it has been taken from the kernel already.
      int again = std::exchange(thread.signal, 0);
      if (syscall(SYS_rt_tgsigqueueinfo, process->id, thread.id, again, &now) != 0)
        syscall(SYS_tgkill, process->id, thread.id, again);
    }
  }
  process->halting = was_halting;
  if (signal != 0 && thread.signal == 0) {
    thread.signal = signal;
    thread.info = info;
  }
  return hit;
}

}  // namespace pastcone::replay
