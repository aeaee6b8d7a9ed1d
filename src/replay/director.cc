#include "pastcone/replay/director.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include "pastcone/record/new_recording.h"
#include "pastcone/record/shared_stage.h"
#include "pastcone/replay/breakpoints.h"
#include "pastcone/replay/examination.h"
#include "pastcone/replay/feed.h"
#include "pastcone/replay/output.h"
#include "pastcone/replay/polling.h"
#include "pastcone/replay/run_summary.h"
#include "pastcone/replay/session.h"
#include "pastcone/replay/signal_watch.h"
#include "pastcone/replay/surroundings.h"
#include "pastcone/replay/takeover.h"
#include "pastcone/replay/temporary_file.h"
#include "pastcone/replay/unwind_tables.h"
#include "pastcone/replay/watch.h"

namespace pastcone::replay {
namespace {

using namespace std::chrono_literals;
using record::load;
using record::SharedStage;

constexpr auto kDoze = 1ms;         // between two looks: lets what happens at once be seen at once
constexpr auto kShortDoze = 100us;  // if they are sent further each time they all stand
constexpr auto kLeastPatience = 10s;
constexpr auto kPollingPatience = 3s;
constexpr auto kSafetyNet = 200ms;  // a process that dies inside does not tell
constexpr auto kShortNet = 5ms;     // nor one that forks, and stops before there is a child
constexpr auto kPatience = 2000ms;  // for processes that were told to give up
constexpr int kTimesInVain = 20;

class Director {
 public:
  Director(const Recording& recording, SharedStage stage, FeedLayout layout, RunSummary run)
      : recording_(recording),
        stage_(std::move(stage)),
        layout_(layout),
        run_(std::move(run)),
        watch_(stage_.view(), layout.processes, layout.threads) {}

  Status prepare(const record::PatchCache& patches);
  Result<ReplayOutcome> run(const ReplayOptions& options);

 private:
  void list_turn_gaps();
  record::Launch describe_launch(const Path& runtime, const sigset_t& mask) const;
  Status make_lifeline();
  void direct(Session& session, OutputPrinter& printer, const SignalWatch& signals,
              const ReplayOptions& options, ReplayOutcome& outcome);
  void arrive(Session& session, OutputPrinter& printer, const SignalWatch& signals,
              const ReplayOptions& options, ReplayOutcome& outcome);
  void show_to_debuggers(const Session& session);
  void set_horizons(const Horizons& horizons);
  bool go_further(const ReplayOptions& options);
  void note_left(std::vector<Standing>& all) const;
  void look_at_reports();
  bool nobody_can_go_on(const Session& session);
  bool runs_in_circles();
  std::vector<Divergence> waiting() const;
  void give_up();
  void end_all(Session& session);
  void conclude(const Session& session, ReplayOutcome& outcome) const;
  void explain(Divergence& divergence, const Session& session) const;

