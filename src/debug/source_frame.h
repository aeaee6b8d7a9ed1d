// Which frame of a stack is shown first.
#pragma once

#include <optional>
#include <string>

#include "pastcone/gdb/gdb.h"

namespace pastcone::debug {

/// Selects the innermost frame whose source can be read. A process that stands at an event is in a function
/// of libc, whose source hardly anybody has; what made the call is what one wants to see. If there is no such
/// frame, or an outer one was selected before, nothing changes.
Status select_source_frame(gdb::Gdb& gdb);

/// The innermost frame whose source can be read.
struct SourceFrame {
  int level = 0;
  std::string line, address;
};
Result<std::optional<SourceFrame>> find_source_frame(gdb::Gdb& gdb);

}  // namespace pastcone::debug
