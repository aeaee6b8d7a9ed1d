// What is written into memory that a scan watches, told by the runtime instead of the processor
// (stage::Journal): by calls, for a stop for each would take most of the time of a program that receives, and
// by programs (scan_telling.cc). If the journals do not tell all that is needed, there has to be another
// scan, without.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "pastcone/debug/scan.h"
#include "pastcone/graph/steps.h"
#include "pastcone/record/shared_stage.h"

namespace pastcone::debug {

using record::load;
using record::store;
using stage::Journal;

stage::Journal& Scan::journal(const Post& post) const {
  return now().live().stage().header().journals[post.journal - 1];
}

/// Of others than these every write has to be looked at while the process stands.
bool Scan::may_have_journal(const Post& post) const {
  if (telling_allowed_ == Telling::kNo || world_.recording.manifest().parallel || post.guarding) return false;
  if (post.tells) return true;
  if (is_member(post) || post.armed.empty() || post.armed.size() > Journal::kWords || reads_own(post))
    return false;
  bool plain = std::ranges::all_of(post.armed, [](const auto& entry) {
    return !entry.second.guarded && entry.first.size <= sizeof(uint64_t);
  });
  return plain && std::ranges::none_of(post.parts, [](const PartState* state) {
           bool asks = std::ranges::any_of(
               state->terms, [](const Term& term) { return term.code != nullptr && term.code->asks(); });
           return asks || state->part->unit.at_once || state->part->meant_all;
         });
}

/// Variables of a thread: whether they were there then is not known later.
bool Scan::reads_own(const Post& post) {
  return std::ranges::any_of(post.parts, [](const PartState* state) {
    return std::ranges::any_of(state->terms, [](const Term& term) {
      return term.code != nullptr && std::ranges::any_of(term.code->anywhere, [](const Condition& condition) {
               return condition.code && condition.code->uses_registers();
             });
    });
  });
}

/// The process stands, and its words are others than before.
void Scan::begin_journal(Post& post) {
  bool may = may_have_journal(post);
  if (post.journal == 0 && may && journals_given_ < stage::kJournals) post.journal = ++journals_given_;
  if (post.journal == 0) return;
  stage::View view = now().live().stage();
  Journal& into = journal(post);
  store(into.version, 0u);
  post.journal_words.clear();
  if (!may) return;
  for (const auto& [word, how] : post.armed) {
    into.words[post.journal_words.size()] = {word.address, word.size};
    post.journal_words.push_back(word);
  }
  into.count = static_cast<uint32_t>(post.journal_words.size());
  learn(post);
  store(into.version, ++post.journal_version);
  store(view.process(post.process.number()).journal, post.journal);
}

/// Before its words are others.
void Scan::end_journal(Post& post) {
  if (post.journal == 0) return;
  take_journals();
  store(journal(post).version, 0u);
}

bool Scan::has_journal_entries(const Post& post) const {
  return post.journal != 0 && load(journal(post).taken) != load(journal(post).made);
}

/// Not all that it has done, or others in memory that they share, has been judged.
bool Scan::is_behind(const Post& post) const {
  if (lost_) return true;
  return std::ranges::any_of(posts_, [&](const auto& entry) {
    const Post& other = entry.second;
    bool concerned = &other == &post || (is_member(other) && is_member(post));
    return concerned && other.journal != 0 && (has_journal_entries(other) || load(journal(other).lost) != 0);
  });
}

/// Of those that share memory, the one that has the entry that was made first: who can see one can see those
/// before it, for the turn was handed over between them. So it is looked for until it is found twice.
Scan::Post* Scan::first_member_to_take() {
  for (Post* before = nullptr;;) {
    Post* first = nullptr;
    uint64_t order = UINT64_MAX;
    for (auto& [process, post] : posts_) {
      if (!has_journal_entries(post) || !is_member(post)) continue;
      Journal& all = journal(post);
      uint64_t own = all.entries[all.taken % Journal::kEntries].order;
      if (own < order) first = &post;
      order = std::min(order, own);
    }
    if (first == before) return first;
    before = first;
  }
}

void Scan::take_entry(Post& post) {
  Journal& all = journal(post);
  if (!judge_entry(post, all.entries[all.taken % Journal::kEntries])) lost_ = true;
  store(all.taken, all.taken + 1);
}

void Scan::take_journals() {
  std::set<Post*> from;
  for (auto& [process, post] : posts_) {
    if (post.journal == 0) continue;
    if (load(journal(post).lost) != 0) lost_ = true;
    if (!has_journal_entries(post) || is_member(post)) continue;
    for (from.insert(&post); !lost_ && has_journal_entries(post);) take_entry(post);
  }
  while (Post* post = lost_ ? nullptr : first_member_to_take()) {
    take_entry(*post);
    from.insert(post);
  }
  for (const Post* post : from) record::bump_and_wake(journal(*post).room);
}

Scan::Sight Scan::sight_of(Post& writer, const stage::JournalEntry& entry) {
  ThreadId thread(writer.process, entry.thread);
  uint32_t index = *world_.graph.find(thread);
  causal::Node step =
      graph::find_step(world_.graph, index, static_cast<uint32_t>(graph::leaving(entry.event)));
  Sight sight{thread, {step, 0}, nullptr};
  for (size_t i = 0; i < writer.journal_words.size(); ++i) {
    if ((entry.written >> i & 1) == 0) continue;
    const Word& word = writer.journal_words[i];
    sight.written.insert(word);
    if (entry.by_program == 0) continue;
    Now when =
        after_hit(writer, thread, {Move::Kind::kWatch, word.size, 0, word.address}, {entry.event, 0}, step);
    sight.moment = when.moment;
    sight.route = when.route;
  }
  return sight;
}

/// False: it does not say enough.
bool Scan::judge_entry(Post& writer, const stage::JournalEntry& entry) {
  if (entry.whole == 0 || entry.version != writer.journal_version || !writer.open) return false;
  Sight sight = sight_of(writer, entry);
  if (writer.outlook && (entry.by_program != 0 || entry.event != writer.outlook->events + 1))
    note_outlook(writer);
  writer.outlook.reset();  // of the same event less was known
  learn(writer, entry);
  note_written(writer, sight.written);
  entry_ = &entry;
  bool enough = judge_as_known(writer, sight);
  for (Post* other : concerned_by(writer)) enough = enough && judge_as_known(*other, sight);
  entry_ = nullptr;
  return enough;
}

bool Scan::judge_as_known(Post& post, const Sight& sight) {
  if (reads_own(post)) return false;
  bool known = true;
  missed_ = false;
  std::vector<std::pair<Term*, Verdict>> found;
  for (PartState* state : post.parts) {
    if (state->instant || !is_concerned(*state, sight)) continue;
    if (!check_order(*state, sight)) return false;  // the scan without says so
    for (Term& term : state->terms) {
      found.emplace_back(&term, verdict(post, sight, term));
      known = known && !found.back().second.unknown;
    }
  }
  if (!known || missed_) return false;
  auto due = [&] {
    return std::ranges::count_if(posts_, [](const auto& each) { return each.second.points_due; });
  };
  auto before = due();
  note_found(post, sight, std::move(found));
  return due() == before;
}

bool Scan::read_known(const Post& post, uint64_t address, void* to, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    auto byte = post.known.find(address + i);
    if (byte == post.known.end()) return false;
    static_cast<uint8_t*>(to)[i] = byte->second;
  }
  return true;
}

}  // namespace pastcone::debug
