// Breakpoints as users set them: in one process, or in all that run a program, those that begin later too; or at
// messages. They outlive forks, execs and going back; the processes are prepared for them when they begin.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "pastcone/debug/engine.h"
#include "pastcone/debug/images.h"

namespace pastcone::debug {

/// Messages of some processes: break send from p3, break recv p1->p2.
struct MessagePoint {
  bool receive = false;
  ProcessId from, to;  ///< none: whoever
};

struct Breakpoint {
  int number = 0;
  std::optional<ProcessId> process;  ///< none: see `program`
  uint32_t thread = 0;               ///< of the process; 0: all of them
  std::string program;               ///< all processes that run it; empty: all
  std::string location;              ///< as gdb takes it
  std::string condition;
  std::optional<MessagePoint> message;  ///< instead of a location
  bool temporary = false, enabled = true;
  bool pending = false;  ///< whether any library has the location or not
  std::string watch;     ///< watch, rwatch, awatch (watches.h); `location` is its expression
  uint64_t ignored = 0;  ///< so many hits are passed over
  uint64_t hits = 0;
  uint64_t stops = 0;  ///< so many more, and it is disabled; 0: it stays
  std::vector<std::string> actions;  ///< commands to be done when it has stopped somebody
};

class Breakpoints {
 public:
  Breakpoints(Engine& engine, Images& images);

  /// For what is numbered with them.
  int take_number() { return ++last_number_; }
  int last_number() const { return last_number_; }
  /// The number it gets. An error if no process that exists has the location, no later one may, and no library of the
  /// recording that might still be loaded has it.
  Result<int> add(Breakpoint breakpoint);
  Status remove(int number);
  Result<Breakpoint*> find(int number);
  const std::map<int, Breakpoint>& all() const { return all_; }
  /// Something about one has been changed.
  void changed() { engine_.open_again(); }

  /// Checked where the processes are known.
  Status set_condition(int number, const std::string& condition);
  /// The places that were found for it, in the processes that there are; if there are none any more, those in the last.
  std::vector<Site> sites_of(const Breakpoint& breakpoint);
  /// One that gdb has numbered.
  void add_watch(Breakpoint watch);

  /// Those that the thread has stopped at in the last motion.
  std::vector<int> hit_by(ThreadId thread) const;
  /// Of these, one whose condition had no value there.
  bool is_untested(int number, ThreadId thread) const;
  std::vector<int> messages_at(ThreadId thread) const;
  Images& images() { return images_; }
  /// To be shown with the next stop, once.
  void remark(int number, const std::string& text);
  /// What could not be set where it should have been.
  std::vector<std::string> take_remarks() { return std::exchange(remarks_, {}); }
  /// How often each was hit, and is to be passed over: to be put back after a run that did not count.
  std::map<int, std::pair<uint64_t, uint64_t>> counts() const;
  void set_counts(const std::map<int, std::pair<uint64_t, uint64_t>>& counts);
  /// Of all, as at the beginning of a run.
  void forget_hits();
  bool meant_for(const Breakpoint& breakpoint, ProcessId process) const;
  bool has_places(ProcessId process) const;
  bool has_left_overs(ProcessId process) const;

 private:
  Status open(ProcessId process);
  bool hit(const replay::TraceStop& stop, ThreadId thread);
  /// The one armed there, if it may stop the thread.
  const Breakpoint* live(int number, ThreadId thread) const;
  bool is_undecided(const replay::TraceStop& stop, ThreadId thread) const;
  Result<bool> decide(ThreadId thread, uint64_t address);
  Result<bool> stepped_onto(ThreadId thread, uint64_t address);
  bool count(int number);
  std::optional<bool> holds(const Site& site, const replay::TraceStop& stop, ThreadId thread);
  std::optional<uint64_t> next_message(ThreadId thread, uint64_t step) const;
  void find_steps(const Breakpoint& breakpoint);
  Status check_location(const Breakpoint& breakpoint);
  void remark_condition(const Breakpoint& breakpoint, ProcessId process, const std::string& why);
  void watch_loading(ProcessId process);
  bool has_loaded(ProcessId process, uint64_t address);

  Engine& engine_;
  Images& images_;
  std::map<int, Breakpoint> all_;
  int last_number_ = 0;
  struct Armed {
    int number;
    Site site;
  };
  std::map<ProcessId, std::multimap<uint64_t, Armed>> armed_;
  struct Loading {
    uint64_t address = 0;   ///< where it is told that libraries have been loaded
    std::string libraries;  ///< that were when it was last looked at
  };
  std::map<ProcessId, Loading> loading_;
  std::map<int, std::vector<Site>> last_sites_;
  std::vector<std::string> remarks_;
  std::set<std::pair<int, std::string>> remarked_;
  uint64_t generation_ = 0;
  struct Hits {
    uint64_t motion = 0;
    std::vector<int> numbers;  ///< that it has stopped at
    std::set<int> untested;    ///< of these, those whose conditions could not be tested

    void add(int number, bool tested) {
      numbers.push_back(number);
      if (!tested) untested.insert(number);
    }
  };
  std::map<ThreadId, Hits> hits_;
  std::map<int, std::map<ThreadId, std::set<uint64_t>>> steps_;  ///< of messages: plain ones
};

}  // namespace pastcone::debug
