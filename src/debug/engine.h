// The run as it is debugged: a state of all processes that can be gone to, forwards and back, and motions from
// there. Going back begins another replay, which nobody sees but by the time it takes.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "pastcone/debug/incarnation.h"
#include "pastcone/debug/motion.h"
#include "pastcone/debug/watch_words.h"

namespace pastcone::debug {

struct EngineOptions {
  bool show_output = true;
  std::function<bool()> interrupted;
  std::function<void(const replay::Live&)> on_wait = {};
  std::function<void(std::string_view)> on_output = {};
};

/// What a debug register has.
struct WatchedWord {
  Word word;
  bool reads = false;
  auto operator<=>(const WatchedWord&) const = default;
};

/// What wants to know where processes stop, and to stop them. All are asked; one that says so stops them.
struct Observer {
  std::function<bool(ProcessId)> wants = {};   ///< to be told when it begins with a program
  std::function<Status(ProcessId)> open = {};  ///< it has; it stands, and points can be set
  /// Lets go of the debug registers that it has in the process, which stands, until it is opened again.
  std::function<void(ProcessId)> close = {};
  /// Of the process, when it is next opened.
  std::function<std::set<WatchedWord>(ProcessId)> words = {};
  Incarnation::Filter hit = {};  ///< whether a hit is a stop
  /// Whether it takes gdb to say so; that is then asked, when the process stands.
  std::function<bool(const replay::TraceStop&, ThreadId)> undecided = {};
  std::function<Result<bool>(ThreadId, uint64_t address)> decide = {};
  bool in_calls = false;                         ///< `hit` is also asked while gdb calls a function
  /// How far the thread may go before there have been stops elsewhere.
  std::function<std::vector<Limit>(ThreadId)> limits = {};
  /// The next step, in plain ones, behind the given one, at which the thread is to stop; none: nowhere.
  std::function<std::optional<uint64_t>(ThreadId, uint64_t)> next_stop = {};
  /// It has come to one of these, and all stand: whether that is a stop. Without this, it is.
  std::function<Result<bool>(ThreadId)> reached = {};
  /// The thread has made a step: whether that is a stop, like a hit of a watchpoint.
  std::function<bool(ThreadId)> stepped = {};
  /// It has stepped to an address, where nothing is hit: whether it would have stopped there.
  std::function<Result<bool>(ThreadId, uint64_t address)> stepped_onto = {};
};

class Engine {
 public:
  Engine(const World& world, EngineOptions options);
  ~Engine();

  const World& world() const { return world_; }
  void observe(Observer observer) { observers_.push_back(std::move(observer)); }

  /// There is always one after the first call.
  Result<Incarnation*> run();
  Incarnation& now() { return *run_; }
  /// False: another one could not be begun.
  bool has_run() const { return run_ != nullptr; }
  /// All at their beginnings.
  Status restart();
  /// There is none until somebody wants one again: another engine may have one meanwhile.
  void end();
  /// From the next replay on: what the programs print is shown or not.
  void show_output(bool shown) { options_.show_output = shown; }

  const EngineOptions& options() const { return options_; }
  bool interrupted() const { return options_.interrupted && options_.interrupted(); }
  /// Changes with every replay that is begun: what was set in the processes of the last one is gone.
  uint64_t generation() const { return generation_; }
  /// Changes with every motion.
  uint64_t motions() const { return motions_; }
  /// Somebody has moved processes without the functions below.
  void note_motion() { ++motions_; }

  /// Observers look at all processes again before the next motion.
  void open_again() { opened_.clear(); }
  /// Of a hit that is no stop: the process is stopped only to be looked at again, and goes on.
  void open_when_standing(ProcessId process) { reopened_.insert(process); }
  /// While observers open a process: whether what was set in it is gone.
  bool is_new_program(ProcessId process) const { return at_gate_ == process; }
  /// While a thread makes a step: what it does inside the runtime is done at its end.
  bool stepping() const { return stepping_; }
  /// Whether it will begin with a program that it has not begun with yet.
  bool will_begin(ProcessId process);

  State here() const { return run_ ? run_->present() : State(); }
  /// Nothing stops it on the way.
  Status go_to(const State& target);

  // Motions, with what observers want. kInterrupted: all stand where they were just then.
  Result<Rest> run_to(const causal::Cut& target);
  Result<Rest> run_to(const Goal& goal);
  /// To a state that is not before the present one.
  Result<Rest> run_to(const State& target);
  Result<Rest> advance(ProcessId process);
  Result<Rest> step(ThreadId thread);
  /// After a step to an address: whether the thread would have been stopped there. That counts as a hit.
  Result<bool> reaches(ThreadId thread, uint64_t address);
  /// Whether somebody besides gdb has wanted the thread's last stop.
  bool is_wanted(ThreadId thread) const;
  Result<Rest> everybody();
  /// The thread runs a function that gdb calls: it alone, and nothing that is recorded. kStanding: it cannot go on,
  /// because it would.
  Result<Rest> call(ThreadId thread);

 private:
  Result<Rest> move(const std::function<Result<Rest>(Motion&)>& how);
  /// After an interruption.
  void stand_still();
  Gates gates();
  Status open(ProcessId process);
  Status open_all();
  Status check_registers(const State& target) const;
  Result<bool> passes(const Arrival& arrival);
  Result<bool> stops_at(ThreadId thread, uint64_t step);

  const World& world_;
  EngineOptions options_;
  std::unique_ptr<Incarnation> run_;
  std::vector<Observer> observers_;
  uint64_t generation_ = 0, motions_ = 0;
  std::vector<bool> shown_;  ///< of output
  std::set<ProcessId> opened_, reopened_;
  std::map<ProcessId, size_t> opened_for_;  ///< in this replay: how many programs it had begun with then
  struct Undecided {
    uint64_t address;
    bool stops;  ///< whatever is decided
  };
  std::map<ThreadId, Undecided> undecided_;
  std::map<ThreadId, uint64_t> wanted_;  ///< by others than gdb: the motion in which it was stopped
  ProcessId at_gate_;
  bool calling_ = false, stepping_ = false;
};

}  // namespace pastcone::debug
