// A replay that somebody directs: the processes of a recording, started again without the world around them.
// They replay themselves (src/runtime): each reads its streams from the feed, and waits in the stage for what
// others have to do first. They are sent on by horizons, again and again; in between they stand, and can be
// looked at, or traced.
//
// One at a time in a process, from its main thread: it takes over signals and children.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pastcone/record/patch_cache.h"
#include "pastcone/record/shared_stage.h"
#include "pastcone/replay/director.h"
#include "pastcone/replay/examination.h"
#include "pastcone/replay/feed.h"
#include "pastcone/replay/output.h"
#include "pastcone/replay/polling.h"
#include "pastcone/replay/run_summary.h"
#include "pastcone/replay/session.h"
#include "pastcone/replay/signal_watch.h"
#include "pastcone/replay/takeover.h"
#include "pastcone/replay/tracer.h"
#include "pastcone/replay/watch.h"

namespace pastcone::replay {

/// Why nobody goes on.
enum class Halt {
  kStanding,     ///< all are at their horizons or their ends, or wait for those that are
  kTraced,       ///< the tracer has stopped one: Live::stop()
  kEnded,        ///< there is no process left
  kDiverged,     ///< somebody does other things than recorded; the processes have been ended
  kInterrupted,  ///< by a signal
  kUnread,       ///< nobody reads the output
  kFailed,       ///< the recording cannot be read: Live::failure()
};

class Live {
 public:
  /// What can be used for every replay of the recording, and takes a look at all of it. An error if it cannot
  /// be replayed at all.
  static Result<RunSummary> summarise(const Recording& recording);

  /// Nothing runs before run(). The recording must live on.
  static Result<std::unique_ptr<Live>> start(const Recording& recording, RunSummary run,
                                             const ReplayOptions& options);
  ~Live();  ///< ends all processes
  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;

  /// Until nobody goes on. `often`: they will be sent on again soon, so it is found out quickly.
  Halt run(bool often = false);

  /// Of those that are named; the others stay as they are.
  void set_horizons(const Horizons& horizons);
  /// Where all threads are that have begun.
  std::vector<Standing> standing() const;
  /// Those that wait, but not at their horizon; one a process.
  std::vector<Divergence> waiting() const;
  /// All are told that they stand still now, and prepare for debuggers what they would not while others go on.
  void show_to_debuggers();
  /// Nobody will come who is waited for: all are told so, and end. For conclude().
  void give_up();

  Tracer& tracer() { return tracer_; }
  const Tracer& tracer() const { return tracer_; }
  /// Of a traced process that was asked to, or is stepped, and needs nobody else. None: all have ended.
  std::optional<TraceStop> wait_for_stop();
  const TraceStop& stop() const { return *stop_; }
  void wait_for_interrupt();
  /// The signal that kInterrupted was about; 0: whoever was asked has said so.
  int interrupt_signal() const { return options_.interrupted ? 0 : signals_.signal(); }
  /// Whether it has been interrupted; for who waits for something else than run().
  bool interrupted() const;
  /// Of all threads together.
  uint64_t events_done() const { return watch_.events_done(); }
  Status failure();
  stage::View stage() const { return stage_.view(); }
  /// What was sent on a channel. False: it was not, yet, or nobody receives it.
  bool read_channel(uint64_t channel, uint64_t position, char* to, size_t size) const;
  const RunSummary& summary() const { return run_; }
  /// Collects those that have ended meanwhile.
  void look_for_ends() { (void)session_->reap(); }
  /// How a process ended that has, as from waitpid.
  std::optional<int> end_of(pid_t process) const { return session_->status(process); }

  std::vector<Divergence> divergences() const { return watch_.reported(); }
  bool diverged() const { return !watch_.reported().empty(); }
  /// Ends all, and adds what was otherwise than recorded. `standing` and `interrupted` are known.
  void conclude(ReplayOutcome& outcome);

 private:
  Live(const Recording& recording, record::SharedStage stage, FeedLayout layout, RunSummary run,
       const ReplayOptions& options);
  Status prepare(const record::PatchCache& patches);
  Status launch();
  void list_turn_gaps();
  record::Launch describe_launch(const Path& runtime, const sigset_t& mask) const;
  Status make_lifeline();
  void place_horizons(const Horizons& horizons);
  void serve_takeovers();
  bool nobody_left();
  void look_at_reports();
  bool nobody_can_go_on();
  bool runs_in_circles();
  void end_all();
  void explain(Divergence& divergence) const;

  const Recording& recording_;
  const ReplayOptions options_;
  record::SharedStage stage_;
  FeedLayout layout_;
  RunSummary run_;
  SignalWatch signals_;
  Watch watch_;
  Tracer tracer_;
  UniqueFd store_, output_;
  std::optional<Feed> feed_;
  std::optional<Takeovers> takeovers_;
  std::optional<Session> session_;
  std::optional<OutputPrinter> printer_;
  UniqueFd lifeline_, lifeline_end_;  ///< what the processes hold; what we hold, and they end when we do
  uint32_t last_progress_ = 0;
  uint64_t last_sum_ = 0;
  Polling polling_;
  std::chrono::steady_clock::time_point looked_at_{}, looked_for_any_{};
  uint32_t reports_seen_ = 0;
  std::optional<TraceStop> stop_;
  std::map<ProcessId, Examination> examined_;     ///< those that have diverged
  std::optional<std::vector<Divergence>> stuck_;  ///< who waited when nobody could go on; if that happened
  std::vector<Divergence> said_before_;           ///< what had been reported by then
};

}  // namespace pastcone::replay
