// What holds at a moment of a scan.

#include <algorithm>

#include "pastcone/debug/registers.h"
#include "pastcone/debug/scan.h"
#include "pastcone/graph/steps.h"
#include "pastcone/record/shared_stage.h"

namespace pastcone::debug {
namespace {

template <typename Terms>
bool reads(const Terms& terms, const std::set<Word>& written) {
  return std::ranges::any_of(terms, [&](const auto& term) {
    return std::ranges::any_of(term.words, [&](const Word& word) {
      return std::ranges::any_of(written, [&](const Word& one) { return overlap(word, one); });
    });
  });
}

}  // namespace

/// Whether the process has to stand: something is to be done there, or gdb to be asked.
bool Scan::judge_all(Post& post, const Sight& sight) {
  bool known = judge_places(post, sight) && judge_rest(post, sight);
  if (!known && !error_) post.unanswered.push_back(sight);
  bool due = std::ranges::any_of(posts_, [](const auto& entry) { return entry.second.points_due; });
  return !known || due || error_ || is_enough();
}

/// Parts that hold only while a thread stands here. False: it is not known.
bool Scan::judge_places(Post& post, const Sight& sight) {
  if (sight.place == 0) return true;
  std::vector<std::pair<PartState*, std::vector<Verdict>>> found;
  for (PartState* state : post.parts) {
    if (!state->instant || (state->part->thread.valid() && state->part->thread != sight.thread)) continue;
    std::vector<Verdict>& verdicts = found.emplace_back(state, std::vector<Verdict>()).second;
    for (Term& term : state->terms) {
      verdicts.push_back(verdict(post, sight, term));
      if (verdicts.back().unknown) return false;
    }
  }
  for (auto& [state, verdicts] : found) {
    bool all = true, here = false;
    for (size_t i = 0; i < verdicts.size(); ++i) {
      Term& term = state->terms[i];
      bool holds = verdicts[i].holds;
      if (term.text->at) {
        here = here || holds;
        if (holds) ++term.times;
      } else {
        commit(term, std::move(verdicts[i]));
      }
      all = all && holds;
    }
    if (!all || !here) continue;
    state->log.note(world_.graph, sight.moment, true, sight.route);
    Moment behind = sight.moment;
    ++behind.detail;
    auto route = std::make_shared<Route>(Route{sight.route, {Move::Kind::kSteps, 0, 1, 0}});
    state->log.note(world_.graph, behind, false, route);
  }
  return true;
}

/// All others anew. False: it is not known.
bool Scan::judge_rest(Post& post, const Sight& sight) {
  if (!sight.all) return true;
  std::vector<std::pair<Term*, Verdict>> found;
  for (PartState* state : post.parts) {
    if (state->instant || !is_concerned(*state, sight)) continue;
    if (post.tells && !now().frozen(post.process)) return false;  // it cannot be read
    if (Status status = check_order(*state, sight); !status) {
      if (!error_) error_ = status.error();
      return true;
    }
    for (Term& term : state->terms) {
      found.emplace_back(&term, verdict(post, sight, term));
      if (found.back().second.unknown) return false;
    }
  }
  note_found(post, sight, std::move(found));
  return true;
}

/// As the part's thread finds it, when it begins if it has not yet. Where threads run at once it may find that, or what was
/// there before.
void Scan::note_for(Post& post, PartState& state, const Moment& written, bool holds) {
  ThreadId own = state.part->thread;
  Moment finds = moment(own, 0);
  bool unborn = now().events_done(own) == 0;
  if (unborn) finds.step = graph::find_step(world_.graph, finds.step.thread, graph::leaving(1));
  bool begins = own.number() > 1 && !post.born.contains(own);
  if (world_.recording.manifest().parallel && begins)
    state.unordered = state.unordered || !has(Front{cut_of(world_.graph, {}, finds)}, written);
  if ((!post.open || unborn) && !state.unordered) state.log.note(world_.graph, finds, holds, nullptr);
}

void Scan::note_found(Post& post, const Sight& sight, std::vector<std::pair<Term*, Verdict>> found) {
  for (auto& [term, verdict] : found) commit(*term, std::move(verdict));
  for (PartState* state : post.parts) {
    if (state->instant || !is_concerned(*state, sight)) continue;
    bool all = std::ranges::all_of(state->terms, [](const Term& term) { return term.holds; });
    ThreadId own = state->part->thread;
    if (!own.valid() || own == sight.thread) {
      bool begins_unknown = all && sight.anew && state->unordered;
      if (!begins_unknown) state->log.note(world_.graph, sight.moment, all, sight.route);
    } else {
      note_for(post, *state, sight.moment, all);
    }
  }
  for (PartState* state : post.parts) {
    if (!find_pieces(*state)) continue;
    for (ProcessId member : state->members)
      if (Post& other = *post_of(member); &other != &post && other.open) want_words(other);
  }
  want_words(post);
  if (telling_ && entry_ == nullptr && is_member(post)) learn(post);
}

/// The runtime has written, and what it has not written yet will hit as well: so mostly it is known what
/// holds when the event is over, and the thread need not be stopped there once more, which takes as long
/// again.
bool Scan::foresee(Post& post, ThreadId thread, const Word& written) {
  bool before = std::exchange(post.outlook, std::nullopt).has_value();
  if (post.leaving.contains(thread) || is_member(post)) return false;
  Sight sight{thread, {}, nullptr};
  std::vector<std::pair<Term*, Verdict>> found;
  bool same = !before;
  for (PartState* state : post.parts) {
    if (state->instant) continue;
    if (state->part->unit.at_once || state->part->meant_all)
      return false;  // check_order looks at every write
    for (Term& term : state->terms) {
      if (term.code != nullptr && sets_value(term, written)) return false;
      const Verdict& one = found.emplace_back(&term, verdict(post, sight, term)).second;
      if (one.unknown || one.words != term.words) return false;
      same = same && one.holds == term.holds;
    }
  }
  if (same) return true;
  uint64_t events = now().events_done(thread);
  // Its turn does not end before its event.
  bool has_turn = !world_.recording.manifest().parallel;
  bool in_event = record::load(now().slot(thread).step) == graph::entering(events + 1);
  if (!has_turn || !in_event) return false;
  post.outlook = {thread, events, std::move(found)};
  return true;
}

/// Those of events that are over by now: so they are where another thread of the process has the turn.
void Scan::take_outlooks(ThreadId running) {
  take_journals();
  for (auto& [process, post] : posts_) {
    if (!post.outlook) continue;
    ThreadId thread = post.outlook->thread;
    bool passed_on = running.valid() && running.process() == process && running != thread;
    if (!passed_on && now().events_done(thread) == post.outlook->events) continue;
    note_outlook(post);
  }
}

void Scan::note_outlook(Post& post) {
  Outlook seen = *std::exchange(post.outlook, std::nullopt);
  uint32_t index = *world_.graph.find(seen.thread);
  Moment over{graph::find_step(world_.graph, index, graph::leaving(seen.events + 1)), 0};
  note_found(post, {seen.thread, over, nullptr}, std::move(seen.found));
}

bool Scan::is_enough() {
  take_outlooks();
  if (lost_) return true;
  return enough_ != nullptr && (*enough_)();
}

/// Whether it is the first one of a variable of a call.
bool Scan::sets_value(const Term& term, const Word& written) {
  return std::ranges::any_of(term.frames, [&](const auto& entry) {
    return std::ranges::any_of(entry.second, [&](const Frame& frame) {
      return std::ranges::any_of(frame.unset, [&](const Word& own) { return overlap(own, written); });
    });
  });
}

/// Of threads that run at once: what somebody else writes meanwhile is his.
bool Scan::is_concerned(const PartState& state, const Sight& sight) {
  if (sight.thread.process() != state.part->process)
    return state.part->shared && may_write(state, sight) && !is_closed(state, sight);
  if (!state.part->unit.at_once || state.part->shared || sight.anew) return true;
  return reads(state.terms, sight.written);
}

/// What threads that run at once write has to have an order, or there is no first state.
Status Scan::check_order(PartState& state, const Sight& sight) {
  const Part& part = *state.part;
  if (part.meant_all && part.thread != sight.thread && reads(state.terms, sight.written))
    return fail("{}: {} writes what it reads, too; say it of one thread, or say 'at FILE:LINE'",
                to_string(*state.terms.front().text), sight.thread);
  if (!part.unit.at_once) return {};
  std::optional<Moment> before = std::exchange(state.written, sight.moment);
  if (sight.anew && part.shared) state.written.reset();  // who begins has no turn yet
  if (sight.anew || !before || before->step.thread == sight.moment.step.thread) return {};
  Front known{cut_of(world_.graph, part.unit, sight.moment)};
  if (known.cut[before->step.thread] > before->step.event || (part.shared && has(known, *before))) return {};
  return fail(
      "{}: {} and {} write what it reads, and nothing says who is first; say it of one of them, as in '{}: "
      "…'",
      to_string(*state.terms.front().text), world_.graph.thread_id(before->step.thread), sight.thread,
      sight.thread);
}

void Scan::commit(Term& term, Verdict verdict) {
  if (verdict.holds && !term.holds) ++term.times;
  term.holds = verdict.holds;
  term.words = std::move(verdict.words);
}

Verdict Scan::verdict(Post& post, const Sight& sight, Term& term) {
  if (term.code == nullptr) return {};
  if (term.text->at) return verdict_at(post, sight, term);
  bool asked = term.code->asks();
  std::optional<uint64_t> version = asked ? map_version(post) : std::nullopt;
  if (version && term.memo && term.memo->frames == term.frame_changes && term.memo->lives == post.lives &&
      term.memo->version == *version && term.memo->bytes == bytes_of(post, term.memo->verdict.words))
    return term.memo->verdict;
  Verdict found = term.text->in.empty() ? verdict_anywhere(post, sight, term) : verdict_in(post, sight, term);
  bool lasts = version && !found.unknown && !found.words.empty();
  if (lasts) term.memo = Memo{found, bytes_of(post, found.words), term.frame_changes, post.lives, *version};
  return found;
}

Verdict Scan::verdict_at(Post& post, const Sight& sight, const Term& term) {
  auto place = term.code->places.find(sight.place);
  if (!is_meant(term, sight.thread) || place == term.code->places.end()) return {};
  auto reg = [&](int number) { return register_of(sight.registers, number); };
  return judge(place->second, reader(post.process), reg,
               asker(post, term, {sight.thread, sight.thread, nullptr, reg}));
}

Verdict Scan::verdict_anywhere(Post& post, const Sight& sight, const Term& term) {
  const Who& who = term.text->who;
  bool there = now().tid(who.thread) != 0;
  // Before it begins and when it has ended a thread has no variables of its own; where they were, another
  // one's may be.
  bool has_own =
      there && (who.kind != Who::Kind::kThread || who.thread.number() == 1 || post.born.contains(who.thread));
  bool own = false;
  ThreadId thread = sight.thread.process() == post.process ? sight.thread : thread_of(post.process);
  if (there) thread = who.thread;
  bool lacks = false;
  auto reg = [&](int number) -> uint64_t {
    own = own || number == kThreadPointer;
    auto value = number == kThreadPointer ? thread_pointer(post, thread) : 0;
    lacks = lacks || !value;
    return value.value_or(0);
  };
  user_regs_struct as{};
  if (term.code->asks() && who.kind == Who::Kind::kThread && !has_own) return {};
  if (term.code->asks() && may_ask_) {
    auto registers = now().registers(thread);
    if (!registers) return {};
    as = *registers;
    as.rip = post.program_entry;
  }
  Verdict found = judge(term.code->anywhere, reader(post.process), reg,
                        asker(post, term, {thread, sight.thread, &as, reg}));
  if (own && !has_own) return {};
  if (lacks) found.unknown = !may_ask_;
  return found;
}

Verdict Scan::verdict_in(Post& post, const Sight& sight, const Term& term) {
  Verdict all;
  for (const auto& [thread, frames] : term.frames) {
    for (const Frame& frame : frames) {
      if (!frame.active) continue;
      const Conditions* conditions = &term.code->places.at(frame.place);
      user_regs_struct registers = frame.registers;
      if (auto inner = term.code->inner.find(frame.place); inner != term.code->inner.end()) {
        if (frame.block == InnerBlocks::kNone) continue;
        const InnerBlocks::One& block = inner->second.all[frame.block];
        conditions = &block.conditions;
        registers.rip = block.address;
      }
      auto reg = [&](int number) { return register_of(registers, number); };
      Verdict one = judge(*conditions, reader(post.process), reg,
                          asker(post, term, {thread, sight.thread, &registers, reg}));
      if (one.unknown) return one;
      if (one.by_registers && !error_)
        error_ =
            Error{fmt::format("{}: in {} this is in registers, because the program was optimised: compile it "
                              "with -O0, or say 'at FILE:LINE'",
                              to_string(*term.text), term.text->in)};
      bool has_values = std::ranges::none_of(one.words, [&](const Word& word) {
        return std::ranges::any_of(frame.unset, [&](const Word& own) { return overlap(own, word); });
      });
      all.holds = all.holds || (one.holds && has_values);
      all.words.insert(one.words.begin(), one.words.end());
    }
  }
  return all;
}

}  // namespace pastcone::debug
