// Memory that processes share, in a scan: who has it where, and what is done when one of them has written.
#include <sys/syscall.h>

#include <algorithm>

#include "pastcone/debug/scan.h"
#include "pastcone/graph/steps.h"
#include "pastcone/stage/shared_room.h"
#include "pastcone/trace/event_reader.h"

namespace pastcone::debug {

using format::Op;
using format::Shape;

/// Whether others look at what it writes.
bool Scan::is_member(const Post& post) const {
  return std::ranges::any_of(states_,
                             [&](const PartState& state) { return state.members.contains(post.process); });
}

/// Whether some part that reads shared memory is about it.
bool Scan::is_about(ProcessId process) const {
  return std::ranges::any_of(
      states_, [&](const PartState& state) { return state.part->shared && state.part->process == process; });
}

/// Where what it has mapped is another, where it changes such memory by a call (write(2) to a file, of which
/// the log says the place), and where it makes a process that a part is about. Of one that a part is about
/// all counts: what was its own may be shared from now on, and at the same address.
Result<std::vector<Scan::Hold>> Scan::holds_of(ProcessId process) const {
  std::vector<Hold> holds;
  bool meant = is_about(process);
  for (const auto& [thread, stream] : world_.recording.threads()) {
    if (thread.process() != process) continue;
    EventReader reader(world_.recording, thread);
    while (const Event* event = TRY(reader.next())) {
      const Item& item = event->item;
      if (!item.is_call()) continue;
      uint64_t step = 2 * item.event;
      ProcessId child = item.shape == Shape::kCreate ? item.thread.process() : ProcessId();
      bool forks = child.valid() && child != process;
      bool shares = (item.call == SYS_mmap || item.call == SYS_shmat) && item.shape == Shape::kOut;
      bool maps = forks || item.call == SYS_mmap || item.call == SYS_munmap || item.call == SYS_shmat ||
                  item.call == SYS_shmdt;
      const Item* order = event->mark(Op::kOrder);
      // madvise: MADV_REMOVE empties it for all.
      if (shares || (meant && maps) || item.call == SYS_mremap || item.call == SYS_madvise ||
          order != nullptr)
        holds.push_back({{thread, step}, Hold::Kind::kChanges, {}, order != nullptr ? order->object : 0});
      if (forks && is_about(child)) holds.push_back({{thread, step}, Hold::Kind::kForks, child});
    }
  }
  return holds;
}

void Scan::look_at_mappings(Post& post) {
  auto maps = symbols::read_maps(now().pid(post.process));
  if (!maps || maps->empty()) return;  // it has ended, and has had what it had
  post.mapped_at = 0;
  for (const auto& [thread, stream] : world_.recording.threads())
    if (thread.process() == post.process) post.mapped_at += now().events_done(thread);
  post.mappings = symbols::parse_mappings(*maps);
  std::erase_if(post.mappings, [](const symbols::Mapping& one) { return !one.shared; });
}

/// It was not known.
Status Scan::refuse_shared(const PartState& state) {
  for (size_t part = 0; part < states_.size(); ++part)
    if (&states_[part] == &state) found_shared_ = part;
  return fail("{} is about memory that processes share", to_string(*state.terms.front().text));
}

/// What others may write of what it reads; whether that is another than before.
bool Scan::find_pieces(PartState& state) {
  Post& post = *post_of(state.part->process);
  if (!is_member(post) || state.instant) return false;
  std::set<Word> words;
  for (const Term& term : state.terms) words.insert(term.words.begin(), term.words.end());
  if (words == state.looked_at) return false;
  state.looked_at = words;
  look_at_mappings(post);
  std::set<Piece> pieces;
  for (const Word& word : words) {
    for (const symbols::Mapping& one : post.mappings) {
      if (word.address < one.start || word.address >= one.end) continue;
      pieces.insert({one.object, word.address - one.start + one.offset, word.size});
    }
  }
  if (!state.part->shared) {
    if (!pieces.empty() && !error_) error_ = refuse_shared(state).error();
    return false;
  }
  return std::exchange(state.pieces, pieces) != pieces;
}

/// Where a process has what others read; a process may have it more than once.
std::set<Word> Scan::words_in(Post& post, const PartState& state) {
  auto find = [&] {
    std::set<Word> words;
    for (const Piece& piece : state.pieces) {
      for (const symbols::Mapping& one : post.mappings) {
        uint64_t size = one.end - one.start;
        if (one.object != piece.object || piece.offset < one.offset || piece.offset >= one.offset + size)
          continue;
        words.insert({one.start + (piece.offset - one.offset), piece.size});
      }
    }
    return words;
  };
  std::set<Word> words = find();
  bool of_then = entry_ != nullptr;  // where it has come to since does not matter
  if (words.size() >= state.pieces.size() || of_then) return words;
  uint64_t events = 0;
  for (const auto& [thread, stream] : world_.recording.threads())
    if (thread.process() == post.process) events += now().events_done(thread);
  if (post.mapped_at == events) return words;
  look_at_mappings(post);
  return find();
}

/// Whether it may have changed what the part reads. Who does not have that may be in no turn with the one
/// that the part is about, which then goes on meanwhile.
bool Scan::may_write(const PartState& state, const Sight& sight) {
  bool by_call = sight.file != 0 && std::ranges::any_of(state.pieces, [&](const Piece& piece) {
                   return stage::shared_object_at(piece.offset) == sight.file;
                 });
  return by_call || !words_in(*post_of(sight.thread.process()), state).empty();
}

/// It has written when the process that the part is about had ended, or begun to execute another program.
bool Scan::is_closed(const PartState& state, const Sight& sight) {
  ProcessId process = state.part->process;
  const Post& post = *post_of(process);
  // Of what is known only later, the graph says it.
  if (!post.open || (entry_ == nullptr && now().pid(process) == 0)) return true;
  Moment kind{sight.moment.step,
              sight.moment.detail != 0 ? 1u : 0u};  // what it needs is the same for all of these
  if (last_cut_.second.empty() || last_cut_.first != kind)
    last_cut_ = {kind, cut_of(world_.graph, {}, sight.moment)};
  const causal::Cut& cut = last_cut_.second;
  for (const Hold& gate : post.gates) {
    if (gate.kind != Hold::Kind::kBegins) continue;
    uint32_t index = *world_.graph.find(gate.thread);
    if (cut[index] + 1 >= graph::find_step(world_.graph, index, static_cast<uint32_t>(gate.step)).event)
      return true;
  }
  return ends(world_, process) && std::ranges::all_of(state.part->unit.threads, [&](uint32_t thread) {
           const causal::Thread& each = world_.graph.threads[thread];
           return each.process != process.number() || cut[thread] >= each.events;
         });
}

/// Whose parts are about memory that it shares with them.
std::vector<Scan::Post*> Scan::concerned_by(const Post& post) {
  std::vector<Post*> all;
  for (auto& [process, other] : posts_) {
    bool concerned =
        &other != &post && other.open && std::ranges::any_of(other.parts, [&](const PartState* state) {
          return state->members.contains(post.process);
        });
    if (concerned) all.push_back(&other);
  }
  return all;
}

/// A process has written.
bool Scan::judge_everywhere(Post& post, const Sight& sight) {
  bool stops = judge_all(post, sight);
  for (Post* other : concerned_by(post)) stops = judge_all(*other, sight) || stops;
  return stops;
}

/// What is to be watched in it now.
void Scan::want_words(Post& post) {
  bool was_guarding = post.guarding;
  choose_words(post);
  bool missing =
      std::ranges::any_of(post.wanted, [&](const Word& word) { return !post.armed.contains(word); });
  post.points_due = post.points_due || post.guarding != was_guarding || missing;
}

/// A thread stands at the end of a call that has written, or mapped something; or before its next one.
Status Scan::look_again(Post& post, const Hold& gate) {
  ThreadId thread = gate.thread;
  Sight sight{thread, moment(thread, 0), nullptr};
  if (gate.step % 2 != 0)
    sight.moment.step = graph::find_step(world_.graph, *world_.graph.find(thread), static_cast<uint32_t>(gate.step));
  sight.file = gate.file;
  if (auto leaving = post.leaving.find(thread); leaving != post.leaving.end()) {
    sight.written = leaving->second.written;
    leaving->second.judged = true;
  }
  look_at_mappings(post);
  for (PartState* state : post.parts) state->looked_at.clear();
  judge_everywhere(post, sight);
  want_words(post);
  if (telling_) learn(post);
  return settle(thread);
}

/// What could not be done while only one thread stood.
Status Scan::settle(ThreadId thread) {
  TRY_STATUS(begin_telling());
  for (auto& [process, post] : posts_) {
    if (post.unanswered.empty()) continue;
    auto sights = std::exchange(post.unanswered, {});
    if (may_be_writing(post, thread)) return {};
    if (now().pid(process) == 0 || !now().freeze(process)) continue;
    may_ask_ = true;
    for (const Sight& sight : sights) judge_all(post, sight);
    may_ask_ = false;
    if (error_) return {};
  }
  for (auto& [process, post] : posts_) {
    if (!std::exchange(post.points_due, false) || now().pid(process) == 0) continue;
    if (may_be_writing(post, thread)) return {};
    bool own = process == thread.process();
    if (!own && !now().freeze(process)) continue;
    TRY_STATUS(set_words(post, own ? thread : thread_of(process)));
  }
  return {};
}

/// One that runs, if any does.
ThreadId Scan::thread_of(ProcessId process) const {
  ThreadId any(process, 1);
  for (const auto& [thread, stream] : world_.recording.threads()) {
    if (thread.process() != process || now().tid(thread) == 0) continue;
    any = thread;
    if (!now().in_call(thread)) break;
  }
  return any;
}

/// So that nobody else writes before what the runtime writes for it has been seen.
void Scan::hold_at_end(Post& post, ThreadId thread) {
  forget_hold(post, thread);
  Hold hold{{thread, 2 * (now().events_done(thread) + 1)}, Hold::Kind::kWrote};
  post.gates.insert(std::ranges::upper_bound(post.gates, hold), hold);
  aim(thread);
  now().live().set_horizons({{thread, horizons_[thread]}});
}

void Scan::forget_hold(Post& post, ThreadId thread) {
  auto held = [&](const Hold& gate) { return gate.kind == Hold::Kind::kWrote && gate.thread == thread; };
  if (std::erase_if(post.gates, held) == 0) return;
  aim(thread);
  now().live().set_horizons({{thread, horizons_[thread]}});
}

}  // namespace pastcone::debug
