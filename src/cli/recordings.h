// Which recording is meant: all those in the data directory, and the one that REC names.
#pragma once

#include <string>
#include <vector>

#include "pastcone/base/files.h"
#include "pastcone/base/result.h"
#include "pastcone/trace/manifest.h"
#include "pastcone/trace/recording.h"

namespace pastcone::cli {

struct FoundRecording {
  std::string name;
  Path path;
  Result<Manifest> manifest;  ///< or why it cannot be read
};

/// All in the data directory, newest first; those that cannot be read come last.
Result<std::vector<FoundRecording>> find_recordings();

/// The directory of a recording: a path, or a name in the data directory; empty: the newest one there.
Result<Path> resolve_recording(const std::string& rec);

/// Opens what resolve_recording() finds, and warns on stderr, in one line, if it is damaged.
Result<Recording> open_recording(const std::string& rec, Check check = Check::kAll);

/// "complete", "incomplete", "recording", or "unfinished": its recorder was killed.
std::string state_text(const Manifest& manifest, const Path& directory);

/// How long it took: up to now for one that is being recorded, up to the last change for an unfinished one.
int64_t duration_ns(const Manifest& manifest, const Path& directory);

struct RecordingSizes {
  uint64_t pack = 0, live = 0, files = 0, other = 0;
  uint64_t total() const { return pack + live + files + other; }
};
/// Bytes on disk.
RecordingSizes recording_sizes(const Path& directory);

}  // namespace pastcone::cli
