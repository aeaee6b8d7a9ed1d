// The tool's side of the stage (src/stage/layout.h): makes the shared memory, waits on its futexes, and
// starts the first process through the runtime. The recorder and the director both begin with this.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <string>
#include <vector>

#include "pastcone/base/files.h"
#include "pastcone/base/result.h"
#include "pastcone/stage/layout.h"

namespace pastcone::record {

/// Owns the memory of a run. Zero at first but for magic, version, mode, flags, tool_pid and patch_directory.
class SharedStage {
 public:
  static Result<SharedStage> create(stage::Mode mode, uint32_t flags, const Path& patch_directory);

  SharedStage(SharedStage&& other) noexcept;
  SharedStage& operator=(SharedStage&&) = delete;
  ~SharedStage();

  stage::View view() const { return view_; }
  stage::Header& header() const { return view_.header(); }
  int fd() const { return fd_.get(); }

  /// The one who changed something the tool should look at: bumps Header::activity and wakes the tool.
  /// Async-signal-safe.
  void notify() const;
  /// Sleeps until Header::activity is no longer `seen`, or the time is over, or a signal came.
  /// `for_anything`: also when it is bumped for something that can wait a little; others then have to make a
  /// call to wake us.
  void wait_activity(uint32_t seen, std::chrono::milliseconds timeout, bool for_anything = true) const;

 private:
  SharedStage(UniqueFd fd, char* base) : fd_(std::move(fd)), view_{base} {}

  UniqueFd fd_;
  stage::View view_;
};

/// Adds one to a futex in shared memory and wakes all who wait on it.
void bump_and_wake(uint32_t& futex);

/// Loads and stores in memory that others write at any time.
template <typename T>
T load(const T& word) {
  return __atomic_load_n(&word, __ATOMIC_ACQUIRE);
}
template <typename T>
void store(T& word, T value) {
  __atomic_store_n(&word, value, __ATOMIC_RELEASE);
}

/// A resource limit that the program shall have.
struct Limit {
  int resource;
  rlimit value;
};

/// Raises our own soft limit as far as it goes; returns what it was.
rlimit lift_limit(int resource);

/// How the first process of a run is started.
struct Launch {
  Path runtime;                        ///< the executable pastcone-runtime
  std::vector<std::string> arguments;  ///< argv
  std::vector<std::string> environment;
  std::vector<Limit> limits;  ///< as far as they are not the tool's own
  rlim_t open_files = 0;      ///< the soft RLIMIT_NOFILE it will have: says where the stage's descriptors go
  int trace_fd = -1;          ///< `live`, or the feed
  int store_fd = -1;          ///< replay only
  int output_fd = -1;         ///< replay only
  bool isolated = false;      ///< replay: own session, no terminal, no files, no cores, cwd /
  int lifeline_fd = -1;       ///< if isolated: a pipe's read end; all die when its write end, the tool's, is closed
  bool keep_stderr = false;   ///< if isolated: what the runtime says for debugging is shown
  sigset_t signal_mask{};     ///< that the program shall see
  bool ignore_child_signal =
      false;  ///< SIGCHLD was ignored when the tool started, and shall be for the program
};

/// The first of the descriptors that stay open in every process of a run.
int first_descriptor(rlim_t open_files);
/// "FFFFF:NNNNNNN" for the variable of the first process.
std::string stage_variable(int first_fd, uint32_t process);

/// Starts p1. An error, in words, if it cannot even execute the runtime.
Result<pid_t> launch(const SharedStage& stage, const Launch& how);

/// Where pastcone-runtime is: $PASTCONE_RUNTIME, beside this executable, or in ../lib/pastcone. It must be of the same build.
Result<Path> find_runtime();

/// Whether this kernel has Syscall User Dispatch.
bool has_dispatch();

/// Switches address space randomisation off for everything this process will execute: a run repeats only if
/// its addresses do.
Status switch_off_randomisation();

}  // namespace pastcone::record
