#include "pastcone/debug/inferior.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <utility>

namespace pastcone::debug {
namespace {

using gdb::PointKind;
using replay::Halt;
using replay::TraceStop;

bool is_break(PointKind kind) { return kind == PointKind::kBreak || kind == PointKind::kHardBreak; }

}  // namespace

// gdb knows threads by their numbers in the process, which are the same in every replay.

std::vector<pid_t> Inferior::threads() {
  std::vector<pid_t> found;
  for (pid_t tid : engine_.now().tracer().threads(process()))
    if (ThreadId thread = engine_.now().thread_of(tid); thread.valid() && engine_.now().tid(thread) != 0)
      found.push_back(static_cast<pid_t>(thread.number()));
  std::ranges::sort(found);
  return found;
}

pid_t Inferior::current() {
  std::vector<pid_t> all = threads();
  auto wanted = static_cast<pid_t>(current_);
  return all.empty() || std::ranges::find(all, wanted) != all.end() ? wanted : all.front();
}

std::string Inferior::thread_name(pid_t thread) { return fmt::format("{}.{}", process_, thread); }

Result<gdb::Registers> Inferior::registers(pid_t thread) {
  if (question_ && question_->thread() == id_of(thread)) return question_->registers();
  gdb::Registers registers;
  // gdb looks once more at a thread that it was told has ended.
  bool others_go_on = engine_.now().tid(id_of(thread)) == 0 && !threads().empty();
  if (others_go_on) return registers;
  registers.general = TRY(engine_.now().registers(id_of(thread)));
  registers.floating = TRY(engine_.now().tracer().float_registers(engine_.now().tid(id_of(thread))));
  return registers;
}

Status Inferior::set_registers(pid_t thread, const gdb::Registers& registers) {
  if (question_) return question_->thread() == id_of(thread) ? question_->set_registers(registers) : Status();
  if (call_failed()) return {};  // gdb tidies up; all of it will be undone
  ThreadId id = id_of(thread);
  user_regs_struct now = TRY(engine_.now().real_registers(id));
  user_regs_struct seen = TRY(engine_.now().registers(id));
  bool copied = engine_.now().code(process_).in_trampoline(now.rip);  // the instruction that gdb sees it at
  if (now.rip != seen.rip && !copied) {
    return fail("the registers of a thread that is in a system call cannot be changed; step out of it first");
  }
  changed_ = true;
  pid_t tid = engine_.now().tid(id);
  user_regs_struct wanted = registers.general;
  if (copied && wanted.rip == seen.rip) wanted.rip = now.rip;
  auto read_memory = [&](uint64_t from, void* to, size_t size) { return engine_.now().read(process_, from, to, size); };
  if (wanted.rip != now.rip) wanted.rip = engine_.now().code(process_).place_of_break(wanted.rip, read_memory);
  TRY_STATUS(engine_.now().tracer().set_registers(tid, wanted));
  note_registers(id, now, wanted);
  return engine_.now().tracer().set_float_registers(tid, registers.floating);
}

void Inferior::note_registers(ThreadId thread, const user_regs_struct& before, const user_regs_struct& after) {
  if (!call_) {
    call_ = Call{thread, before, engine_.now().way(thread)};
  } else if (call_->thread == thread && after.rip == call_->from.rip && after.rsp == call_->from.rsp) {
    engine_.now().set_way(thread, call_->way);
    call_.reset();
  }
}

/// Whether gdb has put the thread into a function that shall come back to gdb.
bool Inferior::calls() {
  if (!call_) return false;
  auto now = engine_.now().real_registers(call_->thread);
  return now && now->rip != call_->from.rip && now->rsp < call_->from.rsp;
}

Result<std::vector<uint8_t>> Inferior::read(uint64_t address, size_t size) {
  if (question_) question_->note_read(address, size);
  std::vector<uint8_t> bytes(size);
  if (engine_.now().read(process_, address, bytes.data(), size)) return bytes;
  // Up to the end of what is mapped.
  constexpr size_t kPage = 4096;
  size_t first = std::min(size, kPage - address % kPage), got = 0;
  while (got < size) {
    size_t part = got == 0 ? first : std::min(size - got, kPage);
    if (!engine_.now().read(process_, address + got, bytes.data() + got, part)) break;
    got += part;
  }
  if (got == 0) return fail("there is no memory at {:#x}", address);
  bytes.resize(got);
  return bytes;
}

Status Inferior::write(uint64_t address, ByteView bytes) {
  if (question_) return question_->write(address, bytes);
  changed_ = true;
  if (engine_.now().tracer().write(process(), address, bytes.data(), bytes.size())) return {};
  return fail("there is no memory at {:#x}", address);
}

Status Inferior::insert(PointKind kind, uint64_t address, uint32_t size) {
  if (question_) {
    if (!is_break(kind)) return fail("there are no watchpoints while a function is called");
    question_->insert(address);
    return {};
  }
  if (points_.contains({kind, address, size})) return {};
  bool reads = kind == PointKind::kRead || kind == PointKind::kAccess;
  TRY_STATUS(is_break(kind) ? engine_.now().add_break(process_, address)
                            : engine_.now().add_watch(process_, address, size, reads));
  points_.insert({kind, address, size});
  return {};
}

Status Inferior::remove(PointKind kind, uint64_t address, uint32_t size) {
  if (question_ && is_break(kind)) question_->remove(address);
  if (points_.erase({kind, address, size}) == 0) return {};
  bool reads = kind == PointKind::kRead || kind == PointKind::kAccess;
  if (is_break(kind)) {
    engine_.now().remove_break(process_, address);
  } else {
    engine_.now().remove_watch(process_, address, size, reads);
  }
  return {};
}

void Inferior::forget_points() {
  auto points = points_;
  for (const auto& [kind, address, size] : points) (void)remove(kind, address, size);
}

bool Inferior::has_break(uint64_t address) const {
  return std::ranges::any_of(points_, [&](const auto& point) {
    return is_break(std::get<0>(point)) && std::get<1>(point) == address;
  });
}

bool Inferior::has_watch(uint64_t address) const {
  return std::ranges::any_of(points_, [&](const auto& point) {
    return !is_break(std::get<0>(point)) && std::get<1>(point) == address;
  });
}

gdb::Stop Inferior::answer_question() {
  gdb::Stop stop;
  stop.thread = static_cast<pid_t>(question_->thread().number());
  if (engine_.now().pid(process_) == 0) {
    stop.ended = 0;
  } else if (question_->follow([this] { return engine_.interrupted(); }) && engine_.now().pid(process_) != 0) {
    stop.point = PointKind::kBreak;
  } else {
    stop.signal = SIGILL;  // with which gdb takes the call back
  }
  return stop;
}

gdb::Stop Inferior::resume(const std::vector<gdb::Resume>& how) {
  if (question_) return answer_question();
  if (held_) {
    gdb::Stop stop;
    stop.thread = current();
    stop.signal = SIGINT;
    return stop;
  }
  pid_t stepped = 0;
  gdb::Resume step_how;
  for (const gdb::Resume& one : how) {
    if (one.kind != gdb::Resume::Kind::kStep && one.kind != gdb::Resume::Kind::kRange) continue;
    stepped = one.thread != 0 ? one.thread : current();
    step_how = one;
    break;
  }
  ThreadId thread = id_of(stepped != 0 ? stepped : current());
  if (stepped == 0 && calls()) {
    rest_ = engine_.call(call_->thread);
    call_->failed = !*rest_ || (*rest_)->halt != Halt::kStanding || (*rest_)->stops.empty();
    own_ = is_own(*rest_);
    return stop_of(call_->thread, *rest_);
  }
  rest_ = stepped != 0 ? step(thread, step_how) : engine_.advance(process_);
  // gdb would go on: its command is more than this.
  if (*rest_ && (*rest_)->halt == Halt::kStanding && engine_.interrupted()) (*rest_)->halt = Halt::kInterrupted;
  own_ = is_own(*rest_);
  return stop_of(thread, *rest_);
}

/// Before gdb takes its points away again.
bool Inferior::is_own(const Result<Rest>& rest) const {
  return rest && rest->halt == Halt::kStanding && !rest->stops.empty() &&
         std::ranges::all_of(rest->stops, [&](const Rest::Stopped& one) {
           if (!one.stop || one.thread.process() != process_) return false;
           switch (one.stop->kind) {
             case TraceStop::Kind::kStep: return true;
             case TraceStop::Kind::kWatch: return has_watch(one.stop->address);
             case TraceStop::Kind::kBreak: return has_break(one.stop->address);
             default: return false;
           }
         });
}

/// Where gdb sees a thread that is in the runtime; 0: it is in its program.
uint64_t Inferior::seen_outside(ThreadId thread) {
  auto real = engine_.now().real_registers(thread), seen = engine_.now().registers(thread);
  return real && seen && real->rip != seen->rip ? seen->rip : 0;
}

Result<Rest> Inferior::step(ThreadId thread, const gdb::Resume& how) {
  auto start = engine_.now().registers(thread);
  uint64_t began = seen_outside(thread), from = start ? start->rip : 0;
  for (;;) {
    Rest rest = TRY(engine_.step(thread));
    bool own = rest.halt == Halt::kStanding && rest.stops.size() == 1 && rest.stops[0].thread == thread &&
               rest.stops[0].stop;
    auto now = engine_.now().registers(thread);
    if (!own || !now) return rest;
    uint64_t rip = now->rip;
    TraceStop& stop = *rest.stops[0].stop;
    bool watched = stop.kind == TraceStop::Kind::kWatch;
    if (!watched && stop.kind != TraceStop::Kind::kStep) return rest;
    // It has only come out to where gdb saw it already.
    bool again = std::exchange(began, 0) == rip;
    bool moved = std::exchange(from, rip) != rip;  // within one that is repeated it does not come there anew
    if (moved && TRY(engine_.reaches(thread, rip))) {
      stop.kind = TraceStop::Kind::kBreak;
      stop.address = rip;
      return rest;
    }
    if (watched) return rest;
    if (!again && how.kind != gdb::Resume::Kind::kRange) return rest;
    if (!again && (rip < how.begin || rip >= how.end || has_break(rip))) return rest;
    if (engine_.interrupted()) {
      rest.halt = Halt::kInterrupted;
      return rest;
    }
  }
}

gdb::Stop Inferior::stop_of(ThreadId thread, const Result<Rest>& rest) {
  gdb::Stop stop;
  Incarnation& now = engine_.now();
  if (now.pid(process_) == 0 || !now.freeze(process_)) {
    points_.clear();  // gdb does not take them away any more: they would be its own in the next replay
    stop.ended = 0;
    return stop;
  }
  stop.thread = static_cast<pid_t>(thread.number());
  // Where it cannot go on gdb must not try it again and again; nor go on where others than gdb want it to stop.
  bool wanted = rest && std::ranges::any_of(rest->stops, [&](const Rest::Stopped& one) {
    return engine_.is_wanted(one.thread);
  });
  bool ends = !rest || rest->halt != Halt::kStanding || rest->stops.empty() || wanted || !is_own(rest);
  if (ends) stop.signal = SIGINT;
  if (!rest) return stop;
  for (const Rest::Stopped& one : rest->stops) {
    if (one.thread.process() != process_ || !one.stop) continue;
    current_ = one.thread.number();
    stop.thread = static_cast<pid_t>(current_);
    if (ends) continue;
    uint64_t address = one.stop->address;
    if (one.stop->kind == TraceStop::Kind::kBreak && has_break(address)) stop.point = PointKind::kBreak;
    if (one.stop->kind != TraceStop::Kind::kWatch) continue;
    for (const auto& [kind, at, size] : points_) {
      if (is_break(kind) || at != address) continue;
      stop.point = kind;
      stop.address = address;
    }
  }
  return stop;
}

std::vector<uint8_t> Inferior::auxv() {
  auto text = read_file(symbols::proc_of(process()) / "auxv");
  if (!text) return {};
  return {text->begin(), text->end()};
}

Path Inferior::program() {
  std::error_code error;
  return std::filesystem::read_symlink(symbols::proc_of(process()) / "exe", error);
}

}  // namespace pastcone::debug
