// Processes that put down their writes themselves: the kernel tells them of each (tell_of_writes), and nobody
// is stopped for it. Where little is done between two writes it is quicker if the tracer goes ahead
// (tracer_ahead.cc); this is for those that mostly have to be stopped. They are not traced meanwhile. When
// they have to be looked at, nobody must be between a write and telling of it: so that is done only while the
// turn is held in the runtime, by one of their own threads at its gate, or of those that share it.
#include <sched.h>

#include <algorithm>
#include <cstdlib>

#include "pastcone/debug/scan.h"
#include "pastcone/replay/nth_write.h"
#include "pastcone/trace/event_reader.h"

namespace pastcone::debug {
namespace {

/// Hits of the same words, before it is seen how many took a stop. Another number is for tests.
unsigned enough_hits() {
  constexpr unsigned kHits = 1000;
  static const char* wanted = std::getenv("PASTCONE_TELL_AFTER");
  return wanted == nullptr ? kHits : static_cast<unsigned>(std::strtoul(wanted, nullptr, 10));
}

/// One instruction may write to both: the kernel would tell of one of them.
bool are_close(const Word& a, const Word& b) {
  constexpr uint64_t kWidest = 64;
  return a.address < b.address + b.size + kWidest && b.address < a.address + a.size + kWidest;
}

}  // namespace

/// It has been hit. If that is to be told by itself from now on it has to stand: true.
bool Scan::consider_telling(Post& post, bool ahead) {
  ++post.hits;
  if (!ahead) ++post.stops;
  if (telling_allowed_ == Telling::kNo || !may_tell_ || post.hits < enough_hits()) return false;
  bool mostly_stopped = post.stops * 4 >= post.hits * 3;
  post.hits = post.stops = 0;
  if (!mostly_stopped || !may_tell(post)) return false;
  telling_due_ = {&post};
  if (!is_member(post)) return true;
  for (auto& [process, other] : posts_) {
    bool concerned = &other != &post && other.open && !other.tells && is_member(other);
    if (concerned && now().pid(process) != 0 && may_tell(other)) telling_due_.push_back(&other);
  }
  return true;
}

bool Scan::may_tell(Post& post) {
  if (post.never_tells || now().tracer().has_pending(now().pid(post.process))) return false;
  if (world_.recording.manifest().parallel || post.guarding || post.armed.empty()) return false;
  if (post.armed.size() > stage::Journal::kWords) return false;
  if (post.journal == 0 && journals_given_ >= stage::kJournals) return false;
  bool in_program = post.breaks.empty() && post.leaving.empty() && post.births.empty() && !post.outlook;
  if (!in_program || !post.first_places.empty() || post.entry != 0) return false;
  for (const auto& [word, how] : post.armed) {
    bool close = std::ranges::any_of(
        post.armed, [&](const auto& other) { return other.first != word && are_close(other.first, word); });
    if (how.guarded || close || word.size > sizeof(uint64_t)) return false;
  }
  bool plain = std::ranges::none_of(post.parts, [](const PartState* state) {
    return state->instant || state->part->meant_all ||
           std::ranges::any_of(state->terms, [](const Term& term) {
             bool of_thread = term.text->who.kind == Who::Kind::kThread;
             return of_thread || !term.text->in.empty() || (term.code != nullptr && term.code->asks());
           });
  });
  // Who is at its gate already may have given up the turn.
  bool at_gate = std::ranges::any_of(post.gates, [&](const Hold& gate) { return is_at(gate); });
  if (!plain || at_gate || reads_own(post)) return false;
  if (!post.steps_itself) post.steps_itself = has_points_between(post.process);
  return !*post.steps_itself;
}

/// On the way to an asynchronous point the runtime has it stop after each instruction, and the kernel would
/// tell of one of both.
bool Scan::has_points_between(ProcessId process) const {
  for (const auto& [thread, stream] : world_.recording.threads()) {
    if (thread.process() != process) continue;
    EventReader reader(world_.recording, thread);
    for (;;) {
      auto event = reader.next();
      if (!event) return true;
      if (*event == nullptr) break;
      if ((*event)->item.op == format::Op::kAsync || (*event)->mark(format::Op::kAsync) != nullptr)
        return true;
    }
  }
  return false;
}

/// Those that hand the turn to each other are several times as quick on one CPU.
void Scan::bind(const Post& post, const std::vector<pid_t>& threads, bool bound) {
  if (bound && threads.size() == 1 && !is_member(post)) return;
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &everywhere_)) CPU_SET(cpu, &one);
  for (pid_t thread : threads) sched_setaffinity(thread, sizeof one, bound ? &one : &everywhere_);
}

bool Scan::ask_to_tell(Post& post) {
  for (pid_t thread : now().tracer().threads(now().pid(post.process))) {
    uint64_t number = 0;
    for (const auto& [word, how] : post.armed) {
      UniqueFd teller = replay::tell_of_writes(thread, word.address, word.size, number++);
      if (!teller.valid() && errno == ESRCH) break;  // it has ended
      if (!teller.valid()) return false;
      post.tellers.push_back(std::move(teller));
    }
  }
  return true;
}

