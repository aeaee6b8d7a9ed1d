#include "pastcone/replay/watch.h"

#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <map>

#include "pastcone/patch/abi.h"
#include "pastcone/record/shared_stage.h"
#include "pastcone/trace/processes.h"

namespace pastcone::replay {
namespace {

using record::load;
using stage::ThreadSlot;
using stage::ThreadState;
using stage::WaitKind;

ThreadState state_of(const ThreadSlot& slot) { return static_cast<ThreadState>(load(slot.state)); }

/// It sleeps where it was when the recording was cut off.
bool last_seen_here(const ThreadSlot& slot) {
  return state_of(slot) == ThreadState::kWaiting &&
         static_cast<WaitKind>(slot.wait_kind) == WaitKind::kFutex && slot.wait_position != 0;
}

/// How the kernel shows one that waits for the child of its vfork.
std::optional<char> in_vfork(const ThreadSlot& slot) {
  if (static_cast<WaitKind>(slot.wait_kind) != WaitKind::kVfork) return {};
  return 'D';
}

/// Or in an event before it that goes no further without others, who are at theirs.
bool at_horizon(const ThreadSlot& slot) {
  auto kind = static_cast<WaitKind>(slot.wait_kind);
  return state_of(slot) == ThreadState::kWaiting && (kind == WaitKind::kHorizon || kind == WaitKind::kVfork);
}

bool at_its_end(const ThreadSlot& slot) {
  ThreadState state = state_of(slot);
  return slot.events_size == 0 || state == ThreadState::kEnded || state == ThreadState::kAtEnd ||
         last_seen_here(slot);
}

/// Of one that waits. Who waits for the child of its vfork has made it.
uint64_t steps_done(const ThreadSlot& slot) {
  if (at_its_end(slot)) return UINT64_MAX;
  return at_horizon(slot) && !in_vfork(slot) ? slot.wait_position : 2 * (std::max<uint64_t>(load(slot.event), 1) - 1);
}

EventId event_of(const ThreadSlot& slot) {
  return EventId(ThreadId(ProcessId(slot.process), slot.thread), std::max<uint64_t>(load(slot.event), 1));
}

/// What it waits for has come; it only has not been scheduled yet.
bool can_go_on(const stage::View& stage, const ThreadSlot& slot) {
  switch (static_cast<WaitKind>(slot.wait_kind)) {
    case WaitKind::kChannel: {
      auto channel = static_cast<uint32_t>(slot.wait_for);
      return load(stage.connection(channel / 2).direction[channel % 2].sent) >= slot.wait_position;
    }
    case WaitKind::kTurn: {
      const stage::Group& group = stage.group(static_cast<uint32_t>(slot.wait_for));
      uint64_t before = stage.turn_before(slot.wait_for, slot.wait_position);
      return load(group.number) == before && load(group.owner) == 0;
    }
    case WaitKind::kHorizon:
      return load(slot.horizon) > slot.wait_position ||
             (load(slot.horizon) == slot.wait_position && load(slot.horizon_point) > slot.wait_for);
    default:
      return false;
  }
}

std::string object_name(uint64_t address) {
  // The runtime stands for what libc has locks for: the heap and more.
  bool of_runtime = address >= patch::kRuntimeBase && address < patch::kRuntimeEnd;
  return of_runtime ? "a lock inside libc" : fmt::format("the lock at {:#x}", address);
}

std::string wait_text(const ThreadSlot& slot) {
  switch (static_cast<WaitKind>(slot.wait_kind)) {
    case WaitKind::kChannel:
      return fmt::format("it waits for bytes of channel {} up to {} that nobody sends", slot.wait_for,
                         slot.wait_position);
    case WaitKind::kPacket:
      return fmt::format("it waits for what begins at byte {} of channel {}, which nobody sends",
                         slot.wait_position, slot.wait_for);
    case WaitKind::kTurn:
      return fmt::format("it waits for turn {} of group {} that does not come", slot.wait_position,
                         slot.wait_for);
    case WaitKind::kFile:
      return fmt::format("it waits for file {}", slot.wait_for);
    case WaitKind::kOrder:
      return fmt::format("it waits until {} was used {} times, which does not happen",
                         object_name(slot.wait_for), slot.wait_position);
    case WaitKind::kJoin:
      return "it waits for the end of a thread that does not come";
    case WaitKind::kFutex:
      return "it sleeps in futex, and nobody wakes it";
    case WaitKind::kVfork:
      return "it waits for the child of its vfork";
    case WaitKind::kHorizon:
    case WaitKind::kNone:
      break;
  }
  return "it waits for something that does not come";
}

std::string death_text(const ThreadSlot& slot, const Session& session) {
  if (state_of(slot) == ThreadState::kNone) return "it was never started";
  std::string how;
  if (auto status = session.status(static_cast<pid_t>(slot.tid))) {
    how = WIFSIGNALED(*status) ? fmt::format(" by {}", signal_name(static_cast<uint64_t>(WTERMSIG(*status))))
                               : fmt::format(" with status {}", WEXITSTATUS(*status));
  }
  return fmt::format("it ended{} before its recording does", how);
}

/// Who waits for a thread's end, or for his turn to make a call, waits because of somebody else who waits.
int remoteness(const ThreadSlot& slot) {
  switch (static_cast<WaitKind>(slot.wait_kind)) {
    case WaitKind::kJoin:
    case WaitKind::kVfork:
      return 3;
    case WaitKind::kTurn:
      return 2;
    case WaitKind::kFutex:
      return 1;
    default:
      return 0;
  }
}

/// The first of each process.
template <typename Select, typename Text>
std::vector<Divergence> one_per_process(const stage::View& stage, uint32_t threads, stage::Cause cause,
                                        Select select, Text text) {
  std::map<uint32_t, Divergence> found;
  for (uint32_t index = 0; index < threads; ++index) {
    const ThreadSlot& slot = stage.thread(index);
    if (select(index)) found.try_emplace(slot.process, Divergence{event_of(slot), text(slot), cause, {}, {}});
  }
  std::vector<Divergence> result;
  for (auto& [process, divergence] : found) result.push_back(std::move(divergence));
  return result;
}

}  // namespace

bool Watch::may_be_stuck() const {
  const stage::Header& header = stage_.header();
  uint32_t waiting = load(header.waiting_threads);
  return waiting > 0 && waiting >= load(header.live_threads);
}

bool Watch::stands_traced(const ThreadSlot& thread) const {
  if (tracer_ == nullptr) return false;
  const stage::ProcessSlot& process = stage_.process(thread.process);
  if (tracer_->holds(static_cast<pid_t>(load(thread.tid)))) return true;
  return tracer_->stands(static_cast<pid_t>(load(stage_.thread(process.first_thread).tid)));
}

/// Most looks end here: one that runs is enough, and what the kernel says of all the others is dear.
bool Watch::somebody_runs() const {
  for (uint32_t index = 0; index < threads_; ++index) {
    const ThreadSlot& thread = slot(index);
    if (state_of(thread) != ThreadState::kRunning || dead_.contains(index) || stands_traced(thread)) continue;
    auto tid = static_cast<pid_t>(load(thread.tid));
    if (tid != 0 && Session::thread_state(tid)) return true;
  }
  return false;
}

bool Watch::everybody_sleeps(const Session& session) {
  if (somebody_runs()) return false;
  std::set<pid_t> known;
  bool somebody_waits = false;
  for (uint32_t index = 0; index < threads_; ++index) {
    const ThreadSlot& thread = slot(index);
    ThreadState state = state_of(thread);
    if (state == ThreadState::kNone || dead_.contains(index)) continue;
    auto tid = static_cast<pid_t>(load(thread.tid));
    if (tid == 0) {
      // Its creator has announced it. One that forks may stop before there is a process; if there is one, it
      // is found below. A thread may end with its process before it says so.
      if (thread.thread == 1 || state == ThreadState::kEnded) continue;
      if (!stands_traced(thread)) return false;
      somebody_waits = true;  // it was held before it could say so
      continue;
    }
    known.insert(tid);
    std::optional<char> doing = Session::thread_state(tid);
    if (stands_traced(thread)) {
      somebody_waits = true;
      continue;
    }
    // Held, the processes stay where their recordings were cut off.
    bool stays = state == ThreadState::kAtEnd && (stage_.header().flags & stage::kFlagAsPrograms) != 0;
    if (stays && doing == 'S') somebody_waits = true;
    if (state == ThreadState::kEnded && (doing == 'R' || doing == 'D')) return false;  // somebody may join it
    if (state != ThreadState::kRunning && state != ThreadState::kWaiting) continue;
    if (!doing && state_of(thread) == state) {
      dead_.insert(index);
      continue;
    }
    if (state == ThreadState::kRunning || (doing != 'S' && doing != in_vfork(thread)) ||
        can_go_on(stage_, thread)) {
      return false;
    }
    somebody_waits = true;
  }
  // One that is just being started has no slot yet.
  return somebody_waits && !session.has_others_than(known);
}

bool Watch::is_stuck(const Session& session) {
  // Two rounds: in the first somebody may be asleep who is just about to be woken by one who is looked at
  // later, asleep again by then. In the second he is awake, or has gone on and said so in `progress`.
  uint32_t progress = load(stage_.header().progress);
  return everybody_sleeps(session) && everybody_sleeps(session) && load(stage_.header().progress) == progress;
}

std::vector<Divergence> Watch::waiting() const {
  auto waits = [this](uint32_t index) {
    return state_of(slot(index)) == ThreadState::kWaiting && !last_seen_here(slot(index)) &&
           !at_horizon(slot(index));
  };
  std::map<uint32_t, int> least;
  for (uint32_t index = 0; index < threads_; ++index) {
    if (!waits(index)) continue;
    int& known = least.try_emplace(slot(index).process, remoteness(slot(index))).first->second;
    known = std::min(known, remoteness(slot(index)));
  }
  return one_per_process(
      stage_, threads_, stage::Cause::kWait,
      [&](uint32_t index) { return waits(index) && remoteness(slot(index)) == least[slot(index).process]; },
      wait_text);
}

std::vector<Standing> Watch::standing() const {
  std::vector<Standing> result;
  for (uint32_t index = 0; index < threads_; ++index) {
    const ThreadSlot& thread = slot(index);
    if (state_of(thread) == ThreadState::kNone) continue;
    Standing where;
    // Who ends gives back locks inside its last event, of which the step has not come by then.
    bool parked = at_horizon(thread) && !in_vfork(thread);
    uint64_t last = parked ? thread.wait_position / 2 : std::max<uint64_t>(load(thread.event), 1) - 1;
    where.last = EventId(ThreadId(ProcessId(thread.process), thread.thread), last);
    where.entered = parked && thread.wait_position % 2 != 0 && last > 0;
    where.ended = at_its_end(thread);
    where.thread = static_cast<pid_t>(load(thread.tid));
    where.steps = steps_done(thread);
    where.points = load(thread.points);
    if (parked && load(thread.horizon_point) != 0) where.point = where.points;
    result.push_back(where);
  }
  return result;
}

uint64_t Watch::events_done() const {
  uint64_t sum = 0;
  for (uint32_t index = 0; index < threads_; ++index) sum += std::max<uint64_t>(load(slot(index).event), 1) - 1;
  return sum;
}

uint64_t Watch::progress() const {
  uint64_t sum = load(stage_.header().progress);
  for (uint32_t index = 0; index < threads_; ++index) {
    sum += load(slot(index).event) + load(slot(index).operations_done);
  }
  return sum;
}

bool Watch::computes(uint32_t index) const {
  if (state_of(slot(index)) != ThreadState::kRunning) return false;
  return Session::thread_state(static_cast<pid_t>(load(slot(index).tid))) == 'R';
}

std::vector<pid_t> Watch::computing_threads() const {
  std::vector<pid_t> found;
  for (uint32_t index = 0; index < threads_; ++index) {
    if (computes(index)) found.push_back(static_cast<pid_t>(load(slot(index).tid)));
  }
  return found;
}

std::vector<Divergence> Watch::computing() const {
  return one_per_process(
      stage_, threads_, stage::Cause::kOrder, [this](uint32_t index) { return computes(index); },
      [](const ThreadSlot&) { return "it computes on and on, and never comes to this event"; });
}

std::vector<Divergence> Watch::reported() const {
  std::vector<Divergence> result;
  for (uint32_t number = 1; number <= processes_; ++number) {
    const stage::ProcessSlot& process = stage_.process(number);
    if (load(process.diverged) < static_cast<uint32_t>(stage::ReportState::kWritten)) continue;
    std::string what(process.report, strnlen(process.report, sizeof process.report));
    ThreadId thread(ProcessId(number), process.diverged_thread);
    result.push_back({EventId(thread, load(process.diverged_event)),
                      std::move(what),
                      static_cast<stage::Cause>(process.cause),
                      {},
                      {}});
  }
  return result;
}

std::vector<Divergence> Watch::died(const Session& session) const {
  return one_per_process(
      stage_, threads_, stage::Cause::kEnd, [this](uint32_t index) { return dead_.contains(index); },
      [&](const ThreadSlot& thread) { return death_text(thread, session); });
}

std::vector<Divergence> Watch::unfinished(const Session& session) const {
  return one_per_process(
      stage_, threads_, stage::Cause::kEnd, [this](uint32_t index) { return !at_its_end(slot(index)); },
      [&](const ThreadSlot& thread) { return death_text(thread, session); });
}

bool Watch::was_killed(ThreadId thread, const Session& session) const {
  for (uint32_t index = 0; index < threads_; ++index) {
    if (slot(index).process != thread.process().number() || slot(index).thread != 1) continue;
    auto status = session.status(static_cast<pid_t>(slot(index).tid));
    return status && WIFSIGNALED(*status) && WTERMSIG(*status) == SIGKILL;
  }
  return false;
}

uint64_t Watch::unfinished_threads() const {
  uint64_t count = 0;
  for (uint32_t index = 0; index < threads_; ++index) count += at_its_end(slot(index)) ? 0 : 1;
  return count;
}

}  // namespace pastcone::replay
