// What the parts of the tracer share.
#pragma once

#include <csignal>

#include "pastcone/replay/ahead_memory.h"
#include "pastcone/replay/traced_memory.h"
#include "pastcone/replay/tracer.h"
#include "pastcone/replay/vector_state.h"
#include "pastcone/replay/watchpoints.h"

namespace pastcone::replay {

struct Tracer::Process {
  pid_t id = 0;
  std::shared_ptr<TracedMemory> memory;
  std::map<pid_t, ThreadRef> threads;
  std::map<uint64_t, int> breaks;
  std::map<uint64_t, uint64_t> jumps;  ///< of the runtime, which may be there, and where they lead
  Watchpoints watches;
  GuardedWords words;
  bool pages_due = false;  ///< they are not as they should be
  std::set<uint64_t> no_stores;  ///< where it was hit, and what comes next is none
  /// It has guarded pages, or would have if the program could write there.
  bool guards() const { return !words.empty() || !memory->pages.empty(); }
  bool stands = false;
  bool halting = false;  ///< threads that stop are to stay
  bool leaving = false;  ///< let go, but for threads that could not be
  bool ended = false;
};

/// Whether it has stopped in the middle of a call, and can make no other.
enum class Tracer::InKernel : uint8_t { kNo, kReturns, kWaits };

/// What a thread has come to without the processor, and without knowing it yet.
struct Tracer::Ahead {
  user_regs_struct registers;
  std::unique_ptr<AheadMemory> memory;
  std::unique_ptr<VectorState> vectors;
  int hits = 0;
  int reach = 0;                  ///< instructions up to the next hit, at the most
  int done = 0, done_before = 0;  ///< before the last hit
  int farthest = 0;               ///< from one hit to the next
};

struct Tracer::Thread {
  pid_t id = 0;
  std::weak_ptr<Process> process;
  bool stands = false;       ///< in a stop of ptrace
  bool interrupted = false;  ///< asked to stop
  bool stuck = false;        ///< see cannot_stop()
  bool gone = false;
  bool in_group_stop = false;
  bool watches_due = false;  ///< they have changed while it could not be reached
  Watchpoints::Registers watching = {};  ///< what it has of them
  bool stepping = false;     ///< by step()
  bool held = false;         ///< stays while others of its process go on
  bool in_handler = false;   ///< the process's own, of an int3 where we have a breakpoint
  std::optional<uint64_t> told_at;
  bool passing = false;                  ///< over a breakpoint, inside a call
  int signal = 0;                        ///< to be delivered when it goes on
  std::optional<siginfo_t> info;         ///< of it, if it was put off
  std::optional<uint64_t> seen;          ///< the breakpoint here has been told of
  std::optional<uint64_t> midway;        ///< it is in the middle of what repeats there, over a breakpoint
  std::optional<uint64_t> swallowed_at;  ///< a fault there was taken for that of a breakpoint removed since
  std::optional<TraceStop> pending;
  std::vector<WatchedWord> watches_hit;
  std::optional<uint64_t> trapped_at;    ///< where a debug register has stopped it, and it still is
  InKernel in_kernel = InKernel::kNo;
  bool at_call = false;             ///< it has stopped at the beginning of a call
  bool call_due = false;            ///< which guarded pages must not be there for
  std::optional<uint64_t> fault;    ///< of ours, at that address
  std::optional<Watchpoints> near;  ///< instead of those of the process, for one instruction
  std::unique_ptr<Ahead> ahead;     ///< it is there in truth
  int in_vain = 0, left_out = 0;    ///< how often that was of little use, and is not to be tried
  int reach = 0;                    ///< how far the next hit mostly is; 0: not known
  unsigned times_near = 0, times_left = 0;  ///< how often it has been looked for no farther, or not at all
  // Of the instruction that is being stepped:
  bool pushes_flags = false, saves_flags = false, traps_itself = false, repeats = false;
  uint64_t stepped_from = 0;
};

/// Where a thread stands: at which instruction.
struct Tracer::Here {
  user_regs_struct registers{};
  uint8_t code[15] = {};
  size_t size = 0;

  bool pops_flags() const { return size > 0 && code[0] == 0x9d; }
  /// rep movs and the like: each round is a step.
  bool repeats() const {
    if (code[0] != 0xf2 && code[0] != 0xf3) return false;
    uint8_t operation = code[(code[1] & 0xf0) == 0x40 ? 2 : 1];
    return (operation >= 0xa4 && operation <= 0xa7) || (operation >= 0xaa && operation <= 0xaf);
  }
};

/// Between a public call's begin and end. What is due is done at the outermost end.
class Tracer::Entry {
 public:
  explicit Entry(Tracer& tracer) : tracer_(tracer) { ++tracer_.depth_; }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;
  ~Entry() {
    if (tracer_.depth_ == 1) tracer_.work_off();
    --tracer_.depth_;
  }

 private:
  Tracer& tracer_;
};

/// wait4 of one thread; 0: nothing yet.
pid_t wait_for(pid_t thread, int& status, int options);
/// Lets others run for a moment; longer the more often it was called.
void pause_a_moment(int& times);
/// The number after `name` in /proc/ID/status.
std::optional<pid_t> status_number(pid_t thread, const char* name);

constexpr uint64_t kTrapFlag = 0x100;

}  // namespace pastcone::replay
