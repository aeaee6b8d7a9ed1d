// Files without a name, which are gone with the last process that has them open.
#pragma once

#include <cstdint>

#include "pastcone/base/files.h"
#include "pastcone/base/result.h"

namespace pastcone::replay {

/// In $TMPDIR or /tmp, empty. `what` is for the message.
Result<UniqueFd> temporary_file(const char* what);

}  // namespace pastcone::replay
