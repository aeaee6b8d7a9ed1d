// The beginning of a recording on disk: its directory, and a manifest that says what is being recorded, and
// where.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pastcone/base/files.h"
#include "pastcone/base/result.h"
#include "pastcone/trace/manifest.h"

namespace pastcone::record {

/// Makes the directory, for its owner only. `wanted` must not exist, or be empty; without it, the next free
/// number after the command's name in the data directory. Absolute.
Result<Path> make_recording_directory(const std::optional<Path>& wanted, std::string_view command);

/// All a manifest can say before the command starts.
Manifest describe_run(const std::vector<std::string>& command);

/// The processor's abilities, as in /proc/cpuinfo.
std::vector<std::string> cpu_flags();

/// CLOCK_REALTIME in ns.
int64_t now_ns();

}  // namespace pastcone::record
