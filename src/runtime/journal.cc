#include "journal.h"

#include "horizon.h"
#include "pastcone/patch/abi.h"
#include "waits.h"

namespace pastcone::runtime {
namespace {

struct Vector {
  u64 base, size;
};

stage::Journal& journal_at(u32 number) { return g.stage.header().journals[number - 1]; }
stage::Journal& journal_of(Thread& t) { return journal_at(t.journal.number); }

/// Whoever is made in it is not the one whose journal this is.
bool makes_another(u64 number) {
  return number == __NR_clone || number == __NR_clone3 || number == __NR_fork || number == __NR_vfork ||
         number == __NR_execve || number == __NR_execveat;
}

u32 touched(const stage::Journal& journal, u64 to, u64 n) {
  u32 all = 0;
  for (u32 i = 0; i < journal.count && i < stage::Journal::kWords; ++i) {
    const auto& word = journal.words[i];
    if (word.address < to + n && to < word.address + word.size) all |= 1u << i;
  }
  return all;
}

/// Each in its own place, however long it is.
bool read_words(const stage::Journal& journal, u64 (&contents)[stage::Journal::kWords]) {
  Vector to[stage::Journal::kWords], from[stage::Journal::kWords];
  u64 size = 0;
  for (u32 i = 0; i < journal.count; ++i) {
    contents[i] = 0;
    to[i] = {(u64)&contents[i], journal.words[i].size};
    from[i] = {journal.words[i].address, journal.words[i].size};
    size += journal.words[i].size;
  }
  u64 count = journal.count;
  // By a thread that is there: the first one may have ended.
  return (u64)sys(__NR_process_vm_readv, sys(__NR_gettid), to, count, from, count, 0) == size;
}

u64 waiting(const stage::Journal& journal) { return load(journal.made) - load(journal.taken); }

/// The tool takes them soon.
void await_room(stage::Journal& journal) {
  for (;;) {
    u32 seen = load(journal.room);
    if (waiting(journal) < stage::Journal::kEntries) return;
    tell_director();
    futex_wait(journal.room, seen);
  }
}

void put_down(Thread& t, stage::Journal& journal, u32 version, u32 written, bool known, bool by_program) {
  await_room(journal);
  stage::JournalEntry& entry = journal.entries[journal.made % stage::Journal::kEntries];
  entry.version = version;
  entry.thread = t.number;
  entry.event = t.log.event_count;
  entry.written = written;
  entry.by_program = by_program;
  entry.whole = known && load(journal.version) == version && read_words(journal, entry.contents);
  entry.order = add(g.stage.header().journal_order, 1);
  store(journal.made, journal.made + 1);
  if (waiting(journal) == stage::Journal::kEntries / 2) tell_director();
}

void note_inside(Thread& t, u32 version, u32 words) {
  if (t.journal.open && t.journal.version != version) t.journal.spoilt = true;
  t.journal.open = true;
  t.journal.version = version;
  t.journal.written |= words;
}

}  // namespace

void begin_journal(Call& c) {
  Thread& t = c.t;
  t.journal = {};
  if (!has_horizon() || t.process->parallel || makes_another(c.number)) return;
  t.journal.number = load(g.stage.process(t.process->number).journal);
  if (t.journal.number) g.has_journal = true;
}

bool write_watched(u64 to, const void* from, u64 n) {
  Thread& t = current();
  if (!t.journal.number) return false;
  stage::Journal& journal = journal_of(t);
  u32 version = load(journal.version), words = version ? touched(journal, to, n) : 0;
  if (!words) return false;
  if (!t.journal.open && waiting(journal) >= stage::Journal::kEntries) return false;
  note_inside(t, version, words);
  Vector ours{(u64)from, n}, theirs{to, n};
  if ((u64)sys(__NR_process_vm_writev, sys(__NR_gettid), &ours, 1, &theirs, 1, 0) == n) return true;
  t.journal.spoilt = true;
  return false;
}

void end_journal(Thread& t) {
  if (t.journal.open) put_down(t, journal_of(t), t.journal.version, t.journal.written, !t.journal.spoilt, false);
  t.journal = {};
}

void note_remapped(u64 address, u64 size) {
  Thread& t = current();
  u32 number = load(g.stage.process(t.process->number).journal);
  if (!number) return;
  stage::Journal& journal = journal_at(number);
  u32 version = load(journal.version), words = version ? touched(journal, address, size) : 0;
  if (!words) return;
  // As if the call had written there.
  if (t.journal.number == number && (t.journal.open || waiting(journal) < stage::Journal::kEntries)) note_inside(t, version, words);
  else store(journal.lost, 1u);
}

bool on_watched_write(Thread& t, const SignalInfo& info, u64 rip) {
  constexpr i32 kTrapPerf = 6;
  if (info.code != kTrapPerf) return false;
  u32 number = load(g.stage.process(t.process->number).journal);
  if (!number) return true;
  stage::Journal& journal = journal_at(number);
  u32 version = load(journal.version), word = (u32)info.rest[1];
  bool late = info.rest[2] >> 32 & 1;  // TRAP_PERF_FLAG_ASYNC: it was blocked where it happened
  bool inside = rip >= patch::kRuntimeBase && rip < patch::kRuntimeEnd;
  if (!version || late || word >= journal.count || (inside && !t.journal.number)) store(journal.lost, 1u);
  else if (inside) note_inside(t, version, 1u << word);
  else put_down(t, journal, version, 1u << word, true, true);
  return true;
}

}  // namespace pastcone::runtime
