// Control of replayed processes by ptrace: breakpoints, watchpoints, stepping. All calls from one thread.
//
// A process that is traced stands or runs, as a whole. It is told of by waitpid(-1, …, __WALL), which others
// call (Session::reap); what that says goes to note(), and who has come to stand is found by next_stop().
// What is not the tracer's own doing reaches the process unchanged: its traps, faults, signals, stops by
// SIGSTOP.
//
// A thread that waits for the child of its vfork cannot be stopped by anybody. It counts as standing, but has
// no registers to look at until the child has gone; the same is true of a first thread that has ended before
// the others.
#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "pastcone/base/result.h"
#include "pastcone/replay/guarded_pages.h"
#include "pastcone/replay/same_cpu.h"

namespace pastcone::replay {

class Session;
class TracedMemory;
struct Store;
struct WatchedWord;

struct TraceStop {
  enum class Kind : uint8_t { kBreak, kWatch, kStep, kAsked, kEnded, kExecuted };
  Kind kind;
  pid_t process = 0, thread = 0;
  uint64_t address = 0;  ///< kBreak: where it is, and rip is there; kWatch: as given to add_watch, and rip is
                         ///< behind the instruction
  int status = 0;        ///< kEnded: as from waitpid
  uint32_t size = 0;     ///< kWatch: as given to add_watch, and so
  bool reads = false;    ///< is this. Words may begin at the same address, and each is told of.
  uint64_t behind = 0;   ///< kWatch: rip
  bool ahead = false;    ///< kWatch: done without the processor, which takes next to nothing
};

class Tracer {
 public:
  Tracer() = default;
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;
  ~Tracer();

  /// All its threads, which stand afterwards. A process that is being taken over (Tracee) cannot be attached.
  Status attach(pid_t process);
  /// Without points, and as if nothing had been; whether it stands or runs.
  void let_go(pid_t process);
  bool traces(pid_t process) const;
  bool traces_any() const { return !processes_.empty(); }
  bool stands(pid_t process) const;
  std::vector<pid_t> threads(pid_t process) const;

  // Of one that stands.
  uint64_t next_instruction(pid_t thread) const;  ///< rip, quicker than all registers
  Result<user_regs_struct> registers(pid_t thread) const;
  /// Who moves rip of a thread that is in a call must set orig_rax to -1, or the kernel begins the call
  /// again.
  Status set_registers(pid_t thread, const user_regs_struct& registers);
  Result<user_fpregs_struct> float_registers(pid_t thread) const;
  Status set_float_registers(pid_t thread, const user_fpregs_struct& registers);
  /// All that the processor has beside the general ones (xsave), as the kernel gives and takes it.
  Result<std::vector<uint8_t>> extended_state(pid_t thread) const;
  Status set_extended_state(pid_t thread, const std::vector<uint8_t>& state);
  /// Signals that are blocked: bit n - 1 for signal n.
  Result<uint64_t> signal_mask(pid_t thread) const;
  Status set_signal_mask(pid_t thread, uint64_t mask);
  /// Breakpoints do not show. Also of one that runs.
  bool read(pid_t process, uint64_t address, void* to, size_t size) const;
  bool write(pid_t process, uint64_t address, const void* from, size_t size);
  /// As the process has made them.
  std::vector<symbols::Mapping> mappings(pid_t process) const;

