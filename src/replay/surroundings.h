// Whether this machine can replay a recording: the processor's abilities, and the files it refers to but does
// not keep. A difference is an error that names it.
#pragma once

#include <string>
#include <vector>

#include "pastcone/base/result.h"
#include "pastcone/record/hash_cache.h"
#include "pastcone/record/patch_cache.h"
#include "pastcone/stage/layout.h"
#include "pastcone/trace/recording.h"

namespace pastcone::replay {

/// Abilities that programs use (instructions, not what only kernels care about) and that `now` lacks.
std::vector<std::string> missing_abilities(const std::vector<std::string>& recorded,
                                           const std::vector<std::string>& now);

Status check_processor(const Recording& recording);

/// The file an entry stands for: the kept copy, or the original. An error if it is not what was recorded.
Result<Path> find_file(const Recording& recording, const FileEntry& entry, record::HashCache& hashes);

/// Checks all files and fills the stage's file table; makes patched copies that the cache no longer has.
Status fill_file_table(const Recording& recording, const stage::View& stage,
                       const record::PatchCache& patches);

}  // namespace pastcone::replay
