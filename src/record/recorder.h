// `pastcone record`: runs a command so that everything it does is recorded, and waits until the last of its
// processes has ended. The processes record themselves (src/runtime); the recorder hands out chunks, packs
// the closed ones, keeps files, and writes the end.
//
// One recorder per process, from its main thread: it takes over signals and children.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pastcone/base/files.h"
#include "pastcone/base/result.h"

namespace pastcone::record {

struct RecordOptions {
  std::vector<std::string> command;
  std::optional<Path> output;        ///< the recording's directory
  std::optional<uint64_t> max_size;  ///< bytes; then recording stops, and the program goes on
  bool patch = true;                 ///< jumps instead of traps where possible
  bool parallel = false;             ///< threads run in parallel: --threads=parallel
  bool dispatch = true;              ///< Syscall User Dispatch catches what is not patched
};

/// What there is to say at the end.
struct RecordOutcome {
  Path directory;
  int status = 0;  ///< of the command, as from waitpid
  int interrupted_by =
      0;  ///< a signal: the second Ctrl-C, say. Processes may still run, and be without a status
  uint64_t processes = 0;
  uint64_t events = 0;
  bool events_exact = true;          ///< or there are a few more
  uint64_t bytes = 0;                ///< on disk
  std::string why;                   ///< the recording ends before the program did; empty if it does not
  std::vector<std::string> remarks;  ///< what the user should know besides, one line each
};

/// An error if nothing was run. Refuses commands that cannot be recorded.
Result<RecordOutcome> record(const RecordOptions& options);

}  // namespace pastcone::record