  const Recording& recording_;
  SharedStage stage_;
  FeedLayout layout_;
  RunSummary run_;
  Watch watch_;
  UniqueFd store_, output_;
  std::optional<Feed> feed_;
  std::optional<Takeovers> takeovers_;
  UniqueFd lifeline_, lifeline_end_;  ///< what the processes hold; what we hold, and they end when we do
  uint32_t last_progress_ = 0;
  uint64_t last_sum_ = 0;
  Polling polling_{kPollingPatience};
  std::chrono::steady_clock::time_point looked_at_{}, moved_at_ = std::chrono::steady_clock::now();
  uint32_t reports_seen_ = 0;
  bool horizons_ = false;
  std::map<ProcessId, Examination> examined_;     ///< those that have diverged
  std::optional<std::vector<Divergence>> stuck_;  ///< who waited when nobody could go on; if that happened
  std::vector<Divergence> said_before_;           ///< what had been reported by then
};

Status Director::prepare(const record::PatchCache& patches) {
  stage::View view = stage_.view();
  TRY_STATUS(fill_file_table(recording_, view, patches));
  feed_ = TRY(Feed::create(recording_, stage_, layout_));
  store_ = TRY(temporary_file("the channel store", lay_out_store(run_, view)));
  output_ = TRY(temporary_file("the output of the replay", run_.output_bytes));
  if (ftruncate(store_.get(), static_cast<off_t>(stage_.header().store_size)) != 0) {
    return fail("cannot create a channel store of {} MB: {}; set TMPDIR to a file system that can hold it",
                stage_.header().store_size >> 20, errno_message(errno));
  }
  stage::Header& header = stage_.header();
  header.next_process = layout_.processes;
  header.next_connection = run_.last_connection;
  header.next_group = run_.last_group;
  if (!recording_.manifest().parallel) list_turn_gaps();  // there most turns are not in the logs
  view.process(1).state = static_cast<uint32_t>(stage::ProcessState::kExecuting);
  return {};
}

void Director::list_turn_gaps() {
  stage::View view = stage_.view();
  uint32_t& count = view.header().turn_gaps;
  for (const auto& [group, turns] : run_.turns) {
    turns.each_gap([&, number = group](uint64_t before, uint64_t next) {
      if (count < stage::kMaxTurnGaps) view.turn_gap(count++) = {number, before, next};
    });
  }
}

record::Launch Director::describe_launch(const Path& runtime, const sigset_t& mask) const {
  record::Launch how;
  how.runtime = runtime;
  how.arguments = {"pastcone-replay"};
  how.trace_fd = feed_->fd();
  how.store_fd = store_.get();
  how.output_fd = output_.get();
  how.isolated = true;
  how.lifeline_fd = lifeline_.get();
  how.keep_stderr = std::getenv("PASTCONE_DEBUG") != nullptr;
  how.signal_mask = mask;
  how.limits = {{RLIMIT_CORE, {0, 0}}};
  rlimit files{}, stack{};
  getrlimit(RLIMIT_NOFILE, &files);
  getrlimit(RLIMIT_STACK, &stack);
  const Manifest& manifest = recording_.manifest();
  if (manifest.open_files_limit) files.rlim_cur = *manifest.open_files_limit;
  if (manifest.stack_limit) stack.rlim_cur = *manifest.stack_limit;
  files.rlim_cur = std::min(files.rlim_cur, files.rlim_max);
  how.open_files = files.rlim_cur;
  how.limits.push_back({RLIMIT_NOFILE, files});
  how.limits.push_back({RLIMIT_STACK, stack});
  return how;
}

Status Director::make_lifeline() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return fail("cannot create a pipe: {}", errno_message(errno));
  lifeline_ = UniqueFd(ends[0]);
  lifeline_end_ = UniqueFd(ends[1]);
  return {};
}

Result<ReplayOutcome> Director::run(const ReplayOptions& options) {
  Path runtime = TRY(record::find_runtime());
  TRY_STATUS(record::switch_off_randomisation());
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) {
    return fail("cannot take over orphaned processes: {}", errno_message(errno));
  }
  TRY_STATUS(make_lifeline());
  if ((stage_.header().flags & stage::kFlagWhere) != 0)
    TRY_STATUS(write_unwind_tables(recording_, stage_.view(), runtime, options.index_directory));
  if (options.horizons) set_horizons(*options.horizons);
  SignalWatch signals(stage_);
  record::Launch how = describe_launch(runtime, signals.mask());
  if (options.hold) {
    int first_fd = record::first_descriptor(how.open_files);
    takeovers_ = TRY(Takeovers::create(recording_, runtime, first_fd, options.on_remark));
  }
  Session session(TRY(record::launch(stage_, how)));
  feed_->start();  // not before: a process of several threads is not one to fork from
  OutputPrinter printer(stage_.view(), run_.outputs, output_.get(), options.show_output);
  ReplayOutcome outcome;
  outcome.processes = recording_.process_count();
  outcome.events = run_.events;
  direct(session, printer, signals, options, outcome);
  if (feed_->failed()) {
    return fail("cannot replay {}: {}", recording_.directory().native(), feed_->finish().error().message);
  }
  conclude(session, outcome);
  return outcome;
}

void Director::set_horizons(const Horizons& horizons) {
  stage::View view = stage_.view();
  horizons_ = true;
  for (uint32_t i = 0; i < layout_.threads; ++i) {
    stage::ThreadSlot& slot = view.thread(i);
    auto found = horizons.find(ThreadId(ProcessId(slot.process), slot.thread));
    Horizon horizon = found == horizons.end() ? Horizon() : found->second;
    slot.horizon = horizon.step;
    slot.horizon_point = horizon.point;
  }
  // A receiver may stop before it has taken what its sender sends.
  for (uint32_t i = 0; i <= run_.last_connection; ++i) {
    for (stage::Direction& direction : view.connection(i).direction) direction.lead = stage::kKeepAll;
  }
}