  // Points are counted: added twice, they have to be removed twice. They stay through go_on, are not in
  // children of fork, and are gone after exec. Breakpoints, not watchpoints, may also be changed by `filter`.
  Status add_break(pid_t process, uint64_t address);
  void remove_break(pid_t process, uint64_t address);
  /// In all threads, new ones too. Only user code hits them: what the kernel writes (read(2)) does not. The
  /// runtime copies results in user code, so in replay all that the program receives hits, with rip in the
  /// runtime.
  Status add_watch(pid_t process, uint64_t address, uint32_t size, bool reads = false);
  void remove_watch(pid_t process, uint64_t address, uint32_t size, bool reads = false);
  /// Whether that can be done now, though the process is only in the middle of a hit: nobody else in it could run.
  bool may_change_watches(pid_t process) const;
  /// Both, in one go: `from` is not watched afterwards, whether or not `to` can be.
  Status move_watch(pid_t process, const WatchedWord& from, const WatchedWord& to);
  /// The same for any number of words, of at most 8 bytes: their pages are made read-only, and whoever writes
  /// there is stopped and helped. Hits are told as of a watchpoint, each write once; what writes elsewhere on
  /// the page takes its time. The process does not see it: system calls, mprotect and its like too, find the
  /// pages as they should be. But signal handlers must have a stack elsewhere, as the runtime's have.
  Status add_guarded(pid_t process, uint64_t address, uint32_t size);
  /// False: it was not guarded.
  bool remove_guarded(pid_t process, uint64_t address, uint32_t size);
  bool guards(pid_t process) const;
  /// Whether somebody may have written to any of them without being seen.
  bool has_missed() const { return missed_; }
  /// Threads of a process do not run at the same time but in our runtime.
  bool threads_take_turns = false;
  /// The kernel counts what the processor does (nth_write.h): nothing may be done in its place.
  bool processor_counts = false;
  /// Who is told of will soon go on: it may stay on our CPU (SameCpu).
  bool goes_on_soon = false;
  /// As read(), of the process of a thread.
  bool read_for(pid_t thread, uint64_t address, void* to, size_t size) const;
  /// Whether a breakpoint lies in [begin, end) of the process of a thread.
  bool has_break(pid_t thread, uint64_t begin, uint64_t end) const;
  /// The runtime is about to put a jump to `stub` at `address` (serve_breakpoint); no breakpoint can be
  /// inside it.
  void note_jump(pid_t thread, uint64_t address, uint64_t stub);

  /// Whether a breakpoint where the thread stands has been told of, or need not be. Who moves a thread away
  /// and back again puts this back, too.
  bool has_seen(pid_t thread) const;
  void set_seen(pid_t thread, bool seen);

  /// All threads. Who has stopped at a breakpoint, or stood there when it was added, is taken over it first;
  /// nobody else misses it meanwhile. Points that others hit while all were being stopped come now.
  /// Those of `staying` stay where they are.
  void go_on(pid_t process, const std::set<pid_t>& staying = {});
  /// Whether the thread stays where it is while others of its process go on.
  bool holds(pid_t thread) const;
  /// One instruction, the other threads stay. A signal that comes instead leads into its handler.
  void step(pid_t thread);
  /// One instruction that may go wrong, of a thread in a function that nobody but us has called: a fault does
  /// not reach the process. The thread stands afterwards, and nobody is told. It must not make a system call.
  enum class Tried : uint8_t { kDone, kFaulted, kEnded };
  Tried try_step(pid_t thread);
  /// kAsked. Nothing if it stands.
  void ask_to_stop(pid_t process);

  /// What waitpid told of a thread: true if it was for the tracer alone. Ends of processes are not.
  bool note(pid_t thread, int status);
  /// Told first of a kBreak or kWatch, while perhaps only that thread stands: false lets it go on at once, as
  /// if nothing had been. May look at everything, and change registers but not rip.
  std::function<bool(const TraceStop&)> filter;
  bool has_stop() const { return !stops_.empty(); }
  /// Whether the process stands because of something that next_stop() has not told yet.
  bool has_untold(pid_t process) const;
  /// Whether that, or a thread has hit something that is told when it goes on.
  bool has_pending(pid_t process) const;
  /// A process that has come to stand or has ended, and was not told of yet.
  std::optional<TraceStop> next_stop();
  /// To be told of again, after those that are: it is for somebody else.
  void give_back(const TraceStop& stop) { stops_.push_back(stop); }
  /// A process that was forked by a traced one is traced too, without points, and stands. Default: it is let
  /// go.
  std::function<void(pid_t parent, pid_t child)> on_fork;
  /// The end of a process that note() was not told of, because the tracer found it itself.
  std::function<void(pid_t process, int status)> on_end;

  /// What `session` collects comes here, and the other way round.
  void connect(Session& session);

 private:
  struct Thread;
  struct Process;
  struct Here;
  struct Ahead;
  class Entry;
  enum class InKernel : uint8_t;
  using ThreadRef = std::shared_ptr<Thread>;
  using ProcessRef = std::shared_ptr<Process>;

