// races --locks: uses of locks and other objects that were ordered by nothing but luck.
#pragma once

#include "pastcone/base/result.h"
#include "pastcone/cli/graph_question.h"

namespace pastcone::cli {

/// `all`: every one of them, not the first few of each object.
Status show_luck(const Asked& asked, bool all, bool json);

}  // namespace pastcone::cli
