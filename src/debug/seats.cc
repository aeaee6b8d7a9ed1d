#include "pastcone/debug/seats.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <ranges>

#include "pastcone/debug/door.h"
#include "pastcone/debug/hidden_runtime.h"
#include "pastcone/debug/registers.h"
#include "pastcone/debug/source_frame.h"
#include "pastcone/gdb/compile.h"

namespace pastcone::debug {
namespace {

constexpr std::chrono::milliseconds kMomentOfDeath(100);

/// Errors of gdb that are about how the process is now, not about the expression.
bool is_about_now(const std::string& error) {
  for (const char* text : {"annot access memory", "optimized out", "ivision by zero", "not available", "not saved", "nvalid memory",
                           "no memory at", "while executing Python code"})
    if (error.find(text) != std::string::npos) return true;
  return false;
}

/// That it executed, or was forked with.
const ProgramRun* last_program(const ProcessTable& processes, ProcessId process) {
  EventId until;
  while (const ProcessRecord* record = processes.find(process)) {
    for (const ProgramRun& program : record->programs | std::views::reverse) {
      bool later = until.valid() && program.event.thread() == until.thread() && program.event.index() > until.index();
      if (!later) return &program;
    }
    until = record->parent;
    process = until.process();
  }
  return nullptr;
}

/// If its source is known.
Status speak_as_main(gdb::Gdb& gdb) {
  constexpr std::string_view kBefore = "Source language is ";
  TRY(gdb.console("set language auto"));
  if (!TRY(gdb.console("list main")).good) return {};
  std::string about = TRY(gdb.console("info source")).console;
  size_t begin = about.find(kBefore);
  if (begin == std::string::npos) return {};
  begin += kBefore.size();
  TRY(gdb.console("set language " + about.substr(begin, about.find(".\n", begin) - begin)));
  return {};
}

}  // namespace

struct Seats::Seat {
  Seat(Engine& engine, ProcessId of) : process(of), inferior(engine, of) {}