/// Nobody goes on by himself; whether some have a new horizon now.
bool Director::go_further(const ReplayOptions& options) {
  if (!options.further) return false;
  Horizons horizons = options.further(watch_.standing());
  stage::View view = stage_.view();
  for (uint32_t i = 0; i < layout_.threads; ++i) {
    stage::ThreadSlot& slot = view.thread(i);
    auto found = horizons.find(ThreadId(ProcessId(slot.process), slot.thread));
    if (found == horizons.end()) continue;
    record::store(slot.horizon_point, found->second.point);
    record::store(slot.horizon, found->second.step);
    record::bump_and_wake(slot.horizon_futex);
  }
  return !horizons.empty();
}

void Director::direct(Session& session, OutputPrinter& printer, const SignalWatch& signals,
                      const ReplayOptions& options, ReplayOutcome& outcome) {
  for (;;) {
    uint32_t seen = load(stage_.header().activity);
    bool all_ended = session.reap();
    serve_breakpoint(stage_.header().breakpoint);
    if (takeovers_) takeovers_->serve(stage_.header(), session);
    look_at_reports();
    if (feed_->failed()) return end_all(session);
    if (!printer.advance() || signals.interrupted()) {
      outcome.interrupted = true;
      return end_all(session);
    }
    if (all_ended) {
      if (horizons_ && watch_.reported().empty()) arrive(session, printer, signals, options, outcome);
      return;
    }
    if (nobody_can_go_on(session)) {
      // Who waits may do so for one that stands, and is let go on now.
      if (horizons_ && go_further(options)) continue;
      if (horizons_ && watch_.waiting().empty()) return arrive(session, printer, signals, options, outcome);
      said_before_ = watch_.reported();
      stuck_ = waiting();
      give_up();
      end_all(session);
      printer.advance();
      return;
    }
    if (runs_in_circles()) {
      said_before_ = watch_.reported();
      stuck_ = watch_.computing();
      return end_all(session);
    }
    std::this_thread::sleep_for(options.further ? kShortDoze : kDoze);
    if (!watch_.may_be_stuck()) stage_.wait_activity(seen, options.further ? kShortNet : kSafetyNet);
  }
}

/// Everybody stands at his horizon, or has ended.
void Director::arrive(Session& session, OutputPrinter& printer, const SignalWatch& signals,
                      const ReplayOptions& options, ReplayOutcome& outcome) {
  printer.advance();
  outcome.standing = watch_.standing();
  note_left(outcome.standing);
  if (options.hold) show_to_debuggers(session);
  if (options.on_arrival) options.on_arrival(outcome.standing);
  while (options.hold && !signals.interrupted())
    stage_.wait_activity(load(stage_.header().activity), kSafetyNet);
  end_all(session);
}

/// Whose recording stops has done that too: it is an event, though nothing is left to be replayed of it.
void Director::note_left(std::vector<Standing>& all) const {
  for (Standing& where : all) {
    auto summary = run_.threads.find(where.last.thread());
    if (!where.ended || summary == run_.threads.end() || !summary->second.left) continue;
    where.left = summary->second.left;
    where.last = EventId(where.last.thread(), summary->second.events);
  }
}

