#include "pastcone/debug/watches.h"

#include <algorithm>
#include <cstring>

#include "pastcone/debug/inferior.h"
#include "pastcone/debug/registers.h"

namespace pastcone::debug {

using replay::TraceStop;

namespace {

/// In debug registers if they are enough, else by its pages.
std::set<Word> words_to_watch(const std::set<Word>& words) {
  auto fitting = fit(words);
  return fitting ? *std::move(fitting) : whole(words);
}

}  // namespace

Watches::Watches(Engine& engine, Breakpoints& breakpoints) : engine_(engine), breakpoints_(breakpoints) {
  engine_.observe({
      .wants =
          [this](ProcessId process) {
            return std::ranges::any_of(all_,
                                       [&](const auto& entry) { return entry.second.process == process; });
          },
      .open = [this](ProcessId process) { return open(process); },
      .close =
          [this](ProcessId process) {
            for (auto& [number, watch] : all_)
              if (watch.process == process) disarm(number, watch);
          },
      .words = [this](ProcessId process) { return words_of(process); },
      .hit = [this](const TraceStop& stop, ThreadId thread,
                    bool inside) { return hit(stop, thread, inside); },
      .next_stop = [this](ThreadId thread, uint64_t step) -> std::optional<uint64_t> {
        auto found = due_.find(thread);
        if (found == due_.end() || found->second <= step) return {};
        return found->second;
      },
      .reached = [this](ThreadId thread) -> Result<bool> {
        due_.erase(thread);
        TRY_STATUS(engine_.now().freeze(thread.process()));
        return stepped(thread);
      },
      .stepped = [this](ThreadId thread) { return stepped(thread); },
  });
}

const Breakpoint* Watches::point(int number) const {
  auto found = breakpoints_.all().find(number);
  return found == breakpoints_.all().end() ? nullptr : &found->second;
}

const WatchedExpression* Watches::find(int number) const {
  auto found = all_.find(number);
  return found == all_.end() ? nullptr : &found->second.what;
}

Result<int> Watches::add(Breakpoint point, WatchedExpression what, std::optional<gdb::Formula> condition) {
  Watch watch{*point.process,
              Inferior(engine_, *point.process).program(),
              std::move(what),
              std::move(condition),
              {},
              {},
              {},
              false,
              false,
              {},
              0};
  int number = point.number = breakpoints_.last_number() + 1;
  if (std::exchange(generation_, engine_.generation()) != engine_.generation())
    for (auto& [other, old] : all_) old.words.clear(), old.guarded = false;
  breakpoints_.add_watch(std::move(point));
  if (Status armed = arm(number, watch); !armed) {
    (void)breakpoints_.remove(number);
    return tl::unexpected<Error>(armed.error());
  }
  all_.emplace(number, std::move(watch));
  return number;
}

void Watches::set_condition(int number, std::optional<gdb::Formula> condition) {
  if (auto found = all_.find(number); found != all_.end()) found->second.condition = std::move(condition);
}

void Watches::remove(int number) {
  auto found = all_.find(number);
  if (found == all_.end()) return;
  disarm(number, found->second);
  all_.erase(found);
}

Status Watches::changed(int number) {
  auto found = all_.find(number);
  const Breakpoint* listed = point(number);
  if (found == all_.end() || listed == nullptr) return {};
  if (!listed->enabled) disarm(number, found->second);
  if (listed->enabled) TRY_STATUS(check_room(number, found->second, found->second.last_words));
  engine_.open_again();
  return {};
}

std::set<WatchedWord> Watches::words_of(ProcessId process, int besides) const {
  std::set<WatchedWord> all;
  for (const auto& [number, watch] : all_) {
    const Breakpoint* listed = point(number);
    if (watch.process != process || number == besides || listed == nullptr || !listed->enabled ||
        watch.sleeps)
      continue;
    for (const Word& word : watch.last_words) all.insert({word, listed->watch != "watch"});
  }
  return all;
}

/// What is only written can be watched by its page.
Status Watches::check_room(int number, const Watch& watch, const std::set<Word>& words) const {
  if (point(number)->watch == "watch") return {};
  std::set<WatchedWord> all = words_of(watch.process, number);
  size_t free = kMostWords - std::min(kMostWords, all.size());
  for (const Word& word : words) all.insert({word, true});
  if (all.size() <= kMostWords) return {};
  return fail(
      "{} cannot be watched: there are {} debug registers, and {} are free; 'delete' or 'disable' a "
      "watchpoint",
      watch.what.text, kMostWords, free == 0 ? "none" : std::to_string(free));
}

// --- what it is
// ---------------------------------------------------------------------------------------------------

Watches::Look Watches::look(const Watch& watch) const {
  Look now;
  const WatchedExpression& what = watch.what;
  auto read = [&](uint64_t address, void* to, size_t size) {
    return engine_.now().read(watch.process, address, to, size);
  };
  uint64_t address = what.address;
  if (what.code) {
    gdb::Evaluation value;
    user_regs_struct registers = what.frame ? what.frame->registers : user_regs_struct();
    Status known = what.code->evaluate(
        read, [&](int number) { return register_of(registers, number); }, value);
    add_read_words(value.memory, now.words);
    if (!known) return now;
    address = static_cast<uint64_t>(value.value);
    if (!what.has_address) {
      ValueBytes bytes(what.size);
      std::memcpy(bytes.data(), &value.value, std::min<size_t>(bytes.size(), sizeof value.value));
      now.value = std::move(bytes);
      return now;
    }
  }
  add_words(address, what.size, now.own);
  now.words.insert(now.own.begin(), now.own.end());
  ValueBytes bytes(what.size);
  if (read(address, bytes.data(), bytes.size())) now.value = std::move(bytes);
  return now;
}

/// Whether its frame is, and the program.
bool Watches::is_there(const Watch& watch) const {
  if (Inferior(engine_, watch.process).program() != watch.program) return false;
  if (!watch.what.frame) return true;
  const WatchedExpression::Frame& frame = *watch.what.frame;
  auto registers = engine_.now().registers(frame.thread);
  if (!registers || registers->rsp >= frame.stack) return false;
  uint64_t back = 0;
  bool read = engine_.now().read(watch.process, frame.stack - sizeof back, &back, sizeof back);
  return read && (frame.caller == 0 || back == frame.caller);
}

void Watches::find_in_program(int number, Watch& watch) {
  Path program = Inferior(engine_, watch.process).program();
  if (program == watch.program || program == watch.lacking) return;
  const Breakpoint& listed = *point(number);
  bool by_name = !watch.what.frame && !listed.location.starts_with("-location ");
  if (by_name && look_up_again(listed, watch)) {
    watch.program = program;
    return;
  }
  watch.lacking = program;
  if (watch.lived != engine_.generation()) return;  // it has gone back to before it was there
  breakpoints_.remark(number, fmt::format("Watchpoint {} ({}) sleeps: {} has executed {}, which does not have it", number,
                                          listed.location, watch.process, program.native()));
}

Status Watches::look_up_again(const Breakpoint& listed, Watch& watch) {
  ThreadId thread(watch.process, 1);
  gdb::Gdb* gdb = TRY(breakpoints_.images().seats().look_at(thread));
  WatchedExpression what = TRY(look_up(*gdb, engine_.now(), thread, watch.what.text, false));
  if (what.frame) return fail("{} is in a frame", what.text);
  std::optional<gdb::Formula> condition;
  if (!listed.condition.empty())
    condition = TRY(compile_condition(*gdb, engine_.now(), thread, listed.condition));
  watch.what = std::move(what);
  watch.condition = std::move(condition);
  return {};
}

// --- watching
// -----------------------------------------------------------------------------------------------------

Status Watches::arm(int number, Watch& watch) {
  disarm(number, watch);
  const Breakpoint* listed = point(number);
  if (listed == nullptr || !listed->enabled) return {};
  find_in_program(number, watch);
  watch.sleeps = !is_there(watch);
  if (watch.sleeps) return {};
  Look now = look(watch);
  bool reads = listed->watch != "watch";
  auto words = reads ? fit(now.own) : std::optional(words_to_watch(now.words));
  if (!words)
    return fail("{} cannot be watched: that takes more than the {} debug registers that there are",
                watch.what.text, kMostWords);
  TRY_STATUS(check_room(number, watch, *words));
  watch.value = now.value;
  watch.lived = engine_.generation();
  watch.last_words = *words;
  for (const Word& word : *words) {
    if (Status status = engine_.now().add_watch(watch.process, word.address, word.size, reads); !status) {
      disarm(number, watch);
      return status;
    }
    watch.words.insert(word);
  }
  if (watch.what.frame && watch.what.frame->caller != 0)
    watch.guarded = engine_.now().add_break(watch.process, watch.what.frame->caller).has_value();
  return {};
}

void Watches::disarm(int number, Watch& watch) {
  const Breakpoint* listed = point(number);
  bool reads = listed != nullptr && listed->watch != "watch", is_new = engine_.is_new_program(watch.process);
  bool stands = !watch.words.empty() && !is_new && engine_.generation() == generation_ &&
                engine_.now().pid(watch.process) != 0 && engine_.now().freeze(watch.process);
  if (stands) {
    for (const Word& word : watch.words)
      engine_.now().remove_watch(watch.process, word.address, word.size, reads);
    if (watch.guarded) engine_.now().remove_break(watch.process, watch.what.frame->caller);
  }
  watch.words.clear();
  watch.guarded = false;
}

Status Watches::open(ProcessId process) {
  if (std::exchange(generation_, engine_.generation()) != engine_.generation()) {
    for (auto& [number, watch] : all_) watch.words.clear(), watch.guarded = false;
    due_.clear();
  }
  bool is_due =
      std::ranges::any_of(due_, [&](const auto& entry) { return entry.first.process() == process; });
  std::erase_if(due_, [&](const auto& entry) {  // it was held there for something else
    return entry.first.process() == process && entry.second <= engine_.now().steps_done(entry.first);
  });
  for (auto& [number, watch] : all_) {
    if (watch.process != process) continue;
    std::optional<ValueBytes> before = watch.value;
    TRY_STATUS(arm(number, watch));
    if (is_due) watch.value = std::move(before);  // what has changed will be told
  }
  return {};
}

// --- hits
// ---------------------------------------------------------------------------------------------------------

bool Watches::has_left(const Watch& watch, ThreadId thread, const user_regs_struct& registers) const {
  return watch.what.frame && watch.what.frame->thread == thread && registers.rsp >= watch.what.frame->stack;
}

bool Watches::holds(const Watch& watch, const user_regs_struct& registers) const {
  if (!watch.condition) return true;
  const user_regs_struct& used = watch.what.frame ? watch.what.frame->registers : registers;
  auto value = watch.condition->evaluate(
      [&](uint64_t address, void* to, size_t size) {
        return engine_.now().read(watch.process, address, to, size);
      },
      [&](int number) { return register_of(used, number); });
  return !value || value->value != 0;  // as in gdb: who cannot tell stops
}

bool Watches::is_passed_over(int number) {
  auto found = breakpoints_.find(number);
  if (!found) return true;
  ++(*found)->hits;
  if ((*found)->ignored == 0) return false;
  --(*found)->ignored;
  return true;
}

void Watches::note(ThreadId thread, Hit hit) {
  Hits& hits = hits_[thread];
  if (hits.motion != engine_.motions()) hits = {engine_.motions(), {}};
  hits.hits.push_back(std::move(hit));
}

bool Watches::hit(const TraceStop& stop, ThreadId thread, bool inside) {
  bool stops = false;
  for (auto& [number, watch] : all_) {
    if (watch.process != thread.process() || watch.words.empty()) continue;
    if (take(number, watch, stop, thread, inside)) stops = true;
  }
  return stops;
}

bool Watches::take(int number, Watch& watch, const TraceStop& stop, ThreadId thread, bool inside) {
  bool watches = stop.kind == TraceStop::Kind::kWatch;
  bool at_caller = !watches && watch.guarded && stop.address == watch.what.frame->caller;
  const Breakpoint* listed = point(number);
  bool its_word = watches && listed != nullptr && stop.reads == (listed->watch != "watch") &&
                  watch.words.contains({stop.address, stop.size});
  if (!at_caller && !its_word) return false;
  auto registers = engine_.now().tracer().registers(stop.thread);
  if (!registers) return false;
  if (!inside && has_left(watch, thread, *registers)) {
    note(thread, {number, true, {}, {}});
    return true;
  }
  if (at_caller) return false;
  Look now = look(watch);
  bool changes = now.value != watch.value;
  const std::string& kind = listed->watch;
  bool moved = kind == "watch" && words_to_watch(now.words) != watch.words;
  if (inside) {
    if (kind == "rwatch") watch.value = now.value;
    if ((!changes && !moved) || kind == "rwatch") return false;
    if (engine_.stepping()) return false;  // stepped() sees it
    due_[thread] = 2 * (engine_.now().events_done(thread) + 1);
    engine_.open_when_standing(thread.process());
    return false;
  }
  if ((kind == "watch" && !changes) || (kind == "rwatch" && changes)) {
    watch.value = now.value;
    if (moved) engine_.open_when_standing(thread.process());
    return false;
  }
  std::optional<ValueBytes> before = std::exchange(watch.value, now.value);
  if (!holds(watch, *registers) || is_passed_over(number)) {
    if (moved) engine_.open_when_standing(thread.process());
    return false;
  }
  note(thread, {number, false, std::move(before), watch.value});
  if (moved) engine_.open_again();
  return true;
}

bool Watches::stepped(ThreadId thread) {
  bool stops = false;
  for (auto& [number, watch] : all_) {
    const Breakpoint* listed = point(number);
    if (watch.process != thread.process() || watch.words.empty() || listed == nullptr) continue;
    auto registers = engine_.now().registers(thread);
    if (registers && has_left(watch, thread, *registers)) {
      note(thread, {number, true, {}, {}});
      stops = true;
      continue;
    }
    if (listed->watch == "rwatch" || !is_there(watch)) continue;
    Look now = look(watch);
    if (listed->watch == "watch" && words_to_watch(now.words) != watch.words) engine_.open_again();
    if (now.value == watch.value) continue;
    std::optional<ValueBytes> before = std::exchange(watch.value, now.value);
    if (!registers || !holds(watch, *registers) || is_passed_over(number)) continue;
    note(thread, {number, false, std::move(before), watch.value});
    stops = true;
  }
  return stops;
}

bool Watches::was_hit(ThreadId thread) const {
  auto found = hits_.find(thread);
  return found != hits_.end() && found->second.motion == engine_.motions() && !found->second.hits.empty();
}

std::vector<Watches::Hit> Watches::hits_of(ThreadId thread) {
  auto found = hits_.find(thread);
  if (found == hits_.end() || found->second.motion != engine_.motions()) return {};
  return std::exchange(found->second.hits, {});
}

}  // namespace pastcone::debug
