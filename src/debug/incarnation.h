// One replay of the run while it is being debugged. It only goes forward; who wants to go back begins another
// one. Threads are sent on by horizons, and within their program by the tracer, which also says how they got
// there (trails).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "pastcone/debug/code_map.h"
#include "pastcone/debug/state.h"
#include "pastcone/debug/world.h"
#include "pastcone/replay/live.h"

namespace pastcone::debug {

/// How far a motion came.
struct Arrival {
  replay::Halt halt = replay::Halt::kStanding;
  std::optional<replay::TraceStop> stop;  ///< kTraced
  ThreadId thread;                        ///< whose stop it is
};

/// Where a process begins with a program: at its birth or behind an exec, in plain steps.
struct Gate {
  ThreadId thread;
  uint64_t step = 0;
  auto operator<=>(const Gate&) const = default;
};

class Incarnation {
 public:
  /// Nobody has begun. Without horizons in `options`: they are given here.
  static Result<std::unique_ptr<Incarnation>> begin(const World& world, replay::ReplayOptions options);
  ~Incarnation();

  replay::Live& live() { return *live_; }
  replay::Tracer& tracer() { return live_->tracer(); }

  // --- who is where ---
  State present() const;
  pid_t pid(ProcessId process) const;   ///< 0: there is none, yet or any more
  pid_t tid(ThreadId thread) const;
  ThreadId thread_of(pid_t tid) const;
  uint64_t events_done(ThreadId thread) const;
  uint64_t steps_done(ThreadId thread) const;  ///< plain ones
  const stage::ThreadSlot& slot(ThreadId thread) const;
  /// It has ended without having come to its end.
  bool is_dead(ProcessId process) const;
  /// So that it has not come to its end: from outside.
  bool was_killed(ProcessId process) const;
  /// Between entering an event and leaving it, or parked.
  bool in_call(ThreadId thread) const;
  /// How many programs it has begun with, since it was forked.
  size_t programs_begun(ProcessId process) const;
  /// The one that it has been given by execve, or was created for, and has not begun with: there is none to be looked at.
  const ProgramRun* about_to_begin(ProcessId process) const;
  /// It sleeps until the child of its vfork has executed a program or ended. Then nobody can look at it.
  bool in_vfork(ThreadId thread);

  // --- going on ---
  /// Whether it lies ahead.
  bool can_reach(const State& target) const;
  /// Says what did not go as it should; kTraced and kInterrupted are passed on, and mean that it is not there.
  Result<Arrival> go_to(const State& target);
  /// From the cut of the target on, along its trails; who comes to a point on the way that is a stop stays there, the
  /// others go on. These stops.
  Result<std::vector<Arrival>> follow(const State& target);
  /// Those named may go so far; all that are traced and not in `staying` go on. Until somebody stops or nobody goes on.
  Arrival run(const replay::Horizons& horizons, const std::set<ProcessId>& staying = {}, bool often = true);
  /// One instruction of the program, of a thread that stands; if that is a call, up to behind it, or up to where it
  /// waits for others: kStanding.
  Arrival step(ThreadId thread);

  /// The thread, whose registers lead it into a function, runs until it is stopped. It does nothing that is
  /// recorded: kStanding.
  Arrival call(ThreadId thread);
  /// Where threads have come to, which a call changes.
  /// Events and points of locks that a thread has behind it.
  struct Since {
    uint64_t events = 0, points = 0;
    bool operator==(const Since&) const = default;
  };
  Since since(ThreadId thread) const;
  struct Point {
    Move::Kind kind;
    uint64_t address;
    uint32_t size;  ///< of what is watched; there may be several that begin there
    auto operator<=>(const Point&) const = default;
  };
  struct Way {
    Since since;          ///< what follows is behind it
    Trail before;         ///< up to where counting began
    std::map<Point, uint64_t> counts;
    Trail now;  ///< where it stands, if it does
    /// What comes before that. None: it has passed no point on the way, and this is at the last one.
    std::optional<Trail> first = {};
  };
  const Way& way(ThreadId thread) { return ways_[thread]; }
  void set_way(ThreadId thread, const Way& way) { ways_[thread] = way; }

