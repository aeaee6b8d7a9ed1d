#include "pastcone/record/patch_cache.h"

#include <fcntl.h>
#include <unistd.h>

#include "pastcone/record/digest.h"
#include "pastcone/trace/checksum.h"

namespace pastcone::record {

Result<Path> PatchCache::default_directory() { return TRY(cache_directory()) / "patched"; }

Status PatchCache::prepare() const { return make_directories(directory_, 0755); }

Path PatchCache::path_of(uint64_t name) const { return directory_ / to_hex(name); }

Result<uint64_t> PatchCache::get(const Path& file, uint64_t content_hash) const {
  ByteWriter key;
  key.u64(content_hash);
  key.u32(patch::kPatchVersion);
  key.u8(options_.traps ? 1 : 0);
  uint64_t name = xxh64(key.view());
  Path copy = path_of(name), none = copy.native() + ".none";  // `none`: it was looked at, and needs no copy
  if (access(copy.c_str(), R_OK) == 0) return name;
  if (access(none.c_str(), F_OK) == 0) return uint64_t{0};
  patch::PatchReport report = TRY(patch::patch_file(file, copy, options_));
  if (report.needed) return name;
  auto marked = open_file(none, O_WRONLY | O_CREAT, 0644);
  return uint64_t{0};  // should the mark fail, the next one looks again
}

}  // namespace pastcone::record
