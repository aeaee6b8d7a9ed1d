#include "pastcone/replay/live.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include "pastcone/record/new_recording.h"
#include "pastcone/replay/breakpoints.h"
#include "pastcone/replay/surroundings.h"
#include "pastcone/replay/temporary_file.h"
#include "pastcone/replay/unwind_tables.h"

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

/// Whether it waits in the runtime, not in the kernel for somebody else than the director.
bool can_be_told(const stage::ThreadSlot& thread) {
  auto kind = static_cast<stage::WaitKind>(thread.wait_kind);
  return kind != stage::WaitKind::kFutex && kind != stage::WaitKind::kJoin;
}

}  // namespace

Result<RunSummary> Live::summarise(const Recording& recording) {
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
  return RunSummary::read(recording);
}

Result<std::unique_ptr<Live>> Live::start(const Recording& recording, RunSummary run,
                                          const ReplayOptions& options) {
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
  std::unique_ptr<Live> live(new Live(recording, std::move(stage), layout, std::move(run), options));
  TRY_STATUS(live->prepare(record::PatchCache(patch_directory, {.traps = traps, .hooks = parallel})));
  TRY_STATUS(live->launch());
  return live;
}

Live::Live(const Recording& recording, SharedStage stage, FeedLayout layout, RunSummary run,
           const ReplayOptions& options)
    : recording_(recording),
      options_(options),
      stage_(std::move(stage)),
      layout_(layout),
      run_(std::move(run)),
      signals_(stage_, !options.interrupted),
      watch_(stage_.view(), layout.processes, layout.threads, &tracer_),
      polling_(kPollingPatience) {}

Live::~Live() {
  if (session_) end_all();
}

Status Live::prepare(const record::PatchCache& patches) {
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

void Live::list_turn_gaps() {
  stage::View view = stage_.view();
  uint32_t& count = view.header().turn_gaps;
  for (const auto& [group, turns] : run_.turns) {
    turns.each_gap([&, number = group](uint64_t before, uint64_t next) {
      if (count < stage::kMaxTurnGaps) view.turn_gap(count++) = {number, before, next};
    });
  }
}

record::Launch Live::describe_launch(const Path& runtime, const sigset_t& mask) const {
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

Status Live::make_lifeline() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return fail("cannot create a pipe: {}", errno_message(errno));
  lifeline_ = UniqueFd(ends[0]);
  lifeline_end_ = UniqueFd(ends[1]);
  return {};
}

Status Live::launch() {
  Path runtime = TRY(record::find_runtime());
  TRY_STATUS(record::switch_off_randomisation());
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) {
    return fail("cannot take over orphaned processes: {}", errno_message(errno));
  }
  TRY_STATUS(make_lifeline());
  if ((stage_.header().flags & stage::kFlagWhere) != 0)
    TRY_STATUS(write_unwind_tables(recording_, stage_.view(), runtime, options_.index_directory));
  if (options_.horizons) place_horizons(*options_.horizons);
  record::Launch how = describe_launch(runtime, signals_.mask());
  if (options_.hold) {
    int first_fd = record::first_descriptor(how.open_files);
    takeovers_ = TRY(Takeovers::create(recording_, runtime, first_fd, options_.on_remark));
  }
  session_.emplace(TRY(record::launch(stage_, how)));
  tracer_.connect(*session_);
  feed_->start();  // not before: a process of several threads is not one to fork from
  printer_.emplace(stage_.view(), run_.outputs, output_.get(), options_.show_output, options_.output_once,
                   options_.on_output);
  return {};
}

