// Looks at a process that has diverged, while it still stands where it did: what the program was doing, and
// what may be the reason.
#pragma once

#include <string>

#include "pastcone/replay/likely_reason.h"
#include "pastcone/stage/layout.h"
#include "pastcone/trace/recording.h"

namespace pastcone::replay {

struct Examination {
  std::string where;  ///< "at server.c:80 in handle_request"; empty: not known
  Facts facts;        ///< that only the process can tell
};

/// `process` is the slot with its report; it waits in thread `tid`.
Examination examine(const Recording& recording, const stage::View& stage, const stage::ProcessSlot& process,
                    pid_t tid);

}  // namespace pastcone::replay