  ThreadRef find_standing(pid_t thread) const;
  ProcessRef find(pid_t process) const;
  bool is_inside_jump(const Process& process, uint64_t address) const;
  bool tell_if_wanted(Thread& thread, TraceStop hit);
  Status apply_watches(Process& process);

  // tracer_threads.cc: stopping and resuming
  Status seize_all(Process& process);
  ThreadRef insert(Process& process, pid_t thread);
  void forget(Thread& thread);
  void halt(Process& process);
  bool cannot_stop(const Thread& thread) const;
  void resume(Thread& thread);
  void detach(Thread& thread);
  void forget_process(Process& process);

  // tracer_stops.cc: what a stop means
  std::optional<TraceStop> classify(Thread& thread, int status);
  std::optional<TraceStop> classify_trap(Thread& thread, int code);
  TraceStop watch_stop(const Thread& thread) const;
  void note_handler_call(Thread& thread);
  bool note_end(Thread& thread, int status);
  bool take(pid_t thread, int status);
  void note_stop(Thread& thread, int status);
  void adopt(Thread& parent);
  void adopt_process(Process& parent, pid_t child);
  std::optional<TraceStop> note_exec(Thread& thread);
  bool wanted(Thread& thread, TraceStop& hit);
  void conclude(Thread& thread, TraceStop hit);
  void work_off();

  // tracer_steps.cc: over a breakpoint
  bool pass_by(Thread& thread, Here& here);
  std::optional<TraceStop> pass_over(Thread& thread, uint64_t address);
  std::optional<TraceStop> step_over(Thread& thread);
  void hold_others(Thread& thread, const std::function<void()>& body);
  Here prepare_step(Thread& thread);
  void keep_signal(Thread& thread) const;
  void clean_up_step(Thread& thread);

  // tracer_ahead.cc: without the processor
  bool may_go_ahead(const Thread& thread) const;
  bool begin_ahead(Thread& thread);
  std::optional<TraceStop> go_ahead(Thread& thread, bool told, bool& passed);
  std::optional<TraceStop> store_behind(Thread& thread);
  void come_back(Thread& thread);
  const user_regs_struct* ahead_of(pid_t thread) const;
  void show_vectors(pid_t thread) const;

  // tracer_pages.cc: guarded pages
  std::optional<int64_t> call(Thread& thread, int64_t number, const std::array<uint64_t, 3>& arguments);
  Status change_pages(Thread& thread, const std::vector<GuardedPages::Change>& changes, bool guard);
  std::set<uint64_t> wanted_pages(const TracedMemory& memory) const;
  Thread* caller_of(Process& process);
  bool bring_out(Thread& thread);
  Status arrange_pages(Process& process);
  Status keep_pages(Process& process);
  void free_pages(Process& process);
  bool is_page_fault(const Thread& thread, const siginfo_t& info) const;
  void note_call(Thread& thread);
  bool undo_call(Thread& thread);
  std::optional<TraceStop> pass_call(Thread& thread);
  std::optional<TraceStop> pass_fault(Thread& thread);
  std::optional<TraceStop> pass_quickly(Thread& thread, bool& done);
  bool take_store(Thread& thread, Here& here, Store& store) const;
  std::optional<TraceStop> step_guarded(Thread& thread);
  std::optional<TraceStop> write_through(Thread& thread, uint64_t address);
  std::optional<TraceStop> step_near(Thread& thread, uint64_t address);
  std::vector<WatchedWord> touched(const Process& process, uint64_t address, size_t size) const;
  std::optional<TraceStop> tell_of(Thread& thread, std::vector<WatchedWord> hits);

  std::map<pid_t, ProcessRef> processes_;
  std::map<pid_t, ThreadRef> threads_;
  std::map<pid_t, int> early_;  ///< stops of children whose creator has not been heard of yet
  std::deque<TraceStop> stops_;
  std::deque<ThreadRef> to_conclude_;  ///< hit something while they were held
  int depth_ = 0;                      ///< of calls
  bool missed_ = false;
  SameCpu same_cpu_;
};

}  // namespace pastcone::replay