  ProcessId process;
  Inferior inferior;
  std::unique_ptr<gdb::RemoteServer> server;
  std::unique_ptr<gdb::Gdb> gdb;  // before the server goes: it may still be asked
  std::optional<Door> door;  ///< while it connects
  Path program;
  bool connected = false, is_new = true;
  uint32_t thread = 0;  ///< that it looks at
  uint64_t seen = 0;  ///< Engine::motions() when gdb last saw the process
  bool asked = false;  ///< since then, about other registers perhaps
  uint64_t generation = 0;  ///< Engine::generation() then
  size_t programs = 0;  ///< that the process had begun with when gdb connected: it keeps the libraries of that one
};

Seats::Seats(Engine& engine, Language language) : engine_(engine), language_(language) {}

Result<std::unique_ptr<Seats>> Seats::create(Engine& engine, Language language) {
  std::unique_ptr<Seats> made(new Seats(engine, language));
  engine.observe({.hit = [self = made.get()](const replay::TraceStop& stop, ThreadId thread, bool) {
    return self->wants(stop, thread);
  }, .in_calls = true});
  return made;
}

Seats::~Seats() = default;

Inferior* Seats::inferior(ProcessId process) {
  auto found = seats_.find(process);
  return found == seats_.end() ? nullptr : &found->second->inferior;
}

bool Seats::wants(const replay::TraceStop& stop, ThreadId thread) const {
  auto found = seats_.find(thread.process());
  if (found == seats_.end()) return false;
  const Inferior& inferior = found->second->inferior;
  return stop.kind == replay::TraceStop::Kind::kWatch ? inferior.has_watch(stop.address)
                                                      : inferior.has_break(stop.address);
}

Result<Seats::Seat*> Seats::sit(ProcessId process) {
  auto found = seats_.find(process);
  if (found != seats_.end() && found->second->gdb && found->second->gdb->alive()) return found->second.get();
  auto seat = std::make_unique<Seat>(engine_, process);
  seat->gdb = TRY(gdb::Gdb::start());
  TRY_STATUS(hide_runtime(*seat->gdb));
  seat->gdb->set_interrupted([this] { return engine_.interrupted(); });
  settings_.tell_common(*seat->gdb);
  // What an answer depends on shows in what is read.
  TRY(seat->gdb->console("set stack-cache off"));
  return (seats_[process] = std::move(seat)).get();
}

Status Seats::open_door(Seat& seat) {
  if (seat.door) return {};  // nobody has come in yet
  seat.door = TRY(Door::open());
  Seat* raw = &seat;
  raw->gdb->serve({raw->door->fd(), [raw] {
                     UniqueFd socket = raw->door->let_in();
                     raw->door.reset();
                     if (socket.get() < 0) return false;
                     raw->server = std::make_unique<gdb::RemoteServer>(std::move(socket), raw->inferior);
                     raw->gdb->serve({raw->server->fd(), [raw] {
                                        bool goes_on = raw->server->serve();
                                        if (!goes_on) raw->connected = false;
                                        return goes_on;
                                      }});
                     raw->connected = true;
                     return false;
                   }});
  return {};
}

/// A command without which gdb does not know the process: what the user has interrupted is not done, and begun again the next time.
Status Seats::prepare(Seat& seat, const std::string& command) {
  gdb::Answer answer = TRY(seat.gdb->console(command));
  if (!answer.good && engine_.interrupted()) return fail("interrupted");
  return {};
}

/// gdb asks for everything again.
Status Seats::refresh(Seat& seat) {
  seat.inferior.forget_points();
  TRY(seat.gdb->console("maintenance flush register-cache"));
  TRY(seat.gdb->console("maintenance flush dcache"));
  TRY_STATUS(prepare(seat, "sharedlibrary"));
  if (seat.generation == engine_.generation()) return {};
  // It has gone back. Before the loader has begun, gdb finds even that only when it connects.
  gdb::Answer libraries = TRY(seat.gdb->run("-file-list-shared-libraries"));
  return libraries.results["shared-libraries"].items.empty() ? connect(seat) : Status();
}

Status Seats::connect(Seat& seat) {
  if (seat.connected) TRY(seat.gdb->console("disconnect"));
  seat.connected = false;
  seat.inferior.forget_points();
  Path program = seat.inferior.program();
  if (program != seat.program) {
    TRY_STATUS(prepare(seat, "file " + gdb::c_string(program.native())));
    if (language_ == Language::kOfMain) TRY_STATUS(speak_as_main(*seat.gdb));
    seat.program = program;
  }
  Status opened = open_door(seat);
  Result<gdb::Answer> connected =
      opened ? seat.gdb->console(fmt::format("target remote {}", seat.door->path().native()))
             : tl::unexpected<Error>(opened.error());
  seat.connected = seat.connected && connected && connected->good;
  gdb::Answer answer = TRY(std::move(connected));
  if (!answer.good && engine_.interrupted()) return fail("interrupted");
  if (!answer.good) return fail("gdb cannot look at {}: {}", seat.process, answer.error);
  return {};
}

Result<gdb::Gdb*> Seats::look_at_file(ProcessId process) {
  Seat* seat = TRY(sit(process));
  const ProgramRun* program = last_program(engine_.world().processes, process);
  if (seat->program.empty() && program != nullptr) TRY(seat->gdb->console("file " + gdb::c_string(program->path)));
  if (seat->connected) TRY(seat->gdb->console("disconnect"));  // it would show what it has seen last
  seat->connected = false;
  return seat->gdb.get();
}

/// gdb numbers threads in the order in which it has seen them.
Result<std::string> Seats::number_in_gdb(gdb::Gdb& gdb, uint32_t thread) {
  gdb::Answer answer = TRY(gdb.run("-thread-info"));
  std::string name = fmt::format("Thread {}", thread);
  for (const auto& [key, one] : answer.results["threads"].items)
    if (one["target-id"].text == name) return one["id"].text;
  return std::string();
}

Status Seats::select(Seat& seat, uint32_t thread) {
  std::string number = TRY(number_in_gdb(*seat.gdb, thread));
  if (!number.empty()) TRY(seat.gdb->run("-thread-select " + number));
  return {};
}

Result<std::string> Seats::number_in_gdb(ThreadId looked_at, uint32_t thread) {
  gdb::Gdb* gdb = TRY(look_at(looked_at));
  std::string number = TRY(number_in_gdb(*gdb, thread));
  if (number.empty()) return fail("Unknown thread {}.", thread);
  return number;
}

void Seats::look_anew(ProcessId process) {
  if (auto found = seats_.find(process); found != seats_.end()) found->second->seen = 0;
}

Result<gdb::Gdb*> Seats::look_at(ThreadId thread) {
  TRY_STATUS(engine_.now().freeze(thread.process()));
  if (engine_.now().in_vfork(thread))
    return fail("{} waits for the child of its vfork; it can be looked at when that has executed a program", thread);
  if (const ProgramRun* next = engine_.now().about_to_begin(thread.process()))
    return fail("{} is executing {}, and has not begun with it; `run to {}` goes there", thread.process(), next->path,
                next->event);
  Result<Seat*> seat = look_once(thread);
  auto found = seats_.find(thread.process());
  bool died = !seat && found != seats_.end() && !found->second->gdb->alive();
  if (died) seat = look_once(thread);  // somebody has killed it just now
  return TRY(std::move(seat))->gdb.get();
}

Result<gdb::Gdb*> Seats::look_from(ThreadId thread, uint64_t address) {
  gdb::Gdb* gdb = TRY(look_at(thread));
  user_regs_struct there = TRY(engine_.now().registers(thread));
  there.rip = address;
  Seat& seat = *seats_.at(thread.process());
  seat.inferior.begin_question(thread, &there);
  seat.asked = true;  // it has to look again afterwards
  TRY(gdb->console("maintenance flush register-cache"));
  return gdb;
}

void Seats::end_pretending(ProcessId process) {
  if (auto seat = seats_.find(process); seat != seats_.end()) seat->second->inferior.end_question();
}

Result<Seats::Seat*> Seats::look_once(ThreadId thread) {
  Seat* seat = TRY(sit(thread.process()));
  seat->inferior.look_at(thread.number());
  size_t programs = engine_.now().programs_begun(thread.process());
  if (!seat->connected || seat->programs != programs || seat->program != seat->inferior.program()) {
    TRY_STATUS(connect(*seat));
  } else if (seat->seen != engine_.motions() || seat->asked) {
    TRY_STATUS(refresh(*seat));
  }
  if (seat->thread != thread.number() || seat->seen != engine_.motions() || seat->asked)
    TRY_STATUS(select(*seat, thread.number()));
  seat->thread = thread.number();
  seat->seen = engine_.motions();
  seat->programs = programs;
  seat->generation = engine_.generation();
  seat->asked = false;
  if (std::exchange(seat->is_new, false)) {
    auto before = frames_.find(thread.process());  // of a gdb that has died
    if (before != frames_.end() && before->second.motion == engine_.motions() && before->second.thread == thread)
      TRY(seat->gdb->run("-stack-select-frame " + before->second.level));
    settings_.tell_own(*seat->gdb, seat->process);
  }
  return seat;
}

void Seats::note_frame(ThreadId thread) {
  auto seat = seats_.find(thread.process());
  if (seat == seats_.end() || !seat->second->connected) return;
  auto frame = seat->second->gdb->run("-stack-info-frame");
  if (frame && frame->good) frames_[thread.process()] = {engine_.motions(), thread, frame->results["frame"]["level"].text};
}

void Seats::note_setting(ProcessId process, const std::string& command, const std::vector<std::string>& body) {
  share_variable(process, command);
  if (auto common = settings_.note(process, command, body)) tell_others(process, *common);
}

void Seats::tell_others(ProcessId process, const Setting& setting) {
  for (auto& [other, seat] : seats_)
    if (other != process && seat->gdb->alive()) (void)seat->gdb->console(setting.command, setting.body);
}

void Seats::set_variable(const std::string& name, const std::string& value) {
  tell_others(ProcessId(), settings_.note_variable(name, value));
  if (sharing_ != nullptr) sharing_->set_variable(name, value);
}

/// To the user it is one debugger: what `set $n = 1` has set holds for all processes, if it is a plain value.
void Seats::share_variable(ProcessId process, const std::string& command) {
  std::string name = variable_set_by(command);
  if (name.empty()) return;
  // A register is no variable: it fails.
  auto answer = seats_.at(process)->gdb->console(
      fmt::format("python print(gdb.convenience_variable('{}').format_string())", name));
  if (!answer || !answer->good || answer->console.empty()) return;
  std::string value = answer->console.substr(0, answer->console.size() - 1);  // its end of line
  if (is_plain_value(value)) set_variable(name, value);
}

Result<gdb::Answer> Seats::console(ThreadId thread, const std::string& command,
                                   const std::vector<std::string>& body) {
  for (bool again = false;; again = true) {
    // Of a process that is not there gdb still knows what its file says.
    bool gone = engine_.now().pid(thread.process()) == 0;
    gdb::Gdb* gdb = gone ? TRY(look_at_file(thread.process())) : TRY(look_at(thread));
    Seat& seat = *seats_[thread.process()];
    seat.inferior.begin_command();
    auto begun = std::chrono::steady_clock::now();
    Result<gdb::Answer> answer = gdb->console(command, body);
    if (answer) {
      if (seat.inferior.rest()) seat.seen = engine_.motions();  // it has moved it itself
      if (answer->good) note_setting(thread.process(), command, body);
      if (!gone && !seat.inferior.rest()) note_frame(thread);
      return answer;
    }
    std::optional<Result<Rest>> rest = seat.inferior.rest();
    std::string remark = fmt::format("gdb of {} has ended ({}); there is a new one now, at the same place",
                                     thread.process(), answer.error().message);
    seats_.erase(thread.process());
    // It was killed before, and had not ended yet: its command has nothing to do with it.
    bool killed = answer.error().message.ends_with(fmt::format(" {}", SIGKILL)) && !engine_.interrupted() &&
                  std::chrono::steady_clock::now() - begun < kMomentOfDeath;
    if (!rest && killed && !again) continue;
    if (rest && engine_.now().pid(thread.process()) == 0) return fail("{}", remark);
    TRY(look_at(thread));
    if (!rest) return fail("{}", remark);
    seats_[thread.process()]->inferior.set_rest(std::move(rest));
    remark_ = std::move(remark);
    return gdb::Answer();
  }
}

Result<gdb::Answer> Seats::console_aside(ThreadId thread, const std::string& command) {
  gdb::Gdb* gdb = TRY(look_at(thread));
  Seat& seat = *seats_.at(thread.process());
  seat.inferior.begin_command();
  gdb::Answer frame = TRY(gdb->run("-stack-info-frame"));
  seat.inferior.begin_question(thread, nullptr);
  (void)gdb->console("set unwindonsignal on");
  Result<gdb::Answer> answer = gdb->console(command);
  (void)gdb->console("set unwindonsignal off");
  std::string failure = seat.inferior.question().failure();
  seat.inferior.end_question();
  if (!answer) {
    if (!gdb->alive()) seats_.erase(thread.process());
    return answer;
  }
  // All is as it was, the selected frame too.
  TRY(gdb->console("maintenance flush register-cache"));
  TRY(gdb->console("maintenance flush dcache"));
  TRY(gdb->run("-stack-select-frame " + frame.results["frame"]["level"].text));
  if (answer->good) note_setting(thread.process(), command, {});
  if (failure.empty()) return answer;
  answer->good = false;
  answer->error = failure;
  return answer;
}

Result<Seats::Reply> Seats::ask_once(Seat& seat, ThreadId thread, const std::string& expression,
                                     const user_regs_struct* as) {
  seat.inferior.look_at(thread.number());
  seat.inferior.begin_question(thread, as);
  seat.asked = true;
  Question& question = seat.inferior.question();
  std::string test = fmt::format("output !({})", TRY(question.with_strings(expression)));
  bool calls = test.find('(', 8) != std::string::npos;
  if (calls) TRY(seat.gdb->console("set unwindonsignal on"));
  TRY(seat.gdb->console("maintenance flush register-cache"));
  // The first time gdb also looks where it is.
  TRY(seat.gdb->console("output $sp"));
  question.forget_reads();
  gdb::Answer answer = TRY(seat.gdb->console(test));
  if (auto typed = answer.good ? std::nullopt : gdb::with_return_types(test, answer.error))
    answer = TRY(seat.gdb->console(*typed));
  if (calls) TRY(seat.gdb->console("set unwindonsignal off"));
  Reply reply;
  reply.reads = question.reads();
  reply.called = question.called();
  reply.known = answer.good && question.failure().empty();
  reply.holds = reply.known && (answer.console == "0" || answer.console == "false");
  if (!question.failure().empty()) {
    if (!question.crashed()) reply.error = question.failure();
  } else if (!answer.good && !is_about_now(answer.error) && !seat.inferior.misses_storage()) {
    reply.error = answer.error.substr(0, answer.error.find('\n'));
  }
  return reply;
}

Result<Seats::Reply> Seats::evaluate(ThreadId thread, const gdb::Formula& formula,
                                     const user_regs_struct* as) {
  Incarnation& run = engine_.now();
  TRY_STATUS(run.freeze(thread.process()));
  Question question(run, thread, as);
  gdb::Registers registers = TRY(question.registers());
  auto call = [&](const gdb::FunctionCall& made, gdb::Evaluation& into) -> Result<gdb::Number> {
    question.forget_reads();
    Result<gdb::Number> number = question.call(made, [this] { return engine_.interrupted(); });
    into.memory.insert(into.memory.end(), question.reads().begin(), question.reads().end());
    return number;
  };
  auto read = [&](uint64_t address, void* to, size_t size) {
    return run.read(thread.process(), address, to, size);
  };
  auto reg = [&](int number) { return register_of(registers.general, number); };
  gdb::Evaluation evaluation;
  Status done = formula.evaluate(read, reg, evaluation, call);
  Reply reply;
  reply.known = done.has_value();
  reply.holds = reply.known && evaluation.value != 0;
  reply.called = question.called();
  reply.reads = std::move(evaluation.memory);
  reply.bindings = question.bindings();
  if (!question.crashed()) reply.error = question.failure();
  return reply;
}

Result<Seats::Reply> Seats::ask(ThreadId thread, const std::string& expression, const user_regs_struct* as) {
  TRY_STATUS(engine_.now().freeze(thread.process()));
  auto found = seats_.find(thread.process());
  bool ready = found != seats_.end() && found->second->gdb && found->second->gdb->alive() && found->second->connected &&
               found->second->asked && found->second->thread == thread.number() &&
               found->second->generation == engine_.generation() &&
               found->second->programs == engine_.now().programs_begun(thread.process()) &&
               found->second->program == found->second->inferior.program();
  if (!ready) TRY(look_at(thread));
  Seat& seat = *seats_.at(thread.process());
  Result<Reply> reply = ask_once(seat, thread, expression, as);
  seat.inferior.end_question();
  // Libraries may have come since gdb has looked.
  if (reply && !reply->error.empty() && ready) {
    TRY(look_at(thread));
    Seat& again = *seats_.at(thread.process());  // there may be a new one
    reply = ask_once(again, thread, expression, as);
    again.inferior.end_question();
  }
  if (reply) return reply;
  bool died = !seats_.at(thread.process())->gdb->alive();
  if (died) seats_.erase(thread.process());
  return reply;
}

}  // namespace pastcone::debug
