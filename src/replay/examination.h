// Looks at a process that has diverged, while it still stands where it did: what the program was doing, and
// what may be the reason.
#pragma once

#include <map>
#include <string>

#include "pastcone/replay/likely_reason.h"
#include "pastcone/stage/layout.h"
#include "pastcone/symbols/mappings.h"
#include "pastcone/trace/recording.h"

namespace pastcone::replay {

struct Examination {
  std::string where;  ///< "at server.c:80 in handle_request"; empty: not known
  Facts facts;        ///< that only the process can tell
};

/// `process` is the slot with its report; it waits in thread `tid`.
Examination examine(const Recording& recording, const stage::View& stage, const stage::ProcessSlot& process,
                    pid_t tid);

/// Not in the runtime's own part of the address space (patch/abi.h), which no program uses.
bool is_program(const symbols::Mapping& mapping);

/// By which name the user knows the files that replay maps: copies in the recording, and patched ones.
std::map<Path, Path> originals(const Recording& recording, const stage::View& stage);

/// The file that thread `tid` has mapped at this address, by the name that the user knows; empty: none.
Path file_at(const Recording& recording, const stage::View& stage, pid_t tid, uint64_t address);

}  // namespace pastcone::replay
