// manifest.json: what was recorded, where and when, and how the recording ended. Written by `record` at the
// start and again, atomically, at the end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pastcone/base/files.h"
#include "pastcone/base/result.h"

namespace pastcone {

struct Manifest {
  enum class State {
    kRecording,   ///< being written, or its recorder was killed
    kComplete,    ///< all processes were recorded to their end
    kIncomplete,  ///< recording ended before the program did; `why`
  };

  std::string id;
  std::string host, kernel, machine;
  std::vector<std::string> cpu;  ///< flags, as in /proc/cpuinfo
  std::vector<std::string> command;
  std::string cwd;
  std::string pastcone;    ///< the version that recorded
  int64_t started_ns = 0;  ///< CLOCK_REALTIME
  int64_t ended_ns = 0;    ///< 0: not yet
  State state = State::kRecording;
  std::string why;
  std::optional<int64_t> exit_status;  ///< of the command, as a shell gives it: 128 + n for signal n
  std::optional<uint64_t> pack_bytes;  ///< the size of trace.pack at the end
  std::optional<uint64_t> processes;   ///< how many, at the end
  bool parallel = false;               ///< threads were recorded in parallel, by the order of their locks
  std::optional<uint64_t> stack_limit, open_files_limit;  ///< soft resource limits; replay needs the same

  /// The text of manifest.json. An error says why it is not ours: foreign, newer, damaged.
  static Result<Manifest> parse(std::string_view json);
  static Result<Manifest> read(const Path& directory);

  std::string to_json() const;
  Status write(const Path& directory) const;
};

/// "recording", "complete", "incomplete".
std::string_view to_string(Manifest::State state);

/// "2024-11-15T10:55:02.123456789Z".
std::string format_time(int64_t unix_ns);

/// A file of at most `limit` bytes; anything but a regular file is refused.
Result<std::string> read_bounded_file(const Path& path, uint64_t limit);

}  // namespace pastcone
