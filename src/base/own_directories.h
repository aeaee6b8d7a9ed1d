// Makes the directories that pastcone keeps things in by itself; files.h says where they are.
#pragma once

#include "pastcone/base/files.h"
#include "pastcone/base/result.h"

namespace pastcone {

/// make_directories for what lies in data_directory() or cache_directory(). Where it cannot be, the message
/// says which variable to set. Anyone may read the cache.
Status make_data_directories(const Path& path);
Status make_cache_directories(const Path& path);

}  // namespace pastcone
