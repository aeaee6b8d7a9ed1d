// What calls write into memory that a scan watches, told by the runtime instead of the processor
// (stage::Journal): a stop for each would take most of the time of a program that receives. If the journal
// does not tell all that is needed, the scan begins again without.
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
  if (!journals_ || world_.recording.manifest().parallel || post.guarding || is_member(post)) return false;
  if (post.armed.empty() || post.armed.size() > Journal::kWords) return false;
  bool plain = std::ranges::all_of(post.armed, [](const auto& entry) {
    return !entry.second.guarded && entry.first.size <= sizeof(uint64_t);
  });
  return plain && std::ranges::none_of(post.parts, [](const PartState* state) {
           bool asks = std::ranges::any_of(
               state->terms, [](const Term& term) { return term.code != nullptr && term.code->asks(); });
           return asks || state->part->unit.at_once || state->part->meant_all;
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
  store(into.version, ++post.journal_version);
  store(view.process(post.process.number()).journal, post.journal);
}

/// Before its words are others.
void Scan::end_journal(Post& post) {
  if (post.journal == 0) return;
  take_journal(post);
  store(journal(post).version, 0u);
}

bool Scan::has_journal_entries(const Post& post) const {
  return post.journal != 0 && load(journal(post).taken) != load(journal(post).made);
}

void Scan::take_journal(Post& post) {
  while (!lost_ && has_journal_entries(post)) {
    Journal& from = journal(post);
    const stage::JournalEntry& entry = from.entries[from.taken % Journal::kEntries];
    if (!judge_entry(post, entry)) lost_ = true;
    store(from.taken, from.taken + 1);
  }
}

/// False: it does not say enough.
bool Scan::judge_entry(Post& post, const stage::JournalEntry& entry) {
  if (entry.whole == 0 || entry.version != post.journal_version || !post.open) return false;
  ThreadId thread(post.process, entry.thread);
  uint32_t index = *world_.graph.find(thread);
  auto step = static_cast<uint32_t>(graph::leaving(entry.event));
  Sight sight{thread, {graph::find_step(world_.graph, index, step), 0}, nullptr};
  for (size_t i = 0; i < post.journal_words.size(); ++i)
    if ((entry.written >> i & 1) != 0) sight.written.insert(post.journal_words[i]);
  post.outlook.reset();  // it was before
  note_written(post, sight.written);
  entry_ = {&post, &entry, false};
  bool same_words = true;
  std::vector<std::pair<Term*, Verdict>> found;
  for (PartState* state : post.parts) {
    if (state->instant) continue;
    for (Term& term : state->terms) {
      const Verdict& one = found.emplace_back(&term, verdict(post, sight, term)).second;
      same_words = same_words && !one.unknown && one.words == term.words;
    }
  }
  bool enough = same_words && !entry_.missed;
  entry_ = {};
  if (!enough) return false;
  bool due = post.points_due;
  note_found(post, sight, std::move(found));
  return due || !post.points_due;
}

/// What the words of a journal were.
bool Scan::read_entry(uint64_t address, void* to, size_t size) {
  const std::vector<Word>& words = entry_.post->journal_words;
  for (size_t i = 0; i < words.size(); ++i) {
    if (address < words[i].address || address + size > words[i].address + words[i].size) continue;
    std::memcpy(to,
                reinterpret_cast<const uint8_t*>(&entry_.entry->contents[i]) + (address - words[i].address),
                size);
    return true;
  }
  entry_.missed = true;
  return false;
}

}  // namespace pastcone::debug
