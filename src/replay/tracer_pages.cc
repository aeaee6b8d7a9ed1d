// Guarded pages: read-only on our behalf. Whoever writes to one faults; the write is then made for it, by
// ourselves where that is easy (stores.h), else by a step with the page free and everybody else held.
//
// In system calls the kernel would fail where the program may write, and some change what can be written to.
// So all pages are free while a thread makes one of which that may be true. In a replay these are few.
#include <elf.h>
#include <linux/futex.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "pastcone/patch/abi.h"
#include "pastcone/replay/operands.h"
#include "pastcone/replay/stores.h"
#include "pastcone/replay/tracer_parts.h"
#include "pastcone/symbols/mappings.h"

namespace pastcone::replay {
namespace {

constexpr int kCallStop = SIGTRAP | 0x80;
constexpr int kMostStops = 1000;  // until a call that does not wait is over

/// Calls that write to no memory of a program and leave its mappings alone. Those that may sleep must be
/// here. exit_group is none: a child of vfork would leave its guarded pages to its parent.
bool is_harmless(const __ptrace_syscall_info& info) {
  switch (info.entry.nr) {
    case SYS_futex:
      switch (info.entry.args[1] & FUTEX_CMD_MASK) {
        case FUTEX_WAIT:
        case FUTEX_WAKE:
        case FUTEX_REQUEUE:
        case FUTEX_CMP_REQUEUE:
        case FUTEX_WAIT_BITSET:
        case FUTEX_WAKE_BITSET:
          return true;
        default:
          return false;
      }
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
    case SYS_sched_yield:
    case SYS_pause:
    case SYS_rt_sigprocmask:
    case SYS_rt_sigaction:
    case SYS_rt_sigreturn:
    case SYS_exit:
    case SYS_execve:
    case SYS_execveat:
    case SYS_clone:
    case SYS_clone3:
    case SYS_fork:
    case SYS_vfork:
    case SYS_kill:
    case SYS_tkill:
    case SYS_tgkill:
    case SYS_getpid:
    case SYS_gettid:
    case SYS_close:
    case SYS_open:
    case SYS_openat:
    case SYS_lseek:
    case SYS_write:
    case SYS_writev:
    case SYS_pwrite64:
    case SYS_restart_syscall:
      return true;
    default:
      return false;
  }
}

/// A `syscall` somewhere. In the runtime if it is there: elsewhere it might be caught.
uint64_t find_call_instruction(const TracedMemory& memory, pid_t process) {
  auto maps = symbols::read_maps(process);
  if (!maps) return 0;
  std::vector<symbols::Mapping> all = symbols::parse_mappings(*maps);
  std::erase_if(all, [](const symbols::Mapping& one) { return !one.executable || one.of_kernel; });
  std::ranges::stable_partition(all, [](const symbols::Mapping& one) {
    return one.start >= patch::kRuntimeBase && one.start < patch::kRuntimeEnd;
  });
  const uint8_t instruction[] = {0x0f, 0x05};
  std::vector<uint8_t> code;
  for (const symbols::Mapping& one : all) {
    code.resize(one.end - one.start);
    if (!memory.read(one.start, code.data(), code.size())) continue;
    auto found = std::search(code.begin(), code.end(), std::begin(instruction), std::end(instruction));
    if (found != code.end()) return one.start + static_cast<uint64_t>(found - code.begin());
  }
  return 0;
}

/// A vector register as xsave has it.
bool read_vector(pid_t thread, unsigned number, void* to, size_t size) {
  constexpr size_t kLower = 160, kUpper = 576, kHalf = 16;
  uint8_t state[kUpper + 16 * kHalf];
  iovec into{state, sizeof state};
  if (ptrace(PTRACE_GETREGSET, thread, NT_X86_XSTATE, &into) != 0) return false;
  if (into.iov_len < (size > kHalf ? sizeof state : kUpper)) return false;
  auto* bytes = static_cast<uint8_t*>(to);
  std::memcpy(bytes, state + kLower + number * kHalf, kHalf);
  if (size > kHalf) std::memcpy(bytes + kHalf, state + kUpper + number * kHalf, kHalf);
  return true;
}

}  // namespace

// --- calls that a thread makes for us
// ------------------------------------------------------------------------------

/// Of one that stands, and not in the middle of a call.
std::optional<int64_t> Tracer::call(Thread& thread, int64_t number,
                                    const std::array<uint64_t, 3>& arguments) {
  ProcessRef process = thread.process.lock();
  TracedMemory& memory = *process->memory;
  if (memory.call_instruction == 0) memory.call_instruction = find_call_instruction(memory, process->id);
  uint64_t at = memory.call_instruction;
  if (at == 0 || memory.any(at, at + 2)) return std::nullopt;
  come_back(thread);
  keep_signal(thread);
  user_regs_struct before{};
  uint64_t mask = 0;
  if (ptrace(PTRACE_GETREGS, thread.id, nullptr, &before) != 0) return std::nullopt;
  if (ptrace(PTRACE_GETSIGMASK, thread.id, sizeof mask, &mask) != 0) return std::nullopt;
  uint64_t only_ours = ~(uint64_t{1} << (SIGTRAP - 1));
  user_regs_struct now = before;
  now.orig_rax = ~uint64_t{0};
  now.eflags &= ~kTrapFlag;
  now.rip = at;
  now.rax = static_cast<uint64_t>(number);
  now.rdi = arguments[0];
  now.rsi = arguments[1];
  now.rdx = arguments[2];
  ptrace(PTRACE_SETSIGMASK, thread.id, sizeof only_ours, &only_ours);
  ptrace(PTRACE_SETREGS, thread.id, nullptr, &now);
  std::optional<int64_t> result;
  std::vector<int> again;
  for (int i = 0; i < kMostStops && !result; ++i) {
    int status = 0;
    ptrace(PTRACE_SINGLESTEP, thread.id, nullptr, nullptr);
    pid_t got = wait_for(thread.id, status, 0);
    if (got < 0) {
      forget(thread);
      return std::nullopt;
    }
    if (!WIFSTOPPED(status)) {
      if (!note_end(thread, status) && on_end) on_end(thread.id, status);
      return std::nullopt;
    }
    bool over = status >> 8 == SIGTRAP && next_instruction(thread.id) == at + 2;
    if (over)
      result = ptrace(PTRACE_PEEKUSER, thread.id, offsetof(user_regs_struct, rax), nullptr);
    else if (status >> 16 == 0)
      again.push_back(WSTOPSIG(status));  // SIGSTOP, which no mask keeps away
  }
  ptrace(PTRACE_SETREGS, thread.id, nullptr, &before);
  ptrace(PTRACE_SETSIGMASK, thread.id, sizeof mask, &mask);
  for (int signal : again) syscall(SYS_tgkill, process->id, thread.id, signal);
  return result;
}

/// It has stopped inside a call that is about to return.
bool Tracer::bring_out(Thread& thread) {
  for (int i = 0; i < kMostStops && thread.in_kernel == InKernel::kReturns; ++i) {
    int status = 0;
    ptrace(PTRACE_SYSCALL, thread.id, nullptr, nullptr);
    if (wait_for(thread.id, status, 0) < 0) return false;
    if (!WIFSTOPPED(status)) {
      if (!note_end(thread, status) && on_end) on_end(thread.id, status);
      return false;
    }
    if (WSTOPSIG(status) == kCallStop) thread.in_kernel = InKernel::kNo;
  }
  return thread.in_kernel == InKernel::kNo;
}

/// One that can make a call.
Tracer::Thread* Tracer::caller_of(Process& process) {
  for (InKernel how : {InKernel::kNo, InKernel::kReturns}) {
    auto threads = process.threads;
    for (auto& [id, thread] : threads) {
      bool can = thread->stands && !thread->gone && !thread->in_group_stop && thread->in_kernel == how;
      if (can && (how == InKernel::kNo || bring_out(*thread))) return thread.get();
    }
  }
  return nullptr;
}

// --- which pages are guarded
// ---------------------------------------------------------------------------------------

std::set<uint64_t> Tracer::wanted_pages(const TracedMemory& memory) const {
  std::set<uint64_t> wanted;
  if (memory.has_strangers()) return wanted;
  for (const auto& [id, process] : processes_) {
    if (process->memory.get() != &memory || process->leaving) continue;
    wanted.merge(process->words.pages());
  }
  return wanted;
}

Status Tracer::change_pages(Thread& thread, const std::vector<GuardedPages::Change>& changes, bool guard) {
  GuardedPages& pages = thread.process.lock()->memory->pages;
  for (const GuardedPages::Change& change : changes) {
    auto result =
        call(thread, SYS_mprotect, {change.begin, change.size, static_cast<uint64_t>(change.protection)});
    if (!result) return fail("process {} cannot be made to call", thread.id);
    if (*result == 0 && guard) pages.note_guarded(change);
    if (!guard) pages.note_freed(change);  // if it failed there is none
    if (*result != 0 && guard)
      return fail("{:#x} cannot be watched: {}", change.begin, errno_message(static_cast<int>(-*result)));
  }
  return {};
}

/// Later, if nobody can do it now: before anybody of the process is in its program again.
Status Tracer::arrange_pages(Process& process) {
  std::shared_ptr<TracedMemory> memory = process.memory;
  std::set<uint64_t> wanted = wanted_pages(*memory);
  memory->pages.note_growth(process.id);
  auto to_free = memory->pages.to_free(wanted), to_guard = memory->pages.to_guard(wanted, process.id);
  process.pages_due = memory->has_strangers() && !process.words.empty();
  if (to_free.empty() && to_guard.empty()) return {};
  Thread* thread = caller_of(process);
  process.pages_due = process.pages_due || thread == nullptr;
  if (thread == nullptr) return {};
  TRY_STATUS(change_pages(*thread, to_free, false));
  return change_pages(*thread, to_guard, true);
}

/// Where it is in the middle of a hit, it cannot be made to call: if all are guarded that have to be.
Status Tracer::keep_pages(Process& process) {
  const TracedMemory& memory = *process.memory;
  std::set<uint64_t> wanted = wanted_pages(memory);
  if (memory.has_strangers() || !std::ranges::all_of(wanted, [&](uint64_t page) { return memory.pages.has(page); }))
    return fail("process {} does not stand", process.id);
  process.pages_due = !memory.pages.to_free(wanted).empty();
  return {};
}

void Tracer::free_pages(Process& process) {
  if (!process.guards()) return;
  process.memory->pages.note_growth(process.id);
  auto changes = process.memory->pages.to_free({});
  for (const auto& [id, other] : processes_)
    if (other->memory == process.memory) other->pages_due = true;
  if (changes.empty()) return;
  if (Thread* thread = caller_of(process)) (void)change_pages(*thread, changes, false);
}

Status Tracer::add_guarded(pid_t id, uint64_t address, uint32_t size) {
  Entry entry(*this);
  ProcessRef process = find(id);
  if (!may_change_watches(id)) return fail("process {} does not stand", id);
  constexpr uint64_t kEnd = uint64_t{1} << 47;
  if (size == 0 || size > kLongestGuarded || address > kEnd - size)
    return fail("{:#x} cannot be watched", address);
  process->words.add(address, size);
  Status arranged = process->stands ? arrange_pages(*process) : keep_pages(*process);
  if (!arranged) process->words.remove(address, size);
  return arranged;
}

bool Tracer::remove_guarded(pid_t id, uint64_t address, uint32_t size) {
  ProcessRef process = find(id);
  if (!process || !process->words.remove(address, size)) return false;
  if (!process->memory->pages.to_free(wanted_pages(*process->memory)).empty()) process->pages_due = true;
  return true;
}

bool Tracer::guards(pid_t id) const {
  ProcessRef process = find(id);
  return process && !process->words.empty();
}

// --- system calls
// --------------------------------------------------------------------------------------------------

/// It has come to a call, or leaves one.
void Tracer::note_call(Thread& thread) {
  __ptrace_syscall_info info{};
  if (ptrace(PTRACE_GET_SYSCALL_INFO, thread.id, sizeof info, &info) <= 0) return;
  thread.at_call = info.op == PTRACE_SYSCALL_INFO_ENTRY;
  thread.call_due = thread.at_call && !is_harmless(info) && thread.process.lock()->guards();
}

/// It stands before the call, then, as if it had not come there.
bool Tracer::undo_call(Thread& thread) {
  thread.at_call = thread.call_due = false;
  user_regs_struct now{};
  if (ptrace(PTRACE_GETREGS, thread.id, nullptr, &now) != 0) return false;
  uint64_t number = std::exchange(now.orig_rax, ~uint64_t{0});
  ptrace(PTRACE_SETREGS, thread.id, nullptr, &now);
  thread.in_kernel = InKernel::kReturns;
  if (!bring_out(thread)) return false;
  now.rax = number;
  now.rip -= 2;
  return ptrace(PTRACE_SETREGS, thread.id, nullptr, &now) == 0;
}

std::optional<TraceStop> Tracer::pass_call(Thread& thread) {
  std::optional<TraceStop> hit;
  if (!undo_call(thread)) return hit;
  prepare_step(thread);
  hold_others(thread, [&] {
    if (!thread.gone) hit = step_guarded(thread);
  });
  return hit;
}

// --- writes
// --------------------------------------------------------------------------------------------------------

bool Tracer::is_page_fault(const Thread& thread, const siginfo_t& info) const {
  auto address = reinterpret_cast<uint64_t>(info.si_addr);
  if (info.si_code != SEGV_ACCERR || next_instruction(thread.id) == address) return false;
  ProcessRef process = thread.process.lock();
  GuardedPages& pages = process->memory->pages;
  if (!pages.has(address)) pages.note_growth(process->id);
  return pages.has(address);
}

/// What is watched there, in whatever way.
std::vector<WatchedWord> Tracer::touched(const Process& process, uint64_t address, size_t size) const {
  std::vector<WatchedWord> all = process.watches.near(address, size);
  for (const GuardedWords::Word& word : process.words.touched(address, size))
    all.push_back({word.address, word.size, false});
  return all;
}

std::optional<TraceStop> Tracer::tell_of(Thread& thread, std::vector<WatchedWord> hits) {
  if (hits.empty()) return std::nullopt;
  std::ranges::sort(hits);
  hits.erase(std::unique(hits.begin(), hits.end()), hits.end());
  thread.watches_hit = std::move(hits);
  return watch_stop(thread);
}

/// What the instruction here writes. The registers become those behind it.
bool Tracer::take_store(Thread& thread, Here& here, Store& store) const {
  ProcessRef process = thread.process.lock();
  StoreContext context{
      [&](uint64_t address, void* to, size_t size) { return process->memory->read(address, to, size); },
      [&](unsigned number, void* to, size_t size) { return read_vector(thread.id, number, to, size); },
      [&](uint64_t address, size_t size) {
        return thread.stepping || !touched(*process, address, size).empty();
      }};
  return find_store({here.code, here.size}, here.registers, context, store);
}

/// One that repeats counts each round, as the processor does.
std::optional<TraceStop> Tracer::pass_quickly(Thread& thread, bool& done) {
  ProcessRef process = thread.process.lock();
  TracedMemory& memory = *process->memory;
  done = false;
  Here here = prepare_step(thread);
  bool alone = threads_take_turns || process->threads.size() == 1;
  bool shared = std::ranges::any_of(processes_, [&](const auto& other) {
    return other.second != process && other.second->memory == process->memory;
  });
  // Whether it reads something is for the debug registers.
  bool reads = std::ranges::any_of(process->watches.near(0, UINT64_MAX), &WatchedWord::reads);
  static Store store;
  if (!alone || shared || reads || !take_store(thread, here, store)) return std::nullopt;
  bool within =
      memory.pages.has(store.address) && page_of(store.address) == page_of(store.address + store.size - 1);
  if (!within || !memory.write(store.address, store.bytes.data(), store.size)) return std::nullopt;
  done = ptrace(PTRACE_SETREGS, thread.id, nullptr, &here.registers) == 0;
  return tell_of(thread, touched(*process, store.address, store.size));
}

/// One instruction that writes about there, or one round of it. The debug registers tell what is written;
/// where they are too few it is done again, from what was there before.
std::optional<TraceStop> Tracer::step_near(Thread& thread, uint64_t address) {
  ProcessRef process = thread.process.lock();
  Here here = prepare_step(thread);
  thread.repeats = false;  // what the next round writes is another question
  Operands operands = operands_of({here.code, here.size}, here.registers);
  constexpr uint64_t kWidest = 64;
  if (!operands.known || operands.memory.empty()) operands.memory = {{address - kWidest, 2 * kWidest}};
  std::vector<Watchpoints> groups(1);
  auto add = [&](uint64_t at, uint32_t size, bool reads) {
    if (groups.back().add(at, size, reads)) return;
    groups.emplace_back();
    (void)groups.back().add(at, size, reads);
  };
  for (const Operands::Memory& one : operands.memory) {
    for (const GuardedWords::Word& word : process->words.touched(one.address, one.size))
      add(word.address, word.size, false);
    for (const WatchedWord& watch : process->watches.near(one.address, one.size))
      add(watch.address, watch.size, watch.reads);
  }
  auto state = groups.size() > 1 ? extended_state(thread.id) : Result<std::vector<uint8_t>>();
  std::vector<std::pair<uint64_t, std::vector<uint8_t>>> before;
  for (const Operands::Memory& one : operands.memory) {
    if (groups.size() == 1) break;
    std::vector<uint8_t> bytes(one.size);
    // It may be larger here than it is.
    while (!bytes.empty() && !process->memory->read(one.address, bytes.data(), bytes.size()))
      bytes.resize(bytes.size() / 2);
    before.emplace_back(one.address, std::move(bytes));
  }
  std::vector<WatchedWord> hits;
  std::optional<TraceStop> hit;
  for (size_t i = 0; i < groups.size(); ++i) {
    if (i > 0) {
      ptrace(PTRACE_SETREGS, thread.id, nullptr, &here.registers);
      if (state) (void)set_extended_state(thread.id, *state);
      for (const auto& [at, bytes] : before) process->memory->write(at, bytes.data(), bytes.size());
    }
    if (groups.size() > 1 || !groups.front().empty()) {
      thread.near = groups[i];
      (void)thread.near->apply(thread.id, thread.watching);
    }
    hit = step_over(thread);
    if (thread.gone || thread.fault || thread.signal != 0) break;
    if (hit && hit->kind == TraceStop::Kind::kWatch)
      hits.insert(hits.end(), thread.watches_hit.begin(), thread.watches_hit.end());
  }
  if (!thread.gone && std::exchange(thread.near, std::nullopt))
    thread.watches_due = !process->watches.apply(thread.id, thread.watching);
  return hits.empty() ? hit : tell_of(thread, hits);
}

/// Others are held, and it stands where it faulted. One that repeats goes on until it hits something.
std::optional<TraceStop> Tracer::write_through(Thread& thread, uint64_t address) {
  ProcessRef process = thread.process.lock();
  std::set<uint64_t> others = wanted_pages(*process->memory);
  others.erase(page_of(address));
  process->pages_due = true;
  if (!change_pages(thread, process->memory->pages.to_free(others), false)) return std::nullopt;
  std::optional<TraceStop> hit;
  bool repeats = prepare_step(thread).repeats();
  do {
    hit = step_near(thread, address);
    if (hit || thread.gone || thread.fault || thread.signal != 0) break;
  } while (repeats && next_instruction(thread.id) == thread.stepped_from);
  return hit;
}

/// One instruction, while others are held.
std::optional<TraceStop> Tracer::step_guarded(Thread& thread) {
  ProcessRef process = thread.process.lock();
  bool guarded = process->guards();
  if (guarded && thread.saves_flags) free_pages(*process);  // a call
  std::optional<TraceStop> hit;
  if (!thread.fault) hit = step_over(thread);
  while (thread.fault && !thread.gone) {
    uint64_t address = *std::exchange(thread.fault, std::nullopt);
    hit = write_through(thread, address);
  }
  if (thread.gone || process->ended) return hit;
  bool waits = !thread.stands;  // in a call, with pages free
  if (waits && guarded && process->threads.size() > 1) missed_ = true;
  if (!waits && process->pages_due && !arrange_pages(*process)) missed_ = true;
  return hit;
}

std::optional<TraceStop> Tracer::pass_fault(Thread& thread) {
  bool done = false;
  std::optional<TraceStop> hit = pass_quickly(thread, done);
  if (done) {
    thread.fault.reset();
    return hit;
  }
  hold_others(thread, [&] {
    if (!thread.gone) hit = step_guarded(thread);
  });
  return hit;
}

}  // namespace pastcone::replay
