#include "pastcone/base/own_directories.h"

namespace pastcone {
namespace {

Status make(const char* variable, const Path& path, mode_t mode) {
  auto made = make_directories(path, mode);
  if (!made) return fail("{}; set {} to a directory that you can write to", made.error().message, variable);
  return {};
}

}  // namespace

Status make_data_directories(const Path& path) { return make("XDG_DATA_HOME", path, 0700); }

Status make_cache_directories(const Path& path) { return make("XDG_CACHE_HOME", path, 0755); }

}  // namespace pastcone
