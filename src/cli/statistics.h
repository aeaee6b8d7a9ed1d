// What is in a recording, counted: for `info`.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "pastcone/trace/recording.h"

namespace pastcone::cli {

struct KindCount {
  std::string kind;
  uint64_t events = 0;
};

struct Statistics {
  uint64_t processes = 0, threads = 0, events = 0;
  std::vector<KindCount> kinds;  ///< most frequent first
  uint64_t channels = 0;         ///< that were used
  uint64_t sent = 0;             ///< bytes on them: not in the recording
  uint64_t received = 0;
  uint64_t output = 0;              ///< writes to standard output and error
  std::vector<std::string> damage;  ///< where threads could not be read to their end

  static Statistics read(const Recording& recording);
};

}  // namespace pastcone::cli
