// What happens at the hits of a scan.
#include <algorithm>
#include <array>
#include <cstring>

#include "pastcone/debug/registers.h"
#include "pastcone/debug/scan.h"
#include "pastcone/graph/steps.h"
#include "pastcone/patch/abi.h"
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

Scan::Stand& Scan::stand(ThreadId thread, const Place& where) {
  Stand& there = stands_[thread];
  if (there.place != where) there = {where, 0, nullptr, {}};
  return there;
}

Moment Scan::moment(ThreadId thread, uint64_t detail) const { return {step_of(thread), detail}; }

/// Details are even, so that there is room for the instruction behind.
Scan::Now Scan::after_hit(Post& post, ThreadId thread, const Move& move, const Place& where, const causal::Node& step) {
  Stand& there = stand(thread, where);
  Point point{move.kind, move.address};
  Move counted = move;
  counted.count = ++there.counts[point];
  auto arming = armings_.find({post.process, point});
  bool since =
      arming != armings_.end() && arming->second.thread == thread && arming->second.place == there.place;
  there.at = std::make_shared<Route>(Route{since ? arming->second.at : nullptr, counted});
  ++there.hits;
  return {post, thread, {step, 2 * there.hits}, there.at};
}

/// For what is read at one moment, which is mostly close together: of what is around it no more than one block is
/// read from the process.
gdb::ReadMemory Scan::reader(ProcessId process) {
  if (entry_ != nullptr) {
    return [this, post = post_of(process)](uint64_t address, void* to, size_t size) {
      missed_ = !read_known(*post, address, to, size) || missed_;
      return !missed_;
    };
  }
  constexpr uint64_t kBlock = 256;
  struct Around {
    uint64_t begin = UINT64_MAX;
    std::array<uint8_t, kBlock> bytes;
  };
  return [this, pid = now().pid(process), around = Around()](uint64_t address, void* to, size_t size) mutable {
    const replay::Tracer& tracer = now().tracer();
    uint64_t begin = address / kBlock * kBlock;
    if (address - begin + size > kBlock) return tracer.read(pid, address, to, size);
    if (around.begin != begin) {
      bool there = tracer.read(pid, begin, around.bytes.data(), kBlock);
      around.begin = there ? begin : UINT64_MAX;
      if (!there) return tracer.read(pid, address, to, size);
    }
    std::memcpy(to, around.bytes.data() + (address - begin), size);
    return true;
  };
}

/// Whether the process has to stand.
bool Scan::take(const TraceStop& stop, ThreadId thread, bool inside) {
  if (!take_hit(stop, thread, inside)) return false;
  Post* post = thread.valid() ? post_of(thread.process()) : nullptr;
  if (post != nullptr && post->points_due && !inside) change_words(*post, thread);
  return is_due();
}

bool Scan::is_due() {
  return lost_ || error_ || !telling_due_.empty() || is_enough() || std::ranges::any_of(posts_, [](const auto& entry) {
           const Post& post = entry.second;
           return post.points_due || post.try_again || !post.unanswered.empty();
         });
}

/// Mostly that can be done where it is; to stop it and let it go again takes many times as long.
void Scan::change_words(Post& post, ThreadId thread) {
  bool plain = !telling_ && telling_due_.empty() && !is_member(post) && !lost_ && !error_;
  if (!plain || !now().tracer().may_change_watches(now().pid(post.process))) return;
  post.points_due = !set_words(post, thread);
}

bool Scan::take_hit(const TraceStop& stop, ThreadId thread, bool inside) {
  take_outlooks(thread);
  if (lost_) return true;
  Post* post = thread.valid() ? post_of(thread.process()) : nullptr;
  if (post == nullptr || !post->open) return false;
  if (stop.kind == TraceStop::Kind::kBreak) {
    auto leaving = post->leaving.find(thread);
    bool leaves = leaving != post->leaving.end() && leaving->second.address == stop.address;
    if (leaves) {
      // A function that the runtime stands in for may be no event.
      bool same = leaving->second.from == place(thread);
      Leaving left = leaving->second;
      bool stops = take_leaving(*post, thread, left, same);
      if (same || !post->breaks.contains(stop.address)) return stops;
    }
    if (!post->breaks.contains(stop.address)) return false;
    return take_break(after_hit(*post, thread, {Move::Kind::kBreak, 0, 0, stop.address}));
  }
  auto word = post->armed.lower_bound({stop.address, 0});
  bool armed = word != post->armed.end() && word->first.address == stop.address;
  if (inside) {
    if (armed && foresee(*post, thread, word->first)) return false;
    note_inside(*post, thread, stop.thread);
    auto leaving = post->leaving.find(thread);
    if (armed && leaving != post->leaving.end()) leaving->second.written.insert(word->first);
    if (armed && is_member(*post)) hold_at_end(*post, thread);
    return false;
  }
  if (!armed) return false;
  Now when = after_hit(*post, thread, {Move::Kind::kWatch, word->first.size, 0, word->first.address});
  Sight sight{thread, when.moment, when.route};
  sight.written.insert(word->first);
  note_written(*post, sight.written);
  bool stops = judge_everywhere(*post, sight);
  if (!post->wanted.contains(word->first) && ++word->second.in_vain > kInVain)
    post->points_due = stops = true;
  return consider_telling(*post, stop.ahead) || stops;
}

/// It is in its program again.
bool Scan::take_leaving(Post& post, ThreadId thread, const Leaving& leaving, bool same) {
  uint64_t address = leaving.address;
  post.leaving.erase(thread);
  if (leaving.judged) {
    remove_break(post, address);
    return false;
  }
  if (is_member(post)) forget_hold(post, thread);
  Sight sight{thread, moment(thread, 0), nullptr};
  sight.written = leaving.written;
  note_written(post, sight.written);
  if (same) {
    Now when = after_hit(post, thread, {Move::Kind::kBreak, 0, 0, address});
    sight.moment = when.moment;
    sight.route = when.route;
  }
  remove_break(post, address);
  return judge_everywhere(post, sight);
}

