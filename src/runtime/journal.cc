#include "journal.h"

#include "horizon.h"

namespace pastcone::runtime {
namespace {

struct Vector {
  u64 base, size;
};

stage::Journal& journal_of(Thread& t) { return g.stage.header().journals[t.journal.number - 1]; }

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
  return (u64)sys(__NR_process_vm_readv, sys(__NR_getpid), to, count, from, count, 0) == size;
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
  if (!t.journal.open && load(journal.made) - load(journal.taken) >= stage::Journal::kEntries) return false;
  if (t.journal.open && t.journal.version != version) t.journal.spoilt = true;
  t.journal.open = true;
  t.journal.version = version;
  t.journal.written |= words;
  Vector ours{(u64)from, n}, theirs{to, n};
  if ((u64)sys(__NR_process_vm_writev, sys(__NR_getpid), &ours, 1, &theirs, 1, 0) == n) return true;
  t.journal.spoilt = true;
  return false;
}

void end_journal(Thread& t) {
  if (t.journal.open) {
    stage::Journal& journal = journal_of(t);
    stage::JournalEntry& entry = journal.entries[journal.made % stage::Journal::kEntries];
    bool same = load(journal.version) == t.journal.version;
    entry.version = t.journal.version;
    entry.thread = t.number;
    entry.event = t.log.event_count;
    entry.written = t.journal.written;
    entry.whole = same && !t.journal.spoilt && read_words(journal, entry.contents);
    store(journal.made, journal.made + 1);
  }
  t.journal = {};
}

}  // namespace pastcone::runtime
