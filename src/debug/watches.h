// Watchpoints as users set them: watch, rwatch, awatch. They are ours, not gdb's: they outlive a gdb, going
// back and forth, and stop a process whoever makes it run.
//
// What has to be watched for an expression is what is read to evaluate it (gdb compiles it once,
// gdb/agent.h). One about variables of a function belongs to a frame: it ends with it, and sleeps where the
// frame is not there, having been gone back from. One about globals goes on in a program that is executed and
// has them, too.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "pastcone/debug/breakpoints.h"
#include "pastcone/debug/watch_words.h"
#include "pastcone/gdb/gdb.h"

namespace pastcone::debug {

using ValueBytes = std::vector<uint8_t>;

/// What gdb says of an expression, where somebody looks at it.
struct WatchedExpression {
  std::string text;  ///< without options
  std::string type;  ///< an expression of its type: "*(int (*)[5])0"
  /// Of the address if it has one, else of the value.
  std::optional<gdb::AgentExpression> code;
  uint64_t address = 0;  ///< where it is, if there is no code
  bool has_address = false;
  uint32_t size = 0;
  struct Frame {
    ThreadId thread;
    uint64_t stack = 0;   ///< the caller's stack pointer, once it has returned
    uint64_t caller = 0;  ///< where it returns to; 0: not known
    user_regs_struct registers{};
  };
  std::optional<Frame> frame;
};

/// In the frame that gdb has selected. `fixed`: -location, the memory that it is now.
Result<WatchedExpression> look_up(gdb::Gdb& gdb, Incarnation& run, ThreadId thread, const std::string& text,
                                  bool fixed);
/// Of a watchpoint, in the frame that gdb has selected.
Result<gdb::Formula> compile_condition(gdb::Gdb& gdb, Incarnation& run, ThreadId thread,
                                       const std::string& text);

class Watches {
 public:
  Watches(Engine& engine, Breakpoints& breakpoints);

  /// The error says why it cannot be. `point` is listed with the breakpoints.
  Result<int> add(Breakpoint point, WatchedExpression what, std::optional<gdb::Formula> condition);
  void set_condition(int number, std::optional<gdb::Formula> condition);
  void remove(int number);
  /// It has been enabled or disabled.
  Status changed(int number);

  /// What a thread was stopped by.
  struct Hit {
    int number = 0;
    bool left = false;  ///< its frame: it is deleted
    std::optional<ValueBytes> before, now;
  };
  /// In the last motion.
  std::vector<Hit> hits_of(ThreadId thread);
  bool was_hit(ThreadId thread) const;
  const WatchedExpression* find(int number) const;

 private:
  struct Watch {
    ProcessId process;
    Path program;
    WatchedExpression what;
    std::optional<gdb::Formula> condition;
    std::optional<ValueBytes> value;  ///< none: it cannot be read
    std::set<Word> words;             ///< that are watched now
    std::set<Word> last_words;        ///< or were, when it was last there
    bool sleeps = false;              ///< its frame is not there
    bool guarded = false;             ///< there is a breakpoint at the frame's caller
    Path lacking;                     ///< a program that does not have it
    uint64_t lived = 0;               ///< the generation of the engine in which it was last there
  };
  /// What it is now, and what that depends on.
  struct Look {
    std::optional<ValueBytes> value;
    std::set<Word> words;
    std::set<Word> own;  ///< of those: where it is itself
  };
  Look look(const Watch& watch) const;
  const Breakpoint* point(int number) const;
  bool is_there(const Watch& watch) const;
  /// In another program than it was set in, variables of that name are meant.
  void find_in_program(int number, Watch& watch);
  Status look_up_again(const Breakpoint& listed, Watch& watch);
  Status arm(int number, Watch& watch);
  /// That are watched when the process is next opened, but for those of one.
  std::set<WatchedWord> words_of(ProcessId process, int besides = 0) const;
  Status check_room(int number, const Watch& watch, const std::set<Word>& words) const;
  void disarm(int number, Watch& watch);
  Status open(ProcessId process);
  bool hit(const replay::TraceStop& stop, ThreadId thread, bool inside);
  bool take(int number, Watch& watch, const replay::TraceStop& stop, ThreadId thread, bool inside);
  bool has_left(const Watch& watch, ThreadId thread, const user_regs_struct& registers) const;
  bool holds(const Watch& watch, const user_regs_struct& registers) const;
  bool is_passed_over(int number);
  void note(ThreadId thread, Hit hit);
  /// After a step, or a call: what was changed by it meanwhile.
  bool stepped(ThreadId thread);

  Engine& engine_;
  Breakpoints& breakpoints_;
  std::map<int, Watch> all_;
  uint64_t generation_ = 0;
  struct Hits {
    uint64_t motion = 0;
    std::vector<Hit> hits;
  };
  std::map<ThreadId, Hits> hits_;
  /// Changed by the runtime, on behalf of the program: what that means is known when that event is done.
  std::map<ThreadId, uint64_t> due_;
};

}  // namespace pastcone::debug
