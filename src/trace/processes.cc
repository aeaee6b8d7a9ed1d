#include "pastcone/trace/processes.h"

#include <signal.h>
#include <string.h>

#include <algorithm>

#include "pastcone/trace/json.h"
#include "pastcone/trace/program_image.h"
#include "pastcone/trace/stream_reader.h"

namespace pastcone {
namespace {

using format::Op;

constexpr uint64_t kMaxImage = 8 << 20;  // of one exec; the kernel allows 6 MB of strings
constexpr uint64_t kMaxPrograms =
    64 << 20;  // bytes of all that the table keeps of them: there is no end to what a file may claim
constexpr uint64_t kMaxText = 4096;

/// A process ends as its thread that says most about it: an exit of all, a fatal signal, a stop, or nothing: then
/// it was killed. Where all threads only ended for themselves, the last one's code counts, which is not known: the
/// first thread's is taken.
int weight(Op op) {
  switch (op) {
    case Op::kFatal:
      return 4;
    case Op::kExitGroup:
      return 3;
    case Op::kStop:
      return 2;
    case Op::kThreadExit:
      return 0;
    default:
      return 1;
  }
}

class ThreadScan {
 public:
  ThreadScan(const Recording& recording, ThreadId id, ProcessRecord& process, uint64_t& room)
      : recording_(recording), reader_(recording, id), process_(process), room_(room) {
    thread_.id = id;
  }

  /// Reads the whole stream; gives the op that ended it.
  Op run() {
    while (true) {
      auto read = reader_.next();
      if (!read) return finish({End::Kind::kDamaged, 0, read.error().message});
      if (!*read) break;
      take(**read);
    }
    if (last_ != Op::kNone) return finish(std::move(end_));
    return finish({recording_.growing() ? End::Kind::kRunning : End::Kind::kKilled, 0, {}});
  }

  ThreadRecord& thread() { return thread_; }

 private:
  Op finish(End end) {
    thread_.end = std::move(end);
    thread_.events = reader_.events();
    return last_;
  }

  void take(const Item& item) {
    switch (item.op) {
      case Op::kStart:
        return start(item);
      case Op::kExec:
        return exec(item);
      case Op::kThreadExit:
      case Op::kExitGroup:
        return end(item, {End::Kind::kExited, item.result, {}});
      case Op::kFatal:
        return end(item, {End::Kind::kSignalled, item.signal, {}});
      case Op::kStop:
        return end(item, {End::Kind::kStopped, item.reason, text(item)});
      default:
        return;
    }
  }

  void start(const Item& item) {
    thread_.tid = item.tid;
    thread_.flags = item.flags;
    thread_.started_ns = item.time;
    if (item.thread.valid()) thread_.parent = EventId(item.thread, item.parent_event);
    if (thread_.id.number() != 1) return;
    process_.pid = item.pid;
    process_.started_ns = item.time;
    process_.parent = thread_.parent;
  }

  void exec(const Item& item) {
    last_ = Op::kNone;
    if (item.payload_length > kMaxImage) return;
    auto payload = reader_.payload(item);
    if (!payload) return;
    auto image = ProgramImage::parse(*payload);
    if (!image) return;
    uint64_t size = sizeof(ProgramRun) + image->path.size() + image->name.size() + image->cwd.size();
    for (const std::string& argument : image->arguments) size += sizeof argument + argument.size();
    if (size > room_) return;
    room_ -= size;
    process_.programs.push_back({EventId(thread_.id, item.event), std::move(image->path),
                                 std::move(image->name), std::move(image->cwd), std::move(image->arguments)});
  }

  void end(const Item& item, End how) {
    last_ = item.op;
    end_ = std::move(how);
  }

  std::string text(const Item& item) {
    Bytes bytes(std::min(item.payload_length, kMaxText));
    if (!reader_.copy_payload(item, 0, bytes)) return {};
    return std::string(as_text(bytes));
  }

  const Recording& recording_;
  StreamReader reader_;
  ProcessRecord& process_;
  uint64_t& room_;  ///< bytes left for programs
  ThreadRecord thread_;
  Op last_ = Op::kNone;
  End end_;
};

}  // namespace

std::string signal_name(uint64_t signal) {
  if (signal >= 34 && signal <= 64) return fmt::format("SIGRTMIN+{}", signal - 34);
  const char* name = signal < 64 ? sigabbrev_np(static_cast<int>(signal)) : nullptr;
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

std::string_view to_string(format::StopReason reason) {
  switch (reason) {
    case format::StopReason::kUnsupportedCall:
      return "an unsupported call";
    case format::StopReason::kNoSpace:
      return "the disk is full";
    case format::StopReason::kMaxSize:
      return "--max-size is reached";
    case format::StopReason::kLimit:
      return "a limit is reached";
    case format::StopReason::kUnrecordable:
      return "it cannot be recorded";
    case format::StopReason::kByUser:
      return "interrupted by the user";
  }
  return "an unknown reason";
}

std::string to_string(const End& end) {
  switch (end.kind) {
    case End::Kind::kRunning:
      return "running";
    case End::Kind::kExited:
      return fmt::format("exit {}", end.value);
    case End::Kind::kSignalled:
      return signal_name(static_cast<uint64_t>(end.value));
    case End::Kind::kStopped:
      return fmt::format("stopped: {}{}{}", to_string(static_cast<format::StopReason>(end.value)),
                         end.text.empty() ? "" : ", ", printable(end.text));
    case End::Kind::kKilled:
      return "killed";
    case End::Kind::kDamaged:
      return "damaged";
  }
  return "?";
}

ProcessTable ProcessTable::read(const Recording& recording) {
  ProcessTable table;
  std::map<ProcessId, int> weights;
  uint64_t room = kMaxPrograms;
  for (const auto& [id, streams] : recording.threads()) {
    ProcessRecord& process = table.processes_[id.process()];
    process.id = id.process();
    ThreadScan scan(recording, id, process, room);
    int heavy = weight(scan.run());
    process.threads.push_back(std::move(scan.thread()));
    const ThreadRecord& thread = process.threads.back();
    process.events += thread.events;
    auto [known, first] = weights.try_emplace(process.id, heavy);
    if (first || heavy > known->second) {
      known->second = heavy;
      process.end = thread.end;
    }
  }
  return table;
}

const ProcessRecord* ProcessTable::find(ProcessId id) const {
  auto found = processes_.find(id);
  return found == processes_.end() ? nullptr : &found->second;
}

const ProgramRun* ProcessTable::program(ProcessId id) const {
  EventId before;  // none: at the end
  for (const ProcessRecord* process = find(id); process != nullptr; process = find(before.process())) {
    for (auto run = process->programs.rbegin(); run != process->programs.rend(); ++run) {
      bool later = before.valid() && run->event.thread() == before.thread() && run->event > before;
      if (!later) return &*run;
    }
    // A parent was there before its child; a recording that says otherwise could lead round in circles.
    if (process->parent.process() >= process->id) return nullptr;
    before = process->parent;
  }
  return nullptr;
}

uint64_t ProcessTable::events() const {
  uint64_t events = 0;
  for (const auto& [id, process] : processes_) events += process.events;
  return events;
}

}  // namespace pastcone