void Live::place_horizons(const Horizons& horizons) {
  stage::View view = stage_.view();
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

void Live::set_horizons(const Horizons& horizons) {
  stage::View view = stage_.view();
  for (const auto& [thread, horizon] : horizons) {
    stage::ThreadSlot& slot = view.thread(thread_slot(view, thread));
    record::store(slot.horizon_point, horizon.point);
    record::store(slot.keeps_turn, horizon.keeps_turn ? 1u : 0u);
    record::store(slot.horizon, horizon.step);
    record::bump_and_wake(slot.horizon_futex);
  }
}

Halt Live::run(bool often) {
  const std::chrono::nanoseconds nap = often ? kShortDoze : kDoze;
  last_progress_ = load(stage_.header().progress) - 1;
  for (;;) {
    uint32_t seen = load(stage_.header().activity);
    // While some are traced, they are what is waited for.
    bool all_ended = session_->reap(tracer_.traces_any() ? nap : 0ns) || nobody_left();
    if ((stop_ = tracer_.next_stop())) return Halt::kTraced;
    serve_breakpoint(stage_.header().breakpoint, &tracer_);
    serve_takeovers();
    look_at_reports();
    if (feed_->failed()) return Halt::kFailed;
    if (!printer_->advance()) return Halt::kUnread;
    if (interrupted()) return Halt::kInterrupted;
    if (all_ended) return Halt::kEnded;
    if (nobody_can_go_on()) {
      printer_->advance();
      return Halt::kStanding;
    }
    if (runs_in_circles()) {
      said_before_ = watch_.reported();
      stuck_ = watch_.computing();
      end_all();
      return Halt::kDiverged;
    }
    if (!tracer_.traces_any()) std::this_thread::sleep_for(nap);
    if (!watch_.may_be_stuck()) stage_.wait_activity(seen, often ? kShortNet : kSafetyNet);
  }
}

bool Live::interrupted() const {
  if (options_.on_wait) options_.on_wait(*this);
  return options_.interrupted ? options_.interrupted() : signals_.interrupted();
}

/// A debugger has other children. Twice: who is listed may make another, which is not, and end. Who was ended by
/// another thread may still count.
bool Live::nobody_left() {
  if (!options_.interrupted) return false;
  auto now = std::chrono::steady_clock::now();
  if (load(stage_.header().live_threads) != 0 && now - looked_for_any_ < kSafetyNet) return false;
  looked_for_any_ = now;
  // One that is known is enough: to look for others takes the longer the more processes the machine has.
  stage::View view = stage_.view();
  for (uint32_t i = 0; i < layout_.threads; ++i) {
    auto state = static_cast<stage::ThreadState>(load(view.thread(i).state));
    auto tid = static_cast<pid_t>(load(view.thread(i).tid));
    bool there = tid != 0 && state != stage::ThreadState::kNone && state != stage::ThreadState::kEnded;
    if (there && Session::thread_state(tid)) return false;
  }
  return session_->processes().empty() && session_->processes().empty();
}

void Live::serve_takeovers() {
  if (!takeovers_) return;
  stage::Takeover& request = stage_.header().takeover;
  bool wanted = load(request.state) == static_cast<uint32_t>(stage::TakeoverState::kWanted);
  if (auto process = static_cast<pid_t>(request.process); wanted && tracer_.traces(process))
    tracer_.let_go(process);
  takeovers_->serve(stage_.header(), *session_);
}

Status Live::failure() {
  if (!feed_->failed()) return {};
  return fail("cannot replay {}: {}", recording_.directory().native(), feed_->finish().error().message);
}

std::optional<TraceStop> Live::wait_for_stop() {
  for (;;) {
    if (auto stop = tracer_.next_stop()) return stop;
    if (session_->reap(kSafetyNet)) return {};
  }
}

bool Live::read_channel(uint64_t channel, uint64_t position, char* to, size_t size) const {
  if (channel / 2 > run_.last_connection) return false;
  const stage::Direction& direction = stage_.view().connection(static_cast<uint32_t>(channel / 2)).direction[channel % 2];
  if (position + size > direction.store_size) return false;
  uint64_t blocks = stage_.header().store_blocks;
  while (size > 0) {
    uint64_t offset = position % stage::kStoreBlock;
    size_t part = std::min<uint64_t>(size, stage::kStoreBlock - offset);
    stage::StorePiece piece{};
    uint64_t entry = direction.first_block + position / stage::kStoreBlock;
    bool there = pread(store_.get(), &piece, sizeof piece, static_cast<off_t>(entry * sizeof piece)) == sizeof piece &&
                 piece.block != 0;
    uint64_t from = stage::store_blocks_at(blocks) + (piece.block - 1) * stage::kStoreBlock + offset;
    if (!there || pread(store_.get(), to, part, static_cast<off_t>(from)) != static_cast<ssize_t>(part)) return false;
    position += part;
    to += part;
    size -= part;
  }
  return true;
}

void Live::wait_for_interrupt() {
  while (!signals_.interrupted()) stage_.wait_activity(load(stage_.header().activity), kSafetyNet);
}

std::vector<Standing> Live::standing() const {
  std::vector<Standing> all = watch_.standing();
  end_as_recorded(all, run_.threads);
  return all;
}

void Live::show_to_debuggers() {
  record::store(stage_.header().held, uint32_t{1});
  for (uint32_t i = 0; i < layout_.threads; ++i) record::bump_and_wake(stage_.view().thread(i).horizon_futex);
  auto end = std::chrono::steady_clock::now() + kSafetyNet;
  while (!watch_.is_stuck(*session_) && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(kDoze);
}

/// In parallel mode a thread may wait by itself, in a loop, for what another one does at another time than
/// before. It did not take longer than the whole recording then; if it computes for many times that now, it will not
/// end. (Other clocks tell nothing: on a starved machine it may be long until it runs at all.) Sooner it is known of
/// those who only yield.
bool Live::runs_in_circles() {
  if (!recording_.manifest().parallel) return false;
  auto now = std::chrono::steady_clock::now();
  if (now - looked_at_ < kSafetyNet) return false;
  looked_at_ = now;
  uint64_t progress = watch_.progress();
  std::vector<pid_t> computing = watch_.computing_threads();
  if (std::exchange(last_sum_, progress) != progress || computing.empty()) polling_.forget();
  if (polling_.only(computing)) return true;
  const Manifest& manifest = recording_.manifest();
  std::chrono::nanoseconds recorded(std::max<int64_t>(manifest.ended_ns - manifest.started_ns, 0));
  return polling_.longest(computing) > kLeastPatience + 10 * recorded;
}

/// A process that has diverged waits until it has been looked at.
void Live::look_at_reports() {
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
bool Live::nobody_can_go_on() {
  uint32_t progress = load(stage_.header().progress);
  bool unchanged = std::exchange(last_progress_, progress) == progress;
  return unchanged && watch_.is_stuck(*session_);
}

/// Who waits, and of those that sleep in a call of some library, in which.
std::vector<Divergence> Live::waiting() const {
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

/// Every wait is on one of these words, but those in the kernel and those for the tool. Who is named says where it is.
void Live::give_up() {
  said_before_ = watch_.reported();
  stuck_ = waiting();
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

void Live::end_all() {
  using Clock = std::chrono::steady_clock;
  bool told = load(stage_.header().give_up) != 0;
  Clock::time_point patience = Clock::now() + (told ? kPatience : 0ms);
  int in_vain = 0;  // what is dead, and not for us to collect, a debugger has not looked at yet
  while (!session_->reap() && in_vain < kTimesInVain) {
    look_at_reports();
    if (Clock::now() >= patience) in_vain = session_->kill_all() ? 0 : in_vain + 1;
    std::this_thread::sleep_for(kDoze);
  }
}

/// What a process says itself counts most, then who died, then who waited in vain, then who is just missing.
/// Those who only missed what a diverged process did not do are counted, not named.
void Live::conclude(ReplayOutcome& outcome) {
  end_all();
  outcome.divergences = stuck_ ? said_before_ : watch_.reported();
  if (outcome.divergences.empty()) outcome.divergences = watch_.died(*session_);
  if (outcome.divergences.empty() && stuck_) outcome.divergences = *stuck_;
  if (outcome.interrupted) return;
  if (outcome.divergences.empty() && outcome.standing.empty())
    outcome.divergences = watch_.unfinished(*session_);
  for (Divergence& divergence : outcome.divergences) explain(divergence);
  if (outcome.divergences.empty()) return;
  uint64_t unfinished = watch_.unfinished_threads(), named = outcome.divergences.size();
  outcome.stopped_besides = unfinished > named ? unfinished - named : 0;
}

void Live::explain(Divergence& divergence) const {
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
  if (facts.cause == stage::Cause::kEnd) facts.killed = watch_.was_killed(divergence.event.thread(), *session_);
  divergence.reason = likely_reason(facts);
}

}  // namespace pastcone::replay
