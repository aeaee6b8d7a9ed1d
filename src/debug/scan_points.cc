// What is set in the processes of a scan.
#include <algorithm>
#include <cstdlib>

#include "pastcone/debug/scan.h"
#include "pastcone/replay/watchpoints.h"
#include "pastcone/symbols/mappings.h"

namespace pastcone::debug {
Status Scan::compile(Post& post, ThreadId thread, bool begins) {
  Status compiled = compile_terms(post, thread, begins);
  seats_->end_pretending(post.process);
  return compiled;
}

Status Scan::compile_terms(Post& post, ThreadId thread, bool begins) {
  Images images(*engine_, *seats_);
  Image image = images.image(post.process);
  bool missing = false;
  // Where the thread stands just now names may be those of locals, of libc's functions too: what is meant is what they are
  // everywhere else.
  auto gdb = [&]() -> Result<gdb::Gdb*> {
    return image.entry != 0 ? seats_->look_from(thread, image.entry) : seats_->look_at(thread);
  };
  auto blocks = [&](uint64_t address) { return whereabouts_->symbols_of(post.process).blocks(address); };
  for (PartState* state : post.parts) {
    for (Term& term : state->terms) {
      TermCodes::KnownRef known = TRY(codes_.compile(image, *term.text, gdb, blocks));
      term.code.reset();
      if (known->error.empty()) term.code = {known, &known->code};
      term.known = term.known || term.code != nullptr;
      term.error = known->error;
      if (term.code == nullptr && begins && image.entry != 0) {
        codes_.forget(image, *term.text);
        missing = true;
      } else if (!term.known && post.gates.empty()) {
        return fail("{}: {}", to_string(*term.text), term.error);
      }
    }
  }
  // What is in a library is known when the program itself begins.
  if (missing) post.entry = image.entry;
  return {};
}

/// gdb may know more of them now that libraries are there.
void Scan::forget_asked(Post& post) {
  Image image = Images(*engine_, *seats_).image(post.process);
  for (PartState* state : post.parts) {
    for (Term& term : state->terms) {
      if (term.code == nullptr || !term.code->asks()) continue;
      codes_.forget(image, *term.text);
      term.code = nullptr;
      term.memo.reset();
    }
  }
}

bool Scan::is_meant(const Term& term, ThreadId thread) {
  return term.text->who.kind != Who::Kind::kThread || term.text->who.thread == thread;
}

/// The calls that a thread is in already.
Status Scan::find_frames(Post& post, ThreadId thread) {
  gdb::Gdb* gdb = TRY(seats_->look_at(thread));
  for (PartState* state : post.parts) {
    for (Term& term : state->terms) {
      if (term.code == nullptr || term.text->in.empty() || !is_meant(term, thread)) continue;
      gdb::Answer all = TRY(gdb->run("-stack-list-frames"));
      std::vector<Frame>& frames = term.frames[thread];
      for (const auto& [name, each] : all.results["stack"].items) {
        uint64_t at = each["addr"].number().value_or(0);
        auto function = function_at(*gdb, at);
        auto known = std::ranges::find_if(term.code->entries, [&](const auto& entry) {
          return function && function->address == entry.second;
        });
        if (known == term.code->entries.end()) continue;
        TRY(gdb->console(fmt::format("frame {}", each["level"].text)));
        std::string about = TRY(gdb->console("info frame")).console;
        auto number = [&](std::string_view behind) -> uint64_t {
          size_t begin = about.find(behind);
          return begin == std::string::npos
                     ? 0
                     : std::strtoull(about.c_str() + begin + behind.size(), nullptr, 16);
        };
        auto reg = [&](const char* which) -> Result<uint64_t> {
          gdb::Answer value = TRY(gdb->run(fmt::format("-data-evaluate-expression (long){}", which)));
          return std::strtoull(value.results["value"].text.c_str(), nullptr, 0);
        };
        Frame frame{number("frame at ") - sizeof(uint64_t), number("saved rip = ")};
        frame.registers = TRY(now().registers(thread));
        frame.registers.rbp = TRY(reg("$rbp"));
        frame.registers.rsp = TRY(reg("$rsp"));
        frame.place = frame.registers.rip = known->first;
        frame.active = at >= frame.place;
        // Of a caller it is where it will return to.
        if (auto inner = term.code->inner.find(frame.place); frame.active && inner != term.code->inner.end())
          frame.block = inner->second.at(each["level"].text == "0" ? at : at - 1);
        frames.insert(frames.begin(), frame);
        add_break(post, thread, frame.back);
      }
      TRY(gdb->console("frame 0"));
    }
  }
  return {};
}

/// `begins`: nothing of the program has run yet.
Status Scan::open(Post& post, const Now& when, bool begins) {
  TRY_STATUS(now().freeze(post.process));
  if (telling_) bind(post, now().tracer().threads(now().pid(post.process)), false);  // as its parent was
  if (post.parts.empty()) {  // others look at what it writes
    forget_points(post);
    post.code.look(now().pid(post.process));
    post.open = true;
    look_at_mappings(post);
    want_words(post);
    return settle(when.thread);
  }
  uint64_t entry = std::exchange(post.entry, 0);
  if (entry != 0) {
    remove_break(post, entry);
    forget_asked(post);
  } else {
    forget_points(post);
  }
  TRY_STATUS(compile(post, when.thread, begins));
  if (post.entry != 0) add_break(post, when.thread, post.entry);
  post.code.look(now().pid(post.process));
  TRY_STATUS(set_breaks(post, when.thread));
  bool in_calls = is_in_calls(post);
  if (in_calls && !begins) TRY_STATUS(set_jump_breaks(post, when.thread));
  if (in_calls && !begins && entry == 0) {
    for (const ThreadRecord& thread : world_.processes.find(post.process)->threads)
      if (now().tid(thread.id) != 0) TRY_STATUS(find_frames(post, thread.id));
  }
  post.open = false;
  post.loading = begins;
  post.program_entry = Images(*engine_, *seats_).image(post.process).entry;
  Sight sight{when.thread, when.moment, when.route};
  sight.anew = true;
  bool came =
      !begins && entry == 0 && when.moment.detail != 0;  // it has come there before, and stands there still
  auto registers = now().tracer().registers(now().tid(when.thread));
  if (came && registers) {
    sight.place = registers->rip;
    sight.registers = *registers;
    ++stand(when.thread).hits;
  }
  may_ask_ = true;
  judge_all(post, sight);
  may_ask_ = false;
  post.open = true;
  // gdb is not asked about what the loader does: it is over when the program itself begins, and libraries are there.
  bool asks = std::ranges::any_of(post.parts, [](const PartState* state) {
    return std::ranges::any_of(state->terms, [](const Term& term) { return term.code != nullptr && term.code->asks(); });
  });
  if (begins && (asks || in_calls) && post.entry == 0) {
    post.entry = post.program_entry;
    if (post.entry != 0) add_break(post, when.thread, post.entry);
  }
  post.points_due = true;
  return settle(when.thread);
}

Status Scan::set_breaks(Post& post, ThreadId thread) {
  std::set<uint64_t> all;
  for (PartState* state : post.parts) {
    for (Term& term : state->terms) {
      if (term.code == nullptr) continue;
      for (const auto& [address, conditions] : term.code->places) all.insert(address);
      for (const auto& [place, entry] : term.code->entries) all.insert(entry);
      for (const auto& [place, inner] : term.code->inner) all.insert(inner.gates.begin(), inner.gates.end());
    }
  }
  for (uint64_t address : all)
    if (!post.breaks.contains(address)) add_break(post, thread, address);
  return {};
}

bool Scan::is_in_calls(const Post& post) {
  return std::ranges::any_of(post.parts, [](const PartState* state) {
    return std::ranges::any_of(state->terms, [](const Term& term) { return !term.text->in.empty(); });
  });
}

Status Scan::set_jump_breaks(Post& post, ThreadId thread) {
  if (!post.jumps.empty()) return {};
  gdb::Gdb* gdb = TRY(seats_->look_at(thread));
  post.jumps = TRY(find_jumps(*gdb));
  for (const auto& [address, kind] : post.jumps) add_break(post, thread, address);
  return {};
}

void Scan::add_break(Post& post, ThreadId thread, uint64_t address) {
  if (post.breaks[address]++ > 0) return;
  if (!now().set_break(post.process, address)) {
    post.breaks.erase(address);
    return;
  }
  note_arming(thread, {Move::Kind::kBreak, address});
}

void Scan::remove_break(Post& post, uint64_t address) {
  auto found = post.breaks.find(address);
  if (found == post.breaks.end() || --found->second > 0) return;
  post.breaks.erase(found);
  now().remove_break(post.process, address);
}

/// They are gone: it has executed another program, or is a new process.
void Scan::forget_points(Post& post) {
  end_journal(post);
  post.tells = false;
  post.tellers.clear();
  post.known.clear();
  post.armed.clear();
  post.wanted.clear();
  post.breaks.clear();
  post.leaving.clear();
  post.jumps.clear();
  post.thrown.clear();
  post.entry = 0;
  post.guarding = false;
  post.unanswered.clear();
  post.thread_pointers.clear();
  post.mappings.clear();
  post.mapped.reset();
  post.outlook.reset();
  for (PartState* state : post.parts) {
    state->looked_at.clear();
    state->pieces.clear();
    for (Term& term : state->terms) {
      term.frames.clear();
      term.memo.reset();
    }
  }
}

void Scan::note_arming(ThreadId thread, Point point) {
  Stand& there = stand(thread);
  there.counts.erase(point);
  armings_[{thread.process(), point}] = {thread, there.place, there.at};
}

/// What has to be watched for what is false to stay false, and for what is true to stay true.
void Scan::choose_words(Post& post) {
  std::set<Word> all, least, unset;
  for (const PartState& state : states_) {
    if (!state.members.contains(post.process)) continue;
    all.merge(words_in(post, state));
    least.insert(all.begin(), all.end());
  }
  for (const PartState* state : post.parts) {
    for (const Term& term : state->terms)  // else nobody would know when they have a value
      for (const auto& [thread, frames] : term.frames)
        for (const Frame& frame : frames) unset.insert(frame.unset.begin(), frame.unset.end());
    least.insert(unset.begin(), unset.end());
    all.insert(least.begin(), least.end());
    bool several = state->terms.size() > 1;
    if (state->instant && several) counts_all_ = false;
    if (state->instant) continue;
    bool idle = std::ranges::any_of(state->terms, [](const Term& term) {
      return term.code == nullptr || (!term.holds && term.words.empty());
    });
    if (idle && several) counts_all_ = false;
    if (idle) continue;
    const Term* first_false = nullptr;
    for (const Term& term : state->terms) {
      all.insert(term.words.begin(), term.words.end());
      bool fewer = first_false == nullptr || term.words.size() < first_false->words.size();
      if (!term.holds && fewer) first_false = &term;
    }
    for (const Term& term : state->terms)
      if (first_false == nullptr || &term == first_false || state->part->unit.at_once)
        least.insert(term.words.begin(), term.words.end());
  }
  auto fitting = fit(all, unset);
  if (!fitting && least != all) {
    fitting = fit(least, unset);
    if (fitting) counts_all_ = false;
  }
  post.guarding = !fitting;
  post.wanted = fitting ? *std::move(fitting) : whole(all, unset);
}

/// Until somebody may have mapped something else there: that would be an event.
bool Scan::knows_private(Post& post, uint64_t page) const {
  constexpr size_t kMostThreads = 64;  // to look at them all takes longer than to look at the page
  const auto& threads = world_.recording.threads();
  uint64_t events = 0;
  for (const auto& [thread, stream] : threads) events += now().events_done(thread);
  bool forgets = world_.recording.manifest().parallel || threads.size() > kMostThreads;
  if (std::exchange(post.private_after, events) != events || forgets) post.private_pages.clear();
  return post.private_pages.contains(page);
}

/// What another process writes is not seen by watching this one. Nobody knows whose it will be of what is not there
/// yet, or only kept free.
Status Scan::check_private(Post& post, const Word& word) {
  auto reads = [&](const Term& term) {
    return std::ranges::any_of(term.words, [&](const Word& one) {
      return one.address / sizeof(uint64_t) == word.address / sizeof(uint64_t);
    });
  };
  auto concerned = std::ranges::find_if(post.parts, [&](const PartState* state) {
    return !state->part->shared && std::ranges::any_of(state->terms, reads);
  });
  if (concerned == post.parts.end() || world_.processes.processes().size() < 2) return {};
  uint64_t page = replay::page_of(word.address);
  if (knows_private(post, page)) return {};
  std::string maps = TRY(symbols::read_maps(now().pid(post.process)));
  std::vector<symbols::Mapping> mappings = symbols::parse_mappings(maps);
  auto there = std::ranges::find_if(mappings, [&](const symbols::Mapping& one) {
    return word.address >= one.start && word.address < one.end;
  });
  bool parallel = world_.recording.manifest().parallel;
  bool guarded = std::ranges::any_of(post.armed, [&](const auto& entry) {
    return entry.second.guarded && replay::page_of(entry.first.address) == replay::page_of(word.address);
  });
  bool is_free = there == mappings.end() || (!there->writable && there->file.empty() && !guarded);
  bool may_be_shared = is_free ? !parallel : there->shared;
  if (!may_be_shared) {
    if (!is_free && word.address + word.size <= page + replay::kGuardedPage) post.private_pages.insert(page);
    return {};
  }
  if (!post.alone) post.alone = !parallel && sharing(world_, post.process).size() < 2;
  if (*post.alone) return {};
  if (!parallel) return refuse_shared(**concerned);
  return fail(
      "{}: this is in memory that {} shares with other processes (MAP_SHARED), and in parallel mode nothing says "
      "who of them writes first; add 'at FILE:LINE', or say it of a variable that is not shared",
      to_string(*std::ranges::find_if((*concerned)->terms, reads)->text), post.process);
}

/// Of a process that stands.
Status Scan::set_words(Post& post, ThreadId thread) {
  pid_t pid = now().pid(post.process);
  if (pid == 0) return {};
  end_journal(post);
  if (post.tells) TRY_STATUS(end_telling(post));
  post.hits = post.stops = 0;
  auto too_slow = [&](const Armed& how) { return how.guarded && !post.guarding; };
  auto missing = static_cast<size_t>(std::ranges::count_if(post.wanted, [&](const Word& word) {
    auto armed = post.armed.find(word);
    return armed == post.armed.end() || too_slow(armed->second);
  }));
  std::vector<Word> spare;  // whose registers others get
  for (auto each = post.armed.begin(); each != post.armed.end();) {
    // Hits are counted by address: there is one word at each.
    auto there = post.wanted.lower_bound({each->first.address, 0});
    bool resized = there != post.wanted.end() && there->address == each->first.address;
    bool superfluous = !post.wanted.contains(each->first) &&
                       (resized || post.armed.size() + missing > kMostWords || each->second.in_vain > kInVain);
    if (!superfluous && !too_slow(each->second)) {
      ++each;
      continue;
    }
    if (each->second.guarded || post.guarding)
      remove_word(post, each->first, each->second);
    else
      spare.push_back(each->first);
    each = post.armed.erase(each);
  }
  std::set<Word> guarded = choose_guarded(post);
  Status added;
  for (const Word& word : post.wanted)
    if (added && !post.armed.contains(word)) added = add_word(post, thread, word, guarded.contains(word), spare);
  for (const Word& word : spare) remove_word(post, word, {});
  if (added) begin_journal(post);
  return added;
}

/// If they are too many, the debug registers are for pages that are written to all the time (stacks), then
/// for those with few of them.
std::set<Word> Scan::choose_guarded(const Post& post) const {
  constexpr uint64_t kOfAFrame = 1 << 16;
  std::set<Word> guarded;
  if (!post.guarding) return guarded;
  std::map<uint64_t, std::set<Word>> by_page;
  for (const Word& word : post.wanted) by_page[replay::page_of(word.address)].insert(word);
  std::set<uint64_t> stacks;
  for (const PartState* state : post.parts)
    for (const Term& term : state->terms)
      for (const auto& [thread, frames] : term.frames)
        for (const Frame& frame : frames)
          for (const auto& [page, words] : by_page)
            if (frame.stack - page < kOfAFrame) stacks.insert(page);
  std::vector<std::pair<std::pair<bool, size_t>, uint64_t>> order;
  for (const auto& [page, words] : by_page) order.push_back({{!stacks.contains(page), words.size()}, page});
  std::ranges::sort(order);
  size_t left = kMostWords;
  for (const auto& [rank, page] : order) {
    const std::set<Word>& words = by_page[page];
    if (words.size() <= left)
      left -= words.size();
    else
      guarded.insert(words.begin(), words.end());
  }
  return guarded;
}

Status Scan::add_word(Post& post, ThreadId thread, const Word& word, bool guarded, std::vector<Word>& spare) {
  TRY_STATUS(check_private(post, word));
  pid_t pid = now().pid(post.process);
  replay::Tracer& tracer = now().tracer();
  Status added;
  if (!guarded && !spare.empty()) {
    Word other = spare.back();
    spare.pop_back();
    added = tracer.move_watch(pid, {other.address, other.size}, {word.address, word.size});
  } else if (!guarded) {
    added = tracer.add_watch(pid, word.address, word.size);
  }
  if (!added && post.guarding) guarded = true;  // others have the registers still
  if (guarded) added = tracer.add_guarded(pid, word.address, word.size);
  TRY_STATUS(std::move(added));
  post.armed[word] = {guarded, 0};
  note_arming(thread, {Move::Kind::kWatch, word.address});
  return {};
}

void Scan::remove_word(Post& post, const Word& word, const Armed& how) {
  pid_t pid = now().pid(post.process);
  if (how.guarded)
    now().tracer().remove_guarded(pid, word.address, word.size);
  else
    now().tracer().remove_watch(pid, word.address, word.size);
}

}  // namespace pastcone::debug
