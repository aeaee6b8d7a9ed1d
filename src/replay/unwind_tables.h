// What the runtime needs to walk stacks (stage/where.h), for all files of a recording.
#pragma once

#include "pastcone/base/files.h"
#include "pastcone/base/result.h"
#include "pastcone/stage/layout.h"
#include "pastcone/trace/recording.h"

namespace pastcone::replay {

/// The stage's file table must be filled. `runtime` is its executable.
Status write_unwind_tables(const Recording& recording, const stage::View& stage, const Path& runtime,
                           const Path& directory);

/// By this name its patched copy is found there too, if it has one.
Path patched_name(const Path& directory, uint32_t file);

}  // namespace pastcone::replay
