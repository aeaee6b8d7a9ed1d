// What happens at the hits of a scan.
#include <algorithm>

#include "pastcone/debug/registers.h"
#include "pastcone/debug/scan.h"
#include "pastcone/graph/steps.h"
#include "pastcone/record/shared_stage.h"

namespace pastcone::debug {

using replay::TraceStop;

/// The last step that the thread has come to.
causal::Node Scan::step_of(ThreadId thread) const {
  uint32_t index = *world_.graph.find(thread);
  auto plain = static_cast<uint32_t>(2 * now().events_done(thread));
  if (!world_.recording.manifest().parallel) return graph::find_step(world_.graph, index, plain);
  return graph::find_step(world_.graph, index, plain, record::load(now().slot(thread).points));
}

/// Of the points that it has passed, the last one, if it is a step.
Scan::Place Scan::place(ThreadId thread) const {
  bool parallel = world_.recording.manifest().parallel;
  return {now().events_done(thread), parallel ? graph::point_at(world_.graph, step_of(thread)) : 0};
}

Scan::Stand& Scan::stand(ThreadId thread) {
  Stand& there = stands_[thread];
  if (Place where = place(thread); there.place != where) there = {where, 0, nullptr, {}};
  return there;
}

Moment Scan::moment(ThreadId thread, uint64_t detail) const { return {step_of(thread), detail}; }

/// Details are even, so that there is room for the instruction behind.
Scan::Now Scan::after_hit(Post& post, ThreadId thread, const Move& move) {
  Stand& there = stand(thread);
  Point point{move.kind, move.address};
  Move counted = move;
  counted.count = ++there.counts[point];
  auto arming = armings_.find({post.process, point});
  bool since =
      arming != armings_.end() && arming->second.thread == thread && arming->second.place == there.place;
  there.at = std::make_shared<Route>(Route{since ? arming->second.at : nullptr, counted});
  ++there.hits;
  return {post, thread, moment(thread, 2 * there.hits), there.at};
}

gdb::ReadMemory Scan::reader(ProcessId process) const {
  return [this, pid = now().pid(process)](uint64_t address, void* to, size_t size) {
    return now().tracer().read(pid, address, to, size);
  };
}

/// Whether the process has to stand.
bool Scan::take(const TraceStop& stop, ThreadId thread, bool inside) {
  Post* post = thread.valid() ? post_of(thread.process()) : nullptr;
  if (post == nullptr || !post->open) return false;
  if (stop.kind == TraceStop::Kind::kBreak) {
    auto leaving = post->leaving.find(thread);
    if (leaving != post->leaving.end() && leaving->second == stop.address) {
      post->leaving.erase(leaving);
      remove_break(*post, stop.address);
      bool stops = evaluate({*post, thread, moment(thread, 0), nullptr});
      if (post->stepping) {
        post->steps_from = nullptr;
        post->steps = post->code.visible(stop.address) ? 1 : 0;
        stops = true;
      }
      if (!post->breaks.contains(stop.address)) return stops;
    }
    if (!post->breaks.contains(stop.address)) return false;
    return take_break(after_hit(*post, thread, {Move::Kind::kBreak, 0, 0, stop.address}));
  }
  if (inside) {
    note_inside(*post, thread, stop.thread);
    return false;
  }
  auto word =
      std::ranges::find_if(post->armed, [&](const auto& each) { return each.first.address == stop.address; });
  if (word == post->armed.end()) return false;
  bool stops =
      evaluate(after_hit(*post, thread, {Move::Kind::kWatch, word->first.size, 0, word->first.address}));
  if (!post->wanted.contains(word->first) && ++word->second > 64) post->points_due = stops = true;
  return stops;
}

/// The runtime writes: it counts when the event is over.
bool Scan::note_inside(Post& post, ThreadId thread, pid_t tid) {
  if (post.leaving.contains(thread)) return true;
  auto registers = now().tracer().registers(tid);
  if (!registers) return false;
  uint64_t address = CodeMap::return_address(*registers, reader(post.process));
  if (address == 0) return false;
  add_break(post, thread, address);
  if (!post.breaks.contains(address)) return false;
  post.leaving[thread] = address;
  return true;
}

bool Scan::take_break(const Now& when) {
  Post& post = when.post;
  uint64_t address = when.route->last.address;
  if (address == post.entry) {
    post.try_again = true;
    return true;
  }
  auto registers = now().tracer().registers(now().tid(when.thread));
  if (!registers) return false;
  bool calls = false;
  for (PartState* state : post.parts) {
    for (Term& term : state->terms) {
      if (term.code == nullptr || term.text->in.empty()) continue;
      const Who& who = term.text->who;
      if (who.kind == Who::Kind::kThread && who.thread != when.thread) continue;
      if (address == term.code->entry) enter(when, term, *registers);
      come_back(when, term, address, *registers);
      auto place = term.code->places.find(address);
      std::vector<Frame>& frames = term.frames[when.thread];
      if (place != term.code->places.end() && !frames.empty() && !frames.back().active) {
        frames.back().active = true;
        frames.back().place = address;
        frames.back().registers = *registers;
      }
      calls = true;
    }
  }
  take_place(when, address, *registers);
  bool stops = calls && evaluate(when);
  return stops || error_ || (enough_ != nullptr && (*enough_)());
}

void Scan::enter(const Now& when, Term& term, const user_regs_struct& registers) {
  std::vector<Frame>& frames = term.frames[when.thread];
  while (!frames.empty() && frames.back().stack <= registers.rsp) {  // left by a jump
    remove_break(when.post, frames.back().back);
    frames.pop_back();
  }
  uint64_t back = 0;
  if (!reader(when.post.process)(registers.rsp, &back, sizeof back)) return;
  frames.push_back({registers.rsp, back});
  add_break(when.post, when.thread, back);
}

void Scan::come_back(const Now& when, Term& term, uint64_t address, const user_regs_struct& registers) {
  std::vector<Frame>& frames = term.frames[when.thread];
  if (frames.empty() || frames.back().back != address) return;
  while (!frames.empty() && frames.back().stack < registers.rsp) {
    remove_break(when.post, frames.back().back);
    frames.pop_back();
  }
}

/// Parts that hold only while a thread stands here.
void Scan::take_place(const Now& when, uint64_t address, const user_regs_struct& registers) {
  auto read = reader(when.post.process);
  auto reg = [&](int number) { return register_of(registers, number); };
  for (PartState* state : when.post.parts) {
    if (!state->instant) continue;
    if (state->part->thread.valid() && state->part->thread != when.thread) continue;
    bool all = true, here = false;
    for (Term& term : state->terms) {
      bool holds = false;
      if (term.code != nullptr && term.text->at) {
        const Who& who = term.text->who;
        auto found = term.code->places.find(address);
        bool meant = who.kind != Who::Kind::kThread || who.thread == when.thread;
        holds = meant && found != term.code->places.end() && judge(found->second, read, reg).holds;
        here = here || holds;
        if (holds) ++term.times;
      } else if (term.code != nullptr) {
        holds = judge_term(when, term);
      }
      all = all && holds;
    }
    if (!all || !here) continue;
    state->log.note(world_.graph, when.moment, true, when.route);
    Moment behind = when.moment;
    ++behind.detail;
    auto route = std::make_shared<Route>(Route{when.route, {Move::Kind::kSteps, 0, 1, 0}});
    state->log.note(world_.graph, behind, false, route);
  }
}

/// It has come there before, and stands there still.
void Scan::take_stand(const Now& when) {
  auto registers = now().tracer().registers(now().tid(when.thread));
  if (!registers) return;
  take_place(when, registers->rip, *registers);
  ++stand(when.thread).hits;
}

void Scan::take_step(Post& post, ThreadId thread, pid_t tid) {
  if (!post.stepping) return;
  auto registers = now().tracer().registers(tid);
  if (!registers || !post.code.visible(registers->rip)) return;
  Stand& there = stand(thread);
  ++there.hits;
  ++post.steps;
  there.at = std::make_shared<Route>(Route{post.steps_from, {Move::Kind::kSteps, 0, post.steps, 0}});
  Now when{post, thread, moment(thread, 2 * there.hits), there.at};
  evaluate(when);
  if (post.breaks.contains(registers->rip)) {
    // It will not stop there: it stands there.
    ++there.counts[{Move::Kind::kBreak, registers->rip}];
    when.route = std::make_shared<Route>(Route{nullptr, {Move::Kind::kBreak, 0, 0, registers->rip}});
    take_break(when);
  }
}

bool Scan::judge_term(const Now& when, Term& term) {
  auto read = reader(when.post.process);
  bool held = std::exchange(term.holds, false);
  term.words.clear();
  if (term.code == nullptr) return false;
  if (term.text->in.empty()) {
    Verdict verdict = judge(term.code->anywhere, read, [](int) { return 0; });
    term.holds = verdict.holds;
    term.words = std::move(verdict.words);
  } else {
    for (auto& [thread, frames] : term.frames) {
      if (!frames.empty() && frames.back().active) {
        Frame& frame = frames.back();
        Verdict verdict = judge(term.code->places.at(frame.place), read,
                                [&](int number) { return register_of(frame.registers, number); });
        if (verdict.by_registers && !error_)
          error_ = Error{
              fmt::format("{}: in {} this is in registers, because the program was optimised: compile it "
                          "with -O0, or say 'at FILE:LINE'",
                          to_string(*term.text), term.text->in)};
        frame.holds = verdict.holds;
        term.words.insert(verdict.words.begin(), verdict.words.end());
      }
      for (const Frame& frame : frames) term.holds = term.holds || frame.holds;
    }
  }
  if (term.holds && !held) ++term.times;
  return term.holds;
}

/// All parts anew. Whether the process has to stand.
bool Scan::evaluate(const Now& when) {
  Post& post = when.post;
  for (PartState* state : post.parts) {
    if (state->instant) continue;
    bool all = true;
    for (Term& term : state->terms) all = judge_term(when, term) && all;
    ThreadId own = state->part->thread;
    if (!own.valid() || own == when.thread) {
      state->log.note(world_.graph, when.moment, all, when.route);
    } else if (bool unborn = now().events_done(own) == 0; !post.open || unborn) {
      // As the thread finds it, when it begins if it has not yet.
      Moment finds = moment(own, 0);
      if (unborn) finds.step = graph::find_step(world_.graph, finds.step.thread, graph::leaving(1));
      state->log.note(world_.graph, finds, all, nullptr);
    }
  }
  bool was_stepping = post.stepping;
  choose_words(post);
  post.points_due =
      post.points_due || post.stepping != was_stepping ||
      std::ranges::any_of(post.wanted, [&](const Word& word) { return !post.armed.contains(word); });
  return post.points_due || error_ || (enough_ != nullptr && (*enough_)());
}

}  // namespace pastcone::debug