/// All are told that they stand still now, and prepare for debuggers what they would not while others go on.
void Director::show_to_debuggers(const Session& session) {
  record::store(stage_.header().held, uint32_t{1});
  for (uint32_t i = 0; i < layout_.threads; ++i) record::bump_and_wake(stage_.view().thread(i).horizon_futex);
  auto end = std::chrono::steady_clock::now() + kSafetyNet;
  while (!watch_.is_stuck(session) && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(kDoze);
}

/// In parallel mode a thread may wait by itself, in a loop, for what another one does at another time than
/// before. It did not take longer than the whole recording then; if it takes many times that now, it will not
/// end. Sooner it is known of those who only yield.
bool Director::runs_in_circles() {
  if (!recording_.manifest().parallel) return false;
  auto now = std::chrono::steady_clock::now();
  if (now - looked_at_ < kSafetyNet) return false;
  looked_at_ = now;
  uint64_t progress = watch_.progress();
  std::vector<pid_t> computing = watch_.computing_threads();
  if (std::exchange(last_sum_, progress) != progress || computing.empty()) {
    moved_at_ = now;
    polling_.forget();
  }
  if (polling_.only(computing)) return true;
  const Manifest& manifest = recording_.manifest();
  std::chrono::nanoseconds recorded(std::max<int64_t>(manifest.ended_ns - manifest.started_ns, 0));
  return now - moved_at_ > kLeastPatience + 10 * recorded;
}

/// A process that has diverged waits until it has been looked at.
void Director::look_at_reports() {
  uint32_t reports = load(stage_.header().diverged);
  if (std::exchange(reports_seen_, reports) == reports) return;
  stage::View view = stage_.view();
  for (uint32_t number = 1; number <= layout_.processes; ++number) {
    stage::ProcessSlot& process = view.process(number);
    if (load(process.diverged) != static_cast<uint32_t>(stage::ReportState::kWritten)) continue;
    const stage::ThreadSlot& thread = view.thread(process.first_thread + process.diverged_thread - 1);
    examined_[ProcessId(number)] = examine(recording_, view, process, static_cast<pid_t>(load(thread.tid)));
    record::bump_and_wake(process.diverged);  // kSeen
  }
}

/// Looks closely only if nothing has moved since the last look; while processes take turns it costs next to
/// nothing.
bool Director::nobody_can_go_on(const Session& session) {
  uint32_t progress = load(stage_.header().progress);
  bool unchanged = std::exchange(last_progress_, progress) == progress;
  return unchanged && watch_.is_stuck(session);
}

/// Who waits, and of those that sleep in a call of some library, in which.
std::vector<Divergence> Director::waiting() const {
  std::vector<Divergence> all = watch_.waiting();
  stage::View view = stage_.view();
  for (Divergence& divergence : all) {
    ThreadId id = divergence.event.thread();
    const stage::ThreadSlot& thread =
        view.thread(view.process(id.process().number()).first_thread + id.number() - 1);
    if (static_cast<stage::WaitKind>(thread.wait_kind) != stage::WaitKind::kFutex) continue;
    Path file = file_at(recording_, view, static_cast<pid_t>(load(thread.tid)), thread.wait_for);
    if (!file.empty()) divergence.what += fmt::format("; the call is in {}", file.filename().native());
  }
  return all;
}

/// Whether it waits in the runtime, not in the kernel for somebody else than the director.
bool can_be_told(const stage::ThreadSlot& thread) {
  auto kind = static_cast<stage::WaitKind>(thread.wait_kind);
  return kind != stage::WaitKind::kFutex && kind != stage::WaitKind::kJoin;
}

/// Every wait is on one of these words, but those in the kernel. Who is named says where it is.
void Director::give_up() {
  stage::View view = stage_.view();
  for (const Divergence& divergence : *stuck_) {
    const EventId& event = divergence.event;
    stage::ProcessSlot& process = view.process(event.process().number());
    const stage::ThreadSlot& thread = view.thread(process.first_thread + event.thread().number() - 1);
    if (load(process.diverged) == 0 && can_be_told(thread))
      record::store(process.diverged_thread, event.thread().number());
  }
  record::store(view.header().give_up, uint32_t{1});
  for (uint32_t i = 0; i <= run_.last_connection; ++i) record::bump_and_wake(view.connection(i).futex);
  for (uint32_t i = 0; i <= run_.last_group; ++i) record::bump_and_wake(view.group(i).futex);
  for (uint32_t i = 1; i <= layout_.processes; ++i) record::bump_and_wake(view.process(i).vfork_done);
  for (uint32_t& futex : view.header().object_futexes) record::bump_and_wake(futex);
  for (stage::ObjectBucket& bucket : view.header().object_buckets) {
    for (stage::ObjectWaiter& waiter : bucket.waiters) record::bump_and_wake(waiter.futex);
  }
}

void Director::end_all(Session& session) {
  using Clock = std::chrono::steady_clock;
  bool told = load(stage_.header().give_up) != 0;
  Clock::time_point patience = Clock::now() + (told ? kPatience : 0ms);
  int in_vain = 0;  // what is dead, and not for us to collect, a debugger has not looked at yet
  while (!session.reap() && in_vain < kTimesInVain) {
    look_at_reports();
    if (Clock::now() >= patience) in_vain = session.kill_all() ? 0 : in_vain + 1;
    std::this_thread::sleep_for(kDoze);
  }
}

/// What a process says itself counts most, then who died, then who waited in vain, then who is just missing.
/// Those who only missed what a diverged process did not do are counted, not named.
void Director::conclude(const Session& session, ReplayOutcome& outcome) const {
  outcome.divergences = stuck_ ? said_before_ : watch_.reported();
  if (outcome.divergences.empty()) outcome.divergences = watch_.died(session);
  if (outcome.divergences.empty() && stuck_) outcome.divergences = *stuck_;
  if (outcome.interrupted) return;
  if (outcome.divergences.empty() && outcome.standing.empty())
    outcome.divergences = watch_.unfinished(session);
  for (Divergence& divergence : outcome.divergences) explain(divergence, session);
  if (outcome.divergences.empty()) return;
  uint64_t unfinished = watch_.unfinished_threads(), named = outcome.divergences.size();
  outcome.stopped_besides = unfinished > named ? unfinished - named : 0;
}

void Director::explain(Divergence& divergence, const Session& session) const {
  Facts facts;
  if (auto found = examined_.find(divergence.event.process()); found != examined_.end()) {
    divergence.where = found->second.where;
    facts = found->second.facts;
  }
  if (!divergence.cause) return;
  facts.cause = *divergence.cause;
  facts.parallel = recording_.manifest().parallel;
  facts.other_version = recording_.manifest().pastcone != PASTCONE_VERSION;
  const std::vector<std::string>& recorded = recording_.manifest().cpu;
  if (!recorded.empty()) facts.abilities = missing_abilities(record::cpu_flags(), recorded);
  if (facts.cause == stage::Cause::kEnd) facts.killed = watch_.was_killed(divergence.event.thread(), session);
  divergence.reason = likely_reason(facts);
}

}  // namespace

