// What a process has mapped, as /proc/PID/maps has it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pastcone/base/files.h"

namespace pastcone::symbols {

struct Mapping {
  uint64_t start = 0, end = 0;
  uint64_t offset = 0;  ///< of `start` in the file
  bool readable = false, writable = false, executable = false, shared = false;
  Path file;               ///< empty: anonymous, or
  bool of_kernel = false;  ///< the vDSO and the like
  /// What is mapped, for all who have it: device and inode. Shared anonymous memory has them, too.
  std::pair<uint64_t, uint64_t> object = {};
};

/// /proc/PID; or, where the first thread has ended (pthread_exit in main) and has neither memory nor program any more, what is
/// below it for another one.
Path proc_of(pid_t process);
Result<std::string> read_maps(pid_t process);

/// Lines that make no sense are left out.
std::vector<Mapping> parse_mappings(std::string_view proc_maps);

}  // namespace pastcone::symbols
