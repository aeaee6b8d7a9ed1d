#include "pastcone/debug/scan.h"

#include <algorithm>
#include <iterator>

#include "pastcone/debug/missed_writes.h"
#include "pastcone/graph/steps.h"
#include "pastcone/record/shared_stage.h"

namespace pastcone::debug {

using record::load;
using replay::TraceStop;

Scan::Scan(const World& world, const std::vector<Part>& parts, const State& origin, TermCodes& codes,
           Telling telling, std::function<bool()> interrupted,
           std::function<void(const replay::Live&)> on_wait)
    : world_(world),
      origin_(origin),
      codes_(codes),
      interrupted_(std::move(interrupted)),
      on_wait_(std::move(on_wait)),
      telling_allowed_(telling) {
  for (const Part& part : parts) {
    PartState& state = states_.emplace_back(PartState{&part, {}, {}});
    for (const SimplePredicate& term : part.terms) {
      state.terms.push_back({&term});
      state.instant = state.instant || term.at;
    }
    Post& post = posts_[part.process];
    post.process = part.process;
    post.parts.push_back(&state);
    if (!part.shared) continue;
    shares_ = true;
    for (uint32_t thread : part.unit.threads) {
      ProcessId member(world.graph.threads[thread].process);
      state.members.insert(member);
      posts_[member].process = member;
    }
  }
}

Scan::~Scan() = default;

Scan::Post* Scan::post_of(ProcessId process) {
  auto found = posts_.find(process);
  return found == posts_.end() ? nullptr : &found->second;
}

const Scan::Post* Scan::post_of(ProcessId process) const {
  auto found = posts_.find(process);
  return found == posts_.end() ? nullptr : &found->second;
}

void Scan::end() {
  seats_.reset();
  engine_.reset();
  begun_ = false;
}

void Scan::clear() {
  for (PartState& state : states_) {
    state.log = {};
    state.written.reset();
    state.unordered = false;
    state.looked_at.clear();
    state.pieces.clear();
    for (Term& term : state.terms) term = {term.text};
  }
  for (auto& [process, post] : posts_) {
    Post fresh;
    fresh.process = process;
    fresh.parts = std::move(post.parts);
    post = std::move(fresh);
  }
  stands_.clear();
  armings_.clear();
  error_.reset();
  journals_given_ = 0;
  telling_due_.clear();
  telling_ = false;
}

/// All at the origin; from then on nobody is held but at the gates of those that are looked at.
Status Scan::begin() {
  clear();
  sched_getaffinity(0, sizeof everywhere_, &everywhere_);
  engine_ =
      std::make_unique<Engine>(world_, EngineOptions{false, [this] { return look_up(); }, on_wait_, {}});
  seats_ = TRY(Seats::create(*engine_, Seats::Language::kOfMain));
  whereabouts_ = std::make_unique<Whereabouts>(*engine_);
  TRY_STATUS(engine_->go_to(origin_));
  now().tracer().goes_on_soon = true;
  now().filter = [this](const TraceStop& stop, ThreadId thread, bool inside) {
    return take(stop, thread, inside);
  };
  for (const auto& [thread, stream] : world_.recording.threads()) horizons_[thread] = replay::kNoHorizon;
  for (const auto& [thread, trail] : origin_.trails) {
    Stand& there = stand(thread);
    for (const Move& move : trail) there.at = std::make_shared<Route>(Route{there.at, move});
  }
  for (auto& [process, post] : posts_) {
    expect_births(post);
    const ProcessRecord* record = world_.processes.find(process);
    std::vector<Hold> gates;
    // What a forked process does first is to say that it has begun.
    if (record->parent.valid()) gates.push_back({{ThreadId(process, 1), 2}});
    for (const ProgramRun& program : record->programs)
      gates.push_back({{program.event.thread(), 2 * program.event.index()}});
    if (is_member(post)) std::ranges::copy(TRY(holds_of(process)), std::back_inserter(gates));
    std::ranges::copy(ends_of(post), std::back_inserter(gates));
    std::ranges::copy(vforks_of(process), std::back_inserter(gates));
    bool has_program = false, begins = false;
    for (const Hold& gate : gates) {
      if (now().steps_done(gate.thread) < gate.step) {
        post.gates.push_back(gate);
      } else if (gate.kind == Hold::Kind::kBegins) {
        has_program = true;
        bool executed = !record->parent.valid() || gate.step > 2;
        begins = executed && now().steps_done(gate.thread) == gate.step && origin_.trails.empty();
      }
    }
    std::ranges::stable_sort(post.gates);
    for (const Hold& gate : post.gates) aim(gate.thread);
    if (!has_program || now().pid(process) == 0) continue;
    ThreadId thread(process, 1);
    for (const auto& [other, trail] : origin_.trails)
      if (other.process() == process) thread = other;
    bool moved = origin_.trails.contains(thread);
    TRY_STATUS(open(post, {post, thread, moment(thread, moved ? 1 : 0), stand(thread).at}, begins));
  }
  begun_ = true;
  return {};
}

/// Asked again and again while everybody runs: whether there is something to be done.
bool Scan::look_up() {
  if (interrupted_ && interrupted_()) return true;
  return running_ && (gate_reached() || is_enough());
}

/// Before it begins a thread has nothing of its own.
void Scan::expect_births(Post& post) {
  for (const PartState* state : post.parts) {
    for (const Term& term : state->terms) {
      ThreadId thread = term.text->who.thread;
      bool further = term.text->who.kind == Who::Kind::kThread && thread.number() > 1;
      if (!further || post.born.contains(thread)) continue;
      Gate birth{thread, 2};
      bool begun = origin_.trails.contains(thread) || now().steps_done(thread) > birth.step;
      if (begun)
        post.born.insert(thread);
      else if (std::ranges::find(post.births, thread, &Gate::thread) == post.births.end())
        post.births.push_back(birth);
    }
  }
}

/// Where it comes to its next event behind its child, which has had its memory before. (Where the vfork ends it cannot be
/// held: it sleeps in the kernel.)
std::vector<Scan::Hold> Scan::vforks_of(ProcessId process) const {
  std::vector<Hold> holds;
  for (const auto& [id, child] : world_.processes.processes()) {
    bool vforked = !child.threads.empty() && (child.threads.front().flags & format::kStartVfork) != 0;
    if (vforked && child.parent.thread().process() == process)
      holds.push_back({{child.parent.thread(), graph::entering(child.parent.index() + 1)}, Hold::Kind::kChanges});
  }
  return holds;
}

/// When it has ended it has nothing of its own any more.
std::vector<Scan::Hold> Scan::ends_of(const Post& post) const {
  std::set<ThreadId> meant;
  for (const PartState* state : post.parts)
    for (const Term& term : state->terms)
      if (term.text->who.kind == Who::Kind::kThread) meant.insert(term.text->who.thread);
  std::vector<Hold> holds;
  for (const ThreadRecord& thread : world_.processes.find(post.process)->threads) {
    bool ends = thread.end.kind == End::Kind::kExited && thread.events > 0;
    if (ends && thread.id.number() > 1 && meant.contains(thread.id))
      holds.push_back({{thread.id, graph::entering(thread.events)}, Hold::Kind::kEnds});
  }
  return holds;
}

bool Scan::stands_at(const Gate& gate, bool or_later) const {
  if (now().tid(gate.thread) == 0 || !now().in_call(gate.thread)) return false;
  const stage::ThreadSlot& slot = now().slot(gate.thread);
  if (static_cast<stage::WaitKind>(slot.wait_kind) != stage::WaitKind::kHorizon) return false;
  return or_later ? slot.wait_position >= gate.step : slot.wait_position == gate.step;
}

bool Scan::is_at(const Hold& gate) const { return stands_at(gate, gate.kind == Hold::Kind::kWrote); }

/// That can be opened; SIZE_MAX: there is none.
size_t Scan::find_reached(const Post& post) const {
  for (size_t i = 0; i < post.gates.size(); ++i) {
    const Hold& gate = post.gates[i];
    bool later = i > 0 && post.gates[i - 1].thread == gate.thread && post.gates[i - 1].step < gate.step;
    const Post* child = gate.kind == Hold::Kind::kForks ? post_of(gate.child) : nullptr;
    if (!later && is_at(gate) && (child == nullptr || child->open)) return i;
  }
  return SIZE_MAX;
}

bool Scan::gate_reached() const {
  return std::ranges::any_of(posts_, [&](const auto& entry) {
    const Post& post = entry.second;
    return find_reached(post) != SIZE_MAX ||
           std::ranges::any_of(post.births, [&](const Gate& birth) { return stands_at(birth); });
  });
}

/// At its next gate.
void Scan::aim(ThreadId thread) {
  const Post& post = *post_of(thread.process());
  auto next = std::ranges::find(post.gates, thread, &Hold::thread);
  bool keeps_turn = shares_ || post.tells;
  horizons_[thread] =
      next == post.gates.end() ? replay::kNoHorizon : replay::Horizon{next->step, 0, keeps_turn};
}

Status Scan::open_gate(Post& post, const Hold& gate) {
  if (gate.kind == Hold::Kind::kForks) return {};
  TRY_STATUS(now().freeze(post.process));
  take_outlooks();  // others may have gone on up to here
  if (gate.kind == Hold::Kind::kEnds) {
    post.born.erase(gate.thread);
    ++post.lives;
    auto gone = static_cast<uint32_t>(gate.step + 1);
    Sight sight{
        gate.thread, {graph::find_step(world_.graph, *world_.graph.find(gate.thread), gone), 0}, nullptr};
    sight.anew = true;
    judge_all(post, sight);
    return settle(gate.thread);
  }
  if (gate.kind != Hold::Kind::kBegins) return look_again(post, gate);
  bool executed = executes(gate);
  if (executed) {
    Moment begins = moment(gate.thread, 0);
    --begins.step.event;  // the old program is not there any more
    for (PartState* state : post.parts)
      if (state->part->shared) state->log.note(world_.graph, begins, false, nullptr);
  }
  return open(post, {post, gate.thread, moment(gate.thread, 0), nullptr}, executed);
}

/// A forked process begins, too.
bool Scan::executes(const Hold& gate) { return gate.kind == Hold::Kind::kBegins && gate.step > 2; }

Status Scan::open_gates() {
  for (bool any = true; any;) {
    any = false;
    for (auto& [process, post] : posts_) {
      for (size_t i = find_reached(post); i != SIZE_MAX; i = find_reached(post)) {
        Hold gate = post.gates[i];
        // What others write meanwhile is not the old program's any more: the gate says so (is_closed).
        if (executes(gate)) forget_points(post);
        post.gates.erase(post.gates.begin() + static_cast<ptrdiff_t>(i));
        TRY_STATUS(open_gate(post, gate));
        aim(gate.thread);
        any = true;
      }
      TRY_STATUS(open_births(post));
    }
  }
  return {};
}

/// A thread begins without the turn, while others go on: its state counts from its first instruction.
Status Scan::open_births(Post& post) {
  std::vector<Gate> ahead;
  for (const Gate& birth : std::exchange(post.births, {})) {
    if (!stands_at(birth)) {
      horizons_[birth.thread] = {birth.step, 0};
      ahead.push_back(birth);
      continue;
    }
    TRY_STATUS(now().freeze(post.process));
    aim(birth.thread);
    post.first_places[birth.thread] = TRY(now().registers(birth.thread)).rip;
    add_break(post, birth.thread, post.first_places[birth.thread]);
  }
  post.births = std::move(ahead);
  return {};
}

/// Nobody goes on: if somebody waits for a child that never begins, it need not.
bool Scan::let_go() {
  bool any = false;
  for (auto& [process, post] : posts_) {
    auto held = std::ranges::find_if(post.gates, [&](const Hold& gate) { return is_at(gate); });
    if (held == post.gates.end()) continue;
    ThreadId thread = held->thread;
    post.gates.erase(held);
    aim(thread);
    any = true;
  }
  return any;
}

Result<Scan::Halt> Scan::run(const std::function<bool()>& enough) {
  enough_ = nullptr;
  if (over_) return Halt::kOver;
  if (!begun_ && !TRY(begin_again())) return Halt::kInterrupted;
  enough_ = &enough;
  Result<Halt> halt = go_on();
  enough_ = nullptr;
  return halt;
}

/// False: somebody does not want to wait for it.
Result<bool> Scan::begin_again() {
  Status begun = begin();
  if (interrupted_ && interrupted_()) {
    end();
    return false;
  }
  TRY_STATUS(std::move(begun));
  return true;
}

Result<Scan::Halt> Scan::go_on() {
  for (;;) {
    take_outlooks();
    if (!lost_) TRY_STATUS(open_gates());
    if (error_) return tl::unexpected<Error>(*error_);
    bool enough = is_enough();
    if (lost_) return fail("what was written is not known");
    if (enough) return Halt::kEnough;
    let_tellers_go();
    running_ = true;
    Arrival arrival = now().run(std::exchange(horizons_, {}), {}, false);
    running_ = false;
    if (now().tracer().has_missed()) return fail(kMissedWrites);
    switch (arrival.halt) {
      case replay::Halt::kTraced:
        TRY_STATUS(note_arrival(arrival));
        break;
      case replay::Halt::kInterrupted:
        if (interrupted_ && interrupted_()) return Halt::kInterrupted;
        break;
      case replay::Halt::kStanding:
      case replay::Halt::kEnded:
        if (gate_reached() || let_go()) break;
        if (now().live().diverged()) return fail("the replay diverged; see 'pastcone replay --verify'");
        take_outlooks();
        if (lost_) break;
        for (const auto& [process, record] : world_.processes.processes())
          if (now().was_killed(process))
            return fail("{} has been killed, by nobody in the recording", process);
        over_ = true;
        for (const PartState& state : states_) {
          for (const Term& term : state.terms) {
            if (!term.known && !term.error.empty()) return fail("{}: {}", to_string(*term.text), term.error);
          }
        }
        return Halt::kOver;
      default:
        TRY_STATUS(now().live().failure());
        return fail("the replay diverged; see 'pastcone replay --verify'");
    }
  }
}

Status Scan::note_arrival(const Arrival& arrival) {
  const TraceStop& stop = *arrival.stop;
  Post* post = nullptr;
  if (arrival.thread.valid()) post = post_of(arrival.thread.process());
  if (post == nullptr) return {};
  if (stop.kind == TraceStop::Kind::kExecuted) {
    forget_points(*post);
    return {};
  }
  if (stop.kind == TraceStop::Kind::kEnded) return {};
  if (std::exchange(post->try_again, false)) {
    TRY_STATUS(settle(arrival.thread));
    if (error_) return {};
    engine_->note_motion();
    Stand& there = stand(arrival.thread);
    TRY_STATUS(open(*post, {*post, arrival.thread, moment(arrival.thread, 2 * there.hits), there.at}));
  }
  return settle(arrival.thread);
}

bool Scan::ended(size_t part) const {
  if (over_) return true;
  const Post* post = post_of(states_[part].part->process);
  return begun_ && post->open && post->gates.empty() && now().pid(post->process) == 0 && !is_behind(*post);
}

bool Scan::passed(size_t part, const causal::Cut& cut) const {
  return std::ranges::all_of(states_[part].part->unit.threads, [&](uint32_t thread) {
    return passed(part, Moment{{thread, cut[thread]}, 0});
  });
}

bool Scan::passed(size_t, const Moment& moment) const {
  if (!begun_) return false;
  if (moment.detail != 0) return true;
  ThreadId thread = world_.graph.thread_id(moment.step.thread);
  const Post* post = post_of(thread.process());
  uint64_t plain = graph::plain_step(world_.graph, moment.step);
  if (plain == 0) return true;  // it has not begun
  if (now().steps_done(thread) < plain) return false;
  if (load(now().slot(thread).points) < graph::point_at(world_.graph, moment.step)) return false;
  if (is_behind(*post)) return false;  // entries are made before their event is over
  if (post->leaving.contains(thread) && plain >= 2 * now().events_done(thread)) return false;
  bool before = post->outlook && post->outlook->thread == thread && plain <= 2 * post->outlook->events;
  if (post->outlook && !before) return false;
  return std::ranges::none_of(post->gates,
                              [&](const Hold& gate) { return gate.thread == thread && gate.step <= plain; });
}

}  // namespace pastcone::debug
