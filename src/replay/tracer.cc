#include "pastcone/replay/tracer.h"

#include <elf.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "pastcone/replay/session.h"
#include "pastcone/replay/tracer_parts.h"

namespace pastcone::replay {
namespace {

/// A call that was interrupted by us, and will be begun again: it has not come to its rip yet.
bool is_in_call(const user_regs_struct& registers) {
  constexpr int64_t kFirstRestart = 512, kLastRestart = 516;  // ERESTARTSYS …
  auto result = static_cast<int64_t>(registers.rax);
  return static_cast<int64_t>(registers.orig_rax) >= 0 && -result >= kFirstRestart && -result <= kLastRestart;
}

Status checked(long result) {
  if (result == 0) return {};
  return fail("ptrace: {}", errno_message(errno));
}

}  // namespace

Tracer::~Tracer() {
  on_fork = nullptr;
  on_end = nullptr;  // who is told may be gone
  std::vector<pid_t> all;
  for (const auto& [id, process] : processes_) all.push_back(id);
  for (pid_t id : all) let_go(id);
}

Tracer::ProcessRef Tracer::find(pid_t process) const {
  auto found = processes_.find(process);
  return found == processes_.end() || found->second->leaving ? nullptr : found->second;
}

Tracer::ThreadRef Tracer::find_standing(pid_t thread) const {
  auto found = threads_.find(thread);
  return found == threads_.end() || !found->second->stands ? nullptr : found->second;
}

Status Tracer::attach(pid_t id) {
  Entry entry(*this);
  if (find(id)) return fail("process {} is traced already", id);
  ProcessRef process;
  if (auto leaving = processes_.find(id); leaving != processes_.end()) {
    process = leaving->second;
    process->leaving = false;
  } else {
    process = std::make_shared<Process>();
    process->id = id;
    process->memory = TRY(TracedMemory::open(id));
    for (const auto& [other_id, other] : processes_) {
      if (!share_memory(id, other_id)) continue;
      process->memory = other->memory;
      break;
    }
    processes_[id] = process;
  }
  Status seized = seize_all(*process);
  if (seized) {
    process->memory->look_for_strangers(id);
  } else if (!process->ended) {
    let_go(id);
  }
  return seized;
}

void Tracer::let_go(pid_t id) {
  Entry entry(*this);
  ProcessRef process = find(id);
  if (!process) return;
  same_cpu_.release();
  if (!process->stands) halt(*process);
  if (process->ended) return;
  for (const auto& [address, count] : process->breaks) {
    for (int i = 0; i < count; ++i) process->memory->remove(address);
  }
  process->breaks.clear();
  bool shared = std::any_of(processes_.begin(), processes_.end(), [&](const auto& other) {
    return other.second != process && other.second->memory == process->memory && !other.second->leaving;
  });
  free_pages(*process);
  if (process->ended) return;
  if (shared) process->memory->add_stranger(id);
  std::erase_if(stops_, [&](const TraceStop& stop) { return stop.process == id; });
  auto threads = process->threads;
  for (auto& [thread_id, thread] : threads) {
    if (thread->stands) detach(*thread);
  }
  process->stands = false;
  process->leaving = true;
  if (process->threads.empty()) processes_.erase(id);
}

bool Tracer::traces(pid_t process) const { return find(process) != nullptr; }

bool Tracer::stands(pid_t process) const {
  ProcessRef found = find(process);
  return found && found->stands;
}

std::vector<pid_t> Tracer::threads(pid_t process) const {
  std::vector<pid_t> all;
  if (ProcessRef found = find(process)) {
    for (const auto& [id, thread] : found->threads) all.push_back(id);
  }
  return all;
}

uint64_t Tracer::next_instruction(pid_t thread) const {
  if (const user_regs_struct* ahead = ahead_of(thread)) return ahead->rip;
  return static_cast<uint64_t>(ptrace(PTRACE_PEEKUSER, thread, offsetof(user_regs_struct, rip), nullptr));
}

Result<user_regs_struct> Tracer::registers(pid_t thread) const {
  if (const user_regs_struct* ahead = ahead_of(thread)) return *ahead;
  user_regs_struct registers{};
  TRY_STATUS(checked(ptrace(PTRACE_GETREGS, thread, nullptr, &registers)));
  return registers;
}

Status Tracer::set_registers(pid_t id, const user_regs_struct& registers) {
  ThreadRef thread = find_standing(id);
  TRY_STATUS(checked(ptrace(PTRACE_SETREGS, id, nullptr, &registers)));
  if (!thread) return {};
  thread->trapped_at.reset();
  if (thread->ahead) thread->ahead->registers = registers;
  // Who is put at a breakpoint has not come there by itself.
  thread->seen.reset();
  if (thread->process.lock()->memory->has(registers.rip)) thread->seen = registers.rip;
  return {};
}

Result<user_fpregs_struct> Tracer::float_registers(pid_t thread) const {
  user_fpregs_struct registers{};
  show_vectors(thread);
  TRY_STATUS(checked(ptrace(PTRACE_GETFPREGS, thread, nullptr, &registers)));
  return registers;
}

Status Tracer::set_float_registers(pid_t thread, const user_fpregs_struct& registers) {
  show_vectors(thread);
  return checked(ptrace(PTRACE_SETFPREGS, thread, nullptr, &registers));
}

Result<std::vector<uint8_t>> Tracer::extended_state(pid_t thread) const {
  auto known = threads_.find(thread);
  if (known != threads_.end() && known->second->ahead) return known->second->ahead->vectors->copy();
  std::vector<uint8_t> state(16 * 1024);
  iovec to{state.data(), state.size()};
  TRY_STATUS(checked(ptrace(PTRACE_GETREGSET, thread, NT_X86_XSTATE, &to)));
  state.resize(to.iov_len);
  return state;
}

Status Tracer::set_extended_state(pid_t thread, const std::vector<uint8_t>& state) {
  std::vector<uint8_t> copy = state;
  iovec from{copy.data(), copy.size()};
  show_vectors(thread);
  return checked(ptrace(PTRACE_SETREGSET, thread, NT_X86_XSTATE, &from));
}

Result<uint64_t> Tracer::signal_mask(pid_t thread) const {
  uint64_t mask = 0;
  TRY_STATUS(checked(ptrace(PTRACE_GETSIGMASK, thread, sizeof mask, &mask)));
  return mask;
}

Status Tracer::set_signal_mask(pid_t thread, uint64_t mask) {
  return checked(ptrace(PTRACE_SETSIGMASK, thread, sizeof mask, &mask));
}

bool Tracer::read(pid_t process, uint64_t address, void* to, size_t size) const {
  ProcessRef found = find(process);
  return found && found->memory->read(address, to, size);
}

bool Tracer::write(pid_t process, uint64_t address, const void* from, size_t size) {
  ProcessRef found = find(process);
  return found && found->memory->write(address, from, size);
}

std::vector<symbols::Mapping> Tracer::mappings(pid_t process) const {
  ProcessRef found = find(process);
  auto maps = symbols::read_maps(process);
  if (!found || !maps) return {};
  return found->memory->pages.undo(symbols::parse_mappings(*maps));
}

bool Tracer::is_inside_jump(const Process& process, uint64_t address) const {
  constexpr uint64_t kJumpSize = 5;
  auto jump = process.jumps.lower_bound(address - kJumpSize + 1);
  if (jump == process.jumps.end() || jump->first >= address) return false;
  uint8_t code[kJumpSize];
  if (!process.memory->read(jump->first, code, sizeof code) || code[0] != 0xe9) return false;
  int32_t distance = 0;
  std::memcpy(&distance, code + 1, sizeof distance);
  return jump->first + kJumpSize + static_cast<uint64_t>(int64_t{distance}) == jump->second;
}

void Tracer::note_jump(pid_t id, uint64_t address, uint64_t stub) {
  if (auto thread = threads_.find(id); thread != threads_.end())
    thread->second->process.lock()->jumps[address] = stub;
}

Status Tracer::add_break(pid_t id, uint64_t address) {
  ProcessRef process = find(id);
  if (!process) return fail("process {} is not traced", id);
  if (is_inside_jump(*process, address))
    return fail("process {} is about to be interrupted at {:#x}, and has a jump there until then", id,
                address);
  TRY_STATUS(process->memory->add(address));
  if (++process->breaks[address] > 1 || !process->stands) return {};
  for (auto& [thread_id, thread] : process->threads) {
    if (!thread->stands) continue;
    auto now = registers(thread_id);
    if (now && now->rip == address) thread->seen = address;
  }
  return {};
}

void Tracer::remove_break(pid_t id, uint64_t address) {
  ProcessRef process = find(id);
  if (!process) return;
  auto known = process->breaks.find(address);
  if (known == process->breaks.end()) return;
  if (--known->second == 0) process->breaks.erase(known);
  process->memory->remove(address);
}

bool Tracer::read_for(pid_t id, uint64_t address, void* to, size_t size) const {
  auto thread = threads_.find(id);
  return thread != threads_.end() && thread->second->process.lock()->memory->read(address, to, size);
}

bool Tracer::has_break(pid_t id, uint64_t begin, uint64_t end) const {
  auto thread = threads_.find(id);
  return thread != threads_.end() && thread->second->process.lock()->memory->any(begin, end);
}

bool Tracer::may_change_watches(pid_t id) const {
  ProcessRef process = find(id);
  if (!process || process->ended) return false;
  return process->stands || (process->threads.size() == 1 && process->threads.begin()->second->stands);
}

Status Tracer::add_watch(pid_t id, uint64_t address, uint32_t size, bool reads) {
  ProcessRef process = find(id);
  if (!may_change_watches(id)) return fail("process {} does not stand", id);
  TRY_STATUS(process->watches.add(address, size, reads));
  Status applied = apply_watches(*process);
  if (!applied) remove_watch(id, address, size, reads);
  return applied;
}

Status Tracer::move_watch(pid_t id, const WatchedWord& from, const WatchedWord& to) {
  ProcessRef process = find(id);
  if (!may_change_watches(id)) return fail("process {} does not stand", id);
  process->watches.remove(from.address, from.size, from.reads);
  Status added = add_watch(id, to.address, to.size, to.reads);
  if (!added) (void)apply_watches(*process);
  return added;
}

/// Who is ahead gets them when he comes back, if he surely can.
Status Tracer::apply_watches(Process& process) {
  for (auto& [id, thread] : process.threads) {
    bool later = !thread->stands || (thread->ahead && process.watches.fit(thread->watching));
    thread->watches_due = later;
    if (!later) TRY_STATUS(process.watches.apply(id, thread->watching));
  }
  return {};
}

void Tracer::remove_watch(pid_t id, uint64_t address, uint32_t size, bool reads) {
  ProcessRef process = find(id);
  if (!may_change_watches(id)) return;
  process->watches.remove(address, size, reads);
  for (auto& [thread_id, thread] : process->threads) {
    bool later = !thread->stands || thread->ahead;
    thread->watches_due = later || !process->watches.apply(thread_id, thread->watching);
  }
}

/// Of one that stands.
bool Tracer::tell_if_wanted(Thread& thread, TraceStop hit) {
  bool told = wanted(thread, hit);
  if (told) stops_.push_back(hit);
  if (told && thread.midway) thread.seen = std::exchange(thread.midway, std::nullopt);
  return told;
}

bool Tracer::has_seen(pid_t id) const {
  ThreadRef thread = find_standing(id);
  return thread && thread->seen && *thread->seen == next_instruction(id);
}

void Tracer::set_seen(pid_t id, bool seen) {
  ThreadRef thread = find_standing(id);
  if (!thread) return;
  thread->seen.reset();
  if (seen) thread->seen = next_instruction(id);
}

bool Tracer::holds(pid_t id) const {
  auto found = threads_.find(id);
  return found != threads_.end() && found->second->held;
}

void Tracer::go_on(pid_t id, const std::set<pid_t>& staying) {
  Entry entry(*this);
  ProcessRef process = find(id);
  if (!process || !process->stands) return;
  for (auto& [thread_id, thread] : process->threads) thread->held = staying.contains(thread_id);
  process->memory->look_for_strangers(id);
  process->memory->renew();
  if (process->pages_due && !arrange_pages(*process)) missed_ = true;
  if (process->ended) return;
  auto threads = process->threads;
  for (auto& [thread_id, thread] : threads) {
    if (thread->pending && !thread->held &&
        tell_if_wanted(*thread, *std::exchange(thread->pending, std::nullopt)))
      return;
  }
  for (auto& [thread_id, thread] : threads) {
    if (thread->held) continue;
    auto seen = std::exchange(thread->seen, std::nullopt);
    if (!seen || !thread->stands || !process->memory->has(*seen)) continue;
    auto now = registers(thread_id);
    if (!now || now->rip != *seen || is_in_call(*now)) continue;
    do {
      auto hit = pass_over(*thread, *seen);
      if (process->ended || (hit && tell_if_wanted(*thread, *hit))) return;
    } while (thread->midway && !thread->gone);
  }
  process->stands = false;
  for (auto& [thread_id, thread] : threads) {
    if (!thread->gone) resume(*thread);
  }
}

void Tracer::step(pid_t id) {
  Entry entry(*this);
  ThreadRef thread = find_standing(id);
  ProcessRef process = thread ? thread->process.lock() : nullptr;
  if (!process || !process->stands || process->leaving) return;
  thread->held = false;
  if (process->pages_due && !arrange_pages(*process)) missed_ = true;
  if (process->ended || thread->gone) return;
  if (thread->pending && tell_if_wanted(*thread, *std::exchange(thread->pending, std::nullopt))) return;
  thread->seen.reset();
  auto now = registers(id);
  if (now && process->memory->has(now->rip) && !is_in_call(*now)) {
    do {
      auto hit = pass_over(*thread, now->rip);
      if (thread->gone) return;
      if (hit && tell_if_wanted(*thread, *hit)) return;
    } while (thread->midway);
    auto then = registers(id);
    bool faulted = thread->signal != 0 && then && then->rip == now->rip;
    if (!thread->passing && !faulted) {
      if (then) thread->seen = then->rip;
      stops_.push_back({TraceStop::Kind::kStep, process->id, id, 0, 0});
      return;
    }
  }
  // After a step over popf the kernel takes the trap flag for the program's own.
  Here here = prepare_step(*thread);
  if (here.pops_flags() && thread->signal == 0 && pass_by(*thread, here)) {
    thread->seen = here.registers.rip;
    stops_.push_back({TraceStop::Kind::kStep, process->id, id, 0, 0});
    return;
  }
  if (thread->saves_flags) free_pages(*process);
  if (thread->gone) return;
  process->stands = false;
  thread->stepping = true;
  resume(*thread);
}

void Tracer::ask_to_stop(pid_t id) {
  Entry entry(*this);
  ProcessRef process = find(id);
  if (!process || process->stands) return;
  halt(*process);
  if (process->ended) return;
  for (auto& [thread_id, thread] : process->threads) {
    thread->stepping = false;
    if (thread->pending && thread->pending->kind == TraceStop::Kind::kStep) thread->pending.reset();
  }
  stops_.push_back({TraceStop::Kind::kAsked, id, id, 0, 0});
}

bool Tracer::has_untold(pid_t id) const {
  return std::ranges::any_of(stops_, [&](const TraceStop& stop) {
    return stop.process == id && stop.kind != TraceStop::Kind::kAsked;
  });
}

bool Tracer::has_pending(pid_t id) const {
  ProcessRef process = find(id);
  return has_untold(id) || (process && std::ranges::any_of(process->threads, [](const auto& each) {
                              return each.second->pending.has_value();
                            }));
}

std::optional<TraceStop> Tracer::next_stop() {
  same_cpu_.release_if_quiet();
  if (stops_.empty()) return std::nullopt;
  TraceStop stop = stops_.front();
  stops_.pop_front();
  return stop;
}

void Tracer::connect(Session& session) {
  session.on_status = [this](pid_t thread, int status) {
    note(thread, status);
    return has_stop();
  };
  on_end = [&session](pid_t process, int status) { session.note(process, status); };
}

}  // namespace pastcone::replay