std::string to_string(const Divergence& divergence) {
  std::string text = fmt::format("{} diverged", divergence.event);
  if (!divergence.where.empty()) text += ' ' + divergence.where;
  text += ": " + divergence.what;
  if (!divergence.reason.empty()) text += "; likely reason: " + divergence.reason;
  return text;
}

Result<ReplayOutcome> replay(const Recording& recording, const ReplayOptions& options) {
  if (recording.growing() || recorder_at_work(recording.directory())) {
    return fail("{} is still being recorded; wait until it has ended", recording.directory().native());
  }
  if (!recording.damage().empty()) {
    return fail("cannot replay {}: it is damaged: {}", recording.directory().native(),
                recording.damage().front());
  }
  if (!recording.threads().contains(ThreadId(ProcessId(1), 1))) {
    return fail("nothing to replay in {}: it has no events", recording.directory().native());
  }
  TRY_STATUS(check_processor(recording));
  RunSummary run = TRY(RunSummary::read(recording));
  Path patch_directory = TRY(record::PatchCache::default_directory());
  bool traps = !record::has_dispatch();
  bool parallel = recording.manifest().parallel;
  bool indexed = !options.index_directory.empty();
  uint32_t flags =
      (traps ? stage::kFlagNoDispatch : 0) | (options.show_output ? 0 : stage::kFlagNoOutput) |
      (parallel ? stage::kFlagParallel : 0) | (indexed && options.note_uses ? stage::kFlagIndex : 0) |
      (indexed && options.note_places ? stage::kFlagWhere : 0) |
      (options.horizons ? stage::kFlagHorizons : 0) | (options.hold ? stage::kFlagAsPrograms : 0);
  record::lift_limit(RLIMIT_AS);
  SharedStage stage = TRY(SharedStage::create(stage::Mode::kReplay, flags, patch_directory));
  if (options.index_directory.size() >= sizeof stage.header().index_directory) {
    return fail("the name of {} is too long; set TMPDIR to another directory", options.index_directory);
  }
  std::strcpy(stage.header().index_directory, options.index_directory.c_str());
  FeedLayout layout = TRY(lay_out_feed(recording, run, stage.view()));
  Director director(recording, std::move(stage), layout, std::move(run));
  TRY_STATUS(director.prepare(record::PatchCache(patch_directory, {.traps = traps, .hooks = parallel})));
  return director.run(options);
}

}  // namespace pastcone::replay