  // --- standing still, to be looked at ---
  Status freeze(ProcessId process);
  bool frozen(ProcessId process) const;
  /// Wherever it is just now, which cannot be come to again.
  void stop_anywhere(ProcessId process);
  Result<user_regs_struct> registers(ThreadId thread);  ///< as the program has them
  Result<user_regs_struct> real_registers(ThreadId thread);
  /// In a function of pastcone's that stands for one of libc; its registers are those behind the call.
  bool in_hooked_call(ThreadId thread);
  bool read(ProcessId process, uint64_t address, void* to, size_t size);

  /// Points, of those that stand. From then on trails begin where they stand now. Writes are watched by their
  /// page where there is no debug register left.
  Status add_break(ProcessId process, uint64_t address);
  /// The same; whoever does this knows himself where trails begin.
  Status set_break(ProcessId process, uint64_t address);
  void remove_break(ProcessId process, uint64_t address);
  Status add_watch(ProcessId process, uint64_t address, uint32_t size, bool reads = false);
  void remove_watch(ProcessId process, uint64_t address, uint32_t size, bool reads = false);

  /// Asked at every hit of a point, while only that thread stands: whether this is a stop. `inside`: the
  /// runtime has written, on behalf of the program; the event is not over.
  using Filter = std::function<bool(const replay::TraceStop& stop, ThreadId thread, bool inside)>;
  Filter filter;
  /// On a trail that `filter` stops at: whether that was not meant, and it goes on.
  std::function<Result<bool>(const Arrival&)> passes;

  const CodeMap& code(ProcessId process);
  std::set<Gate> opened;  ///< motion.h

 private:
  explicit Incarnation(const World& world) : world_(world) {}
  bool take_hit(const replay::TraceStop& stop);
  static Point point_of(const replay::TraceStop& stop);
  uint64_t place_of(ProcessId process, uint64_t address) const;
  replay::TraceStop in_program(replay::TraceStop stop) const;
  void note_stop(const replay::TraceStop& stop, ThreadId thread);
  void begin_trail_here(ThreadId thread);
  void begin_trails_here(ProcessId process);
  Result<Arrival> walk(ThreadId thread, const Trail& trail, bool stops = false);
  std::set<pid_t> in_place(ThreadId besides) const;
  Arrival walk_steps(ThreadId thread, uint64_t count);
  Result<Arrival> walk_to_hit(ThreadId thread, const Move& move, const Filter& stops, bool& there);
  Arrival wait_for_stop();
  /// Of this process, whatever others do meanwhile. False: it has ended.
  bool wait_for(pid_t process);
  std::set<ProcessId> others_than(ProcessId process) const;
  replay::Horizon horizon_into_next(ThreadId thread) const;

  std::optional<Move> point_move(const replay::Standing& where) const;
  Arrival pass_points(ThreadId thread, uint64_t points);

  /// Where a thread leaves the runtime, which is no place of the program.
  struct Inner {
    ThreadId thread;
    uint64_t address;
  };

  const World& world_;
  std::unique_ptr<replay::Live> live_;
  std::optional<Inner> inner_;
  std::set<pid_t> held_;  ///< threads that have come to their places while others of their process still walk there
  std::map<ThreadId, Way> ways_;
  std::map<ProcessId, CodeMap> codes_;
  std::set<ProcessId> code_known_;  ///< whose have not gone on since they were looked at
  struct Moved {
    uint64_t address, place;
    auto operator<=>(const Moved&) const = default;
  };
  std::map<ProcessId, std::set<Moved>> moved_;  ///< breakpoints that lie elsewhere than users see them
};

}  // namespace pastcone::debug