/// The runtime writes: it counts when the event is over, or the function that it stands in for.
void Scan::note_inside(Post& post, ThreadId thread, pid_t tid) {
  if (post.leaving.contains(thread)) return;
  auto registers = now().tracer().registers(tid);
  if (!registers) return;
  uint64_t address = CodeMap::return_address(*registers, reader(post.process));
  auto program =
      address == 0 ? post.code.registers_of_program(*registers, reader(post.process)) : std::nullopt;
  if (program) address = program->rip;
  if (address == 0 || in_runtime(address)) return;
  add_break(post, thread, address);
  if (post.breaks.contains(address)) post.leaving[thread] = {address, place(thread)};
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
  if (auto jump = post.jumps.find(address); jump != post.jumps.end()) note_jump(when, jump->second, *registers);
  bool calls = false;
  bool lands = post.thrown.contains(when.thread) && post.thrown.at(when.thread) == address;
  if (lands) land(when, *registers);
  for (PartState* state : post.parts) {
    for (Term& term : state->terms) {
      if (term.code == nullptr || term.text->in.empty() || !is_meant(term, when.thread)) continue;
      bool entered =
          std::ranges::any_of(term.code->entries, [&](const auto& entry) { return entry.second == address; });
      if (entered) enter(when, term, *registers);
      come_back(when, term, address, *registers);
      ++term.frame_changes;
      auto place = term.code->places.find(address);
      std::vector<Frame>& frames = term.frames[when.thread];
      if (place != term.code->places.end() && !frames.empty() && !frames.back().active) {
        frames.back().active = true;
        frames.back().place = address;
        frames.back().registers = *registers;
        frames.back().unset.clear();
        if (auto own = term.code->own.find(address); own != term.code->own.end()) forget_values(frames.back(), own->second);
      }
      pass_gate(term, when.thread, address);
      calls = true;
    }
  }
  auto first = post.first_places.find(when.thread);
  bool begins = first != post.first_places.end() && first->second == address;
  if (begins) {
    remove_break(post, address);
    post.first_places.erase(first);
    post.born.insert(when.thread);
    ++post.lives;
  }
  Sight sight{when.thread, when.moment, when.route, address, *registers, calls || begins};
  sight.anew = begins;
  return judge_all(post, sight);
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
  if (!frames.empty() && frames.back().back == address) leave_frames(when, term, registers.rsp);
}

/// Those below.
void Scan::leave_frames(const Now& when, Term& term, uint64_t stack) {
  std::vector<Frame>& frames = term.frames[when.thread];
  while (!frames.empty() && frames.back().stack < stack) {
    remove_break(when.post, frames.back().back);
    frames.pop_back();
  }
}

/// If it may leave functions that somebody looks at.
void Scan::note_jump(const Now& when, JumpKind kind, const user_regs_struct& registers) {
  Post& post = when.post;
  bool in_calls = std::ranges::any_of(post.parts, [&](const PartState* state) {
    return std::ranges::any_of(state->terms, [&](const Term& term) {
      auto frames = term.frames.find(when.thread);
      return frames != term.frames.end() && !frames->second.empty();
    });
  });
  auto target = in_calls ? target_of(kind, registers, reader(post.process)) : std::nullopt;
  if (!target) return;
  auto [before, fresh] = post.thrown.try_emplace(when.thread, *target);
  if (!fresh) remove_break(post, std::exchange(before->second, *target));
  add_break(post, when.thread, *target);
}

void Scan::land(const Now& when, const user_regs_struct& registers) {
  Post& post = when.post;
  remove_break(post, post.thrown.at(when.thread));
  post.thrown.erase(when.thread);
  for (PartState* state : post.parts)
    for (Term& term : state->terms)
      if (!term.text->in.empty()) leave_frames(when, term, registers.rsp);
}

/// Of the calls that it is in, this is the last one's code.
void Scan::pass_gate(Term& term, ThreadId thread, uint64_t address) {
  std::vector<Frame>& frames = term.frames[thread];
  if (frames.empty() || !frames.back().active) return;
  auto inner = term.code->inner.find(frames.back().place);
  if (inner == term.code->inner.end() || !inner->second.function.contains(address)) return;
  Frame& frame = frames.back();
  size_t before = std::exchange(frame.block, inner->second.at(address));
  if (frame.block == InnerBlocks::kNone) return;
  const InnerBlocks::One& block = inner->second.all[frame.block];
  bool from_inside = before != InnerBlocks::kNone && inner->second.all[before].is_inside(block);
  // A loop that a block begins with is no reason: it was not left.
  if (!from_inside) forget_values(frame, block.own);
}

void Scan::forget_values(Frame& frame, const std::vector<OwnVariable>& own) {
  for (const OwnVariable& variable : own) {
    auto address = variable.address.evaluate([](uint64_t, void*, size_t) { return false; },
                                             [&](int number) { return register_of(frame.registers, number); });
    if (address) add_words(static_cast<uint64_t>(address->value), variable.size, frame.unset);
  }
}

void Scan::note_written(Post& post, const std::set<Word>& words) {
  for (PartState* state : post.parts) {
    for (Term& term : state->terms) {
      for (auto& [thread, frames] : term.frames) {
        for (Frame& frame : frames) {
          size_t set = std::erase_if(frame.unset, [&](const Word& own) {
            return std::ranges::any_of(words, [&](const Word& word) { return overlap(own, word); });
          });
          if (set > 0) ++term.frame_changes;
        }
      }
    }
  }
}

}  // namespace pastcone::debug
