// replay --to: up to the least state that contains the events given.
#pragma once

#include <string>
#include <vector>

#include "pastcone/base/result.h"
#include "pastcone/trace/recording.h"

namespace pastcone::cli {

struct ReplayTo {
  std::vector<std::string> events;
  bool demand = false;  ///< find the way as it goes, instead of before
  bool hold = false;
  bool show_output = true;
};

Result<int> replay_to(const Recording& recording, const ReplayTo& options);

}  // namespace pastcone::cli
