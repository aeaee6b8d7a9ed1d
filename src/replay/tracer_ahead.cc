// Who is hit all the time mostly does little in between: a few instructions of a loop. To let it go and wait
// until it has stopped again takes the kernel many times as long as we take to do these ourselves. So after a
// hit that nobody wanted we go ahead, from hit to hit, and the process gets its memory and registers as they
// are then (come_back).
#include <sys/ptrace.h>

#include <algorithm>

#include "pastcone/patch/abi.h"
#include "pastcone/replay/ahead_memory.h"
#include "pastcone/replay/stores.h"
#include "pastcone/replay/tracer_parts.h"

namespace pastcone::replay {
namespace {

constexpr int kMostInstructions = 500;  // from one hit to the next: they take about as long as a stop
constexpr int kLeastInstructions = 32;
constexpr int kBegin = 150;      // what it takes to begin, in instructions
constexpr int kFew = 8;          // hits
constexpr int kMostHits = 1000;  // then others have their turn
constexpr int kMostInVain = 6;   // then one of 64 is tried
constexpr int kToTryFar = 64;    // how often it is looked whether the next hit has come nearer
constexpr size_t kMostPlaces = 256;

bool in_runtime(uint64_t address) { return address >= patch::kRuntimeBase && address < patch::kRuntimeEnd; }

}  // namespace

/// It must be alone with its memory, and nothing may be due that the kernel has to do.
bool Tracer::may_go_ahead(const Thread& thread) const {
  bool busy = thread.held || thread.signal != 0 || thread.stepping || thread.passing || thread.in_handler ||
              thread.midway || thread.pending || thread.at_call || thread.in_kernel != InKernel::kNo;
  if (!threads_take_turns || processor_counts || !thread.stands || thread.gone || busy) return false;
  ProcessRef process = thread.process.lock();
  if (process->halting || process->stands || process->leaving || process->pages_due) return false;
  bool shared = process->memory->has_strangers() || std::ranges::any_of(processes_, [&](const auto& other) {
                  return other.second != process && other.second->memory == process->memory;
                });
  // What reads something is for the debug registers.
  return !shared && std::ranges::none_of(process->watches.near(0, UINT64_MAX), &WatchedWord::reads);
}

bool Tracer::begin_ahead(Thread& thread) {
  if (Ahead* ahead = thread.ahead.get()) {
    ahead->farthest = std::max(ahead->farthest, ahead->done - std::exchange(ahead->done_before, ahead->done));
    return ++ahead->hits < kMostHits;
  }
  if (!may_go_ahead(thread)) return false;
  if (thread.left_out > 0) {
    --thread.left_out;
    return false;
  }
  if (in_runtime(next_instruction(thread.id))) return false;
  user_regs_struct now{};
  if (ptrace(PTRACE_GETREGS, thread.id, nullptr, &now) != 0 || (now.eflags & kTrapFlag) != 0) return false;
  ProcessRef process = thread.process.lock();
  thread.ahead =
      std::make_unique<Ahead>(Ahead{now, std::make_unique<AheadMemory>(process->id, *process->memory),
                                    std::make_unique<VectorState>(thread.id)});
  bool far = thread.reach == 0 || ++thread.times_near % kToTryFar == 0;
  thread.ahead->reach = far ? kMostInstructions : thread.reach;
  process->memory->ahead = thread.ahead->memory.get();
  return true;
}

/// Up to the next hit, if it is not far. `told`: there is a breakpoint where it stands, which has been told
/// of, and is `passed` if it comes further at all.
std::optional<TraceStop> Tracer::go_ahead(Thread& thread, bool told, bool& passed) {
  passed = false;
  if (!begin_ahead(thread)) return std::nullopt;
  ProcessRef process = thread.process.lock();
  TracedMemory& memory = *process->memory;
  user_regs_struct& now = thread.ahead->registers;
  AheadMemory& kept = *thread.ahead->memory;
  EmulationBounds bounds;
  bounds.process = process->id;
  bounds.alone = bounds.called = true;
  bounds.memory = &kept;
  bounds.vectors = thread.ahead->vectors.get();
  bounds.looked_at = [&](uint64_t address, uint64_t size) { return !touched(*process, address, size).empty(); };
  int& done = thread.ahead->done;
  for (int i = 0; i < thread.ahead->reach && !in_runtime(now.rip); ++i, ++done) {
    if ((i > 0 || !told) && memory.has(now.rip)) {
      if (!memory.is_in_place(now.rip)) break;
      return TraceStop{TraceStop::Kind::kBreak, process->id, thread.id, now.rip, 0};
    }
    if (!emulate(kept.code(now.rip), now, bounds)) break;
    passed = true;
    AheadMemory::Written written = kept.take_written();
    if (written.size == 0) continue;
    if (auto hit = tell_of(thread, touched(*process, written.address, written.size))) return hit;
  }
  return std::nullopt;
}

const user_regs_struct* Tracer::ahead_of(pid_t id) const {
  auto thread = threads_.find(id);
  return thread == threads_.end() || !thread->second->ahead ? nullptr : &thread->second->ahead->registers;
}

/// The thread has the vector registers that it has come to, and may be given others.
void Tracer::show_vectors(pid_t id) const {
  auto thread = threads_.find(id);
  if (thread != threads_.end() && thread->second->ahead) thread->second->ahead->vectors->forget();
}

/// memcpy writes twice where its parts overlap, by instructions one behind the other. If there is little else that can be
/// done ahead, this is still quicker than a stop for each.
std::optional<TraceStop> Tracer::store_behind(Thread& thread) {
  ProcessRef process = thread.process.lock();
  if (!may_go_ahead(thread)) return std::nullopt;
  std::optional<uint64_t> trapped_at = std::exchange(thread.trapped_at, std::nullopt);
  uint64_t rip = trapped_at ? *trapped_at : next_instruction(thread.id);
  uint64_t page = page_of(thread.watches_hit.front().address);
  TracedMemory& memory = *process->memory;
  if (in_runtime(rip) || memory.has(rip) || process->no_stores.contains(rip)) return std::nullopt;
  Here here = prepare_step(thread);
  static Store store;
  if (thread.traps_itself) return std::nullopt;
  if (here.repeats() || !take_store(thread, here, store)) {
    if (process->no_stores.size() >= kMostPlaces) process->no_stores.clear();
    process->no_stores.insert(rip);
    return std::nullopt;
  }
  std::vector<WatchedWord> hits = touched(*process, store.address, store.size);
  // On a page that has just been written to, it can be.
  bool within = page_of(store.address) == page && page_of(store.address + store.size - 1) == page;
  if (hits.empty() || !within || !memory.write(store.address, store.bytes.data(), store.size)) return std::nullopt;
  if (ptrace(PTRACE_SETREGS, thread.id, nullptr, &here.registers) != 0) return std::nullopt;  // somebody has killed it
  return tell_of(thread, std::move(hits));
}

/// The process is where we are.
void Tracer::come_back(Thread& thread) {
  if (!thread.ahead) return;
  thread.trapped_at.reset();
  ProcessRef process = thread.process.lock();
  std::unique_ptr<Ahead> ahead = std::move(thread.ahead);
  if (process) process->memory->ahead = nullptr;
  ahead->memory.reset();
  ahead->vectors.reset();
  // Fails only if somebody has killed it.
  ptrace(PTRACE_SETREGS, thread.id, nullptr, &ahead->registers);
  if (process && std::exchange(thread.watches_due, false) && !process->watches.apply(thread.id, thread.watching)) missed_ = true;
  // Few that come one after the other, and then none for long: others are not looked for.
  bool few = ahead->hits > 0 && ahead->hits < kFew;
  if (few)
    thread.reach = std::clamp(2 * ahead->farthest, kLeastInstructions, kMostInstructions);
  else if (ahead->hits > 0 || ahead->reach == kMostInstructions)
    thread.reach = 0;
  int in_vain = few ? std::min(ahead->done - ahead->done_before, thread.reach) : 0;
  bool worthwhile = ahead->hits * kMostInstructions >= kBegin + ahead->done_before + in_vain && ahead->hits > 0;
  thread.in_vain = worthwhile ? 0 : std::min(thread.in_vain + 1, kMostInVain);
  // Not always at the same one of them, if they take turns.
  thread.left_out = worthwhile ? 0 : (1 << thread.in_vain) - 1 + static_cast<int>(++thread.times_left % 2);
}

}  // namespace pastcone::replay
