// The process table of a recording: who there was, who made whom, which programs they ran, and how they
// ended. Reads all event streams once.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "pastcone/base/ids.h"
#include "pastcone/base/result.h"
#include "pastcone/trace/recording.h"

namespace pastcone {

/// How a process or thread ended.
struct End {
  enum class Kind {
    kRunning,    ///< the recording is still growing
    kExited,     ///< with `value`
    kSignalled,  ///< by signal `value`
    kStopped,    ///< recording stopped for format::StopReason `value`; `text`
    kKilled,     ///< its stream just ends: killed from outside, or with the recorder
    kDamaged,    ///< what follows cannot be read; `text`
  };
  Kind kind = Kind::kKilled;
  int64_t value = 0;
  std::string text;
};

/// "exit 0", "SIGSEGV", "killed" …
std::string to_string(const End& end);

/// "SIGSEGV", "SIGRTMIN+3", "signal 99".
std::string signal_name(uint64_t signal);

/// "an unsupported call", "the disk is full" …
std::string_view to_string(format::StopReason reason);

struct ThreadRecord {
  ThreadId id;
  uint32_t tid = 0;
  EventId parent;     ///< the event that created it; none for a root
  uint8_t flags = 0;  ///< format::kStart…
  int64_t started_ns = 0;
  uint64_t events = 0;
  End end;
};

struct ProgramRun {
  EventId event;  ///< where it begins
  std::string path, name, cwd;
  std::vector<std::string> arguments;
};

struct ProcessRecord {
  ProcessId id;
  uint32_t pid = 0;
  EventId parent;  ///< the fork; none for a root
  int64_t started_ns = 0;
  std::vector<ProgramRun> programs;  ///< those it executed, in order; a forked process may have none
  std::vector<ThreadRecord> threads;
  uint64_t events = 0;
  End end;
};

class ProcessTable {
 public:
  /// Damage does not stop it: a damaged thread ends there, and says so.
  static ProcessTable read(const Recording& recording);

  const std::map<ProcessId, ProcessRecord>& processes() const { return processes_; }
  const ProcessRecord* find(ProcessId id) const;
  /// The program a process runs at its end: its own last one, or what it had from its parent. Nullptr: not
  /// known.
  const ProgramRun* program(ProcessId id) const;
  uint64_t events() const;

 private:
  std::map<ProcessId, ProcessRecord> processes_;
};

}  // namespace pastcone