/// One of them stands where it was hit.
Status Scan::begin_telling() {
  for (Post* post : std::exchange(telling_due_, {})) {
    if (now().pid(post->process) == 0 || !now().freeze(post->process) || !may_tell(*post)) continue;
    end_journal(*post);
    for (const auto& [word, how] : post->armed) remove_word(*post, word, how);
    post->tells = ask_to_tell(*post);
    telling_ = telling_ || post->tells;
    if (!post->tells) {
      // Those that ptrace has had are not given back: there may be none left for it. Else the kernel does not
      // do that here.
      bool no_registers = errno == ENOSPC;
      (no_registers ? post->never_tells : may_tell_) = no_registers;
      TRY_STATUS(end_telling(*post));
    }
    if (is_member(*post)) look_at_mappings(*post);
    begin_journal(*post);
  }
  for (auto& [process, post] : posts_) {
    if (telling_ && is_member(post) && post.open && !knows(post)) learn(post);
    if (post.tells) keep_turns(post);
  }
  return {};
}

/// At its gates.
void Scan::keep_turns(const Post& post) {
  for (const ThreadRecord& thread : world_.processes.find(post.process)->threads) {
    aim(thread.id);
    now().live().set_horizons({{thread.id, horizons_[thread.id]}});
  }
}

/// Of a process that stands: the tracer tells again.
Status Scan::end_telling(Post& post) {
  post.tells = false;
  post.tellers.clear();
  bind(post, now().tracer().threads(now().pid(post.process)), false);
  for (const auto& [word, how] : post.armed)
    TRY_STATUS(now().tracer().add_watch(now().pid(post.process), word.address, word.size));
  return {};
}

/// While `thread` stands it may be between a write and telling of it: it is in another turn. Then there has
/// to be a scan without.
bool Scan::may_be_writing(const Post& post, ThreadId thread) {
  if (!post.tells || post.process == thread.process() || now().pid(post.process) == 0) return false;
  if (lost_) return true;
  lost_ = std::ranges::any_of(world_.processes.find(post.process)->threads, [&](const ThreadRecord& each) {
    return now().tid(each.id) != 0 && !now().in_call(each.id);
  });
  return lost_;
}

/// They go on by themselves.
void Scan::let_tellers_go() {
  for (auto& [process, post] : posts_) {
    pid_t pid = post.tells ? now().pid(process) : 0;
    if (pid == 0 || !now().tracer().stands(pid)) continue;
    std::vector<pid_t> threads = now().tracer().threads(pid);
    now().tracer().let_go(pid);
    bind(post, threads, true);
  }
}

/// All that is watched in it.
bool Scan::knows(const Post& post) {
  return std::ranges::all_of(post.armed, [&](const auto& entry) {
    uint8_t bytes[sizeof(uint64_t)];
    return entry.first.size <= sizeof bytes && read_known(post, entry.first.address, bytes, entry.first.size);
  });
}

/// What is watched in it, as it is now.
void Scan::learn(Post& post) {
  post.known.clear();
  pid_t pid = now().pid(post.process);
  if (pid == 0) return;
  for (const auto& [word, how] : post.armed) {
    uint8_t bytes[sizeof(uint64_t)];
    if (!now().tracer().read(pid, word.address, bytes, word.size)) continue;
    for (uint32_t i = 0; i < word.size; ++i) post.known[word.address + i] = bytes[i];
  }
}

/// What it was when the entry was made, and so for those who share it.
void Scan::learn(Post& writer, const stage::JournalEntry& entry) {
  for (size_t i = 0; i < writer.journal_words.size(); ++i) {
    const Word& word = writer.journal_words[i];
    const auto* bytes = reinterpret_cast<const uint8_t*>(&entry.contents[i]);
    for (uint32_t at = 0; at < word.size; ++at) writer.known[word.address + at] = bytes[at];
    for (auto& [process, other] : posts_)
      if (&other != &writer && !other.known.empty()) learn_shared(other, writer, word, bytes);
  }
}

void Scan::learn_shared(Post& post, const Post& writer, const Word& word, const uint8_t* bytes) {
  for (const symbols::Mapping& from : writer.mappings) {
    if (word.address < from.start || word.address >= from.end) continue;
    uint64_t offset = word.address - from.start + from.offset;
    for (const symbols::Mapping& to : post.mappings) {
      bool there =
          to.object == from.object && offset >= to.offset && offset < to.offset + (to.end - to.start);
      for (uint32_t i = 0; there && i < word.size; ++i) {
        auto known = post.known.find(to.start + (offset - to.offset) + i);
        if (known != post.known.end()) known->second = bytes[i];
      }
    }
  }
}

}  // namespace pastcone::debug
