// Files without a name, which are gone with the last process that has them open.
#pragma once

#include <cstdint>

#include "pastcone/base/files.h"
#include "pastcone/base/result.h"

namespace pastcone::replay {

/// An empty file that `size` bytes will be written to. In memory if that is a small part of it, else in
/// $TMPDIR or /tmp. `what` is for the message.
Result<UniqueFd> temporary_file(const char* what, uint64_t size);

}  // namespace pastcone::replay
